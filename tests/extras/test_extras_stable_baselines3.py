"""Stable-Baselines3, where it is installed, takes our environments as they are."""

import importlib
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest

from fwrl.envs import register
from fwrl.envs.registration import IDS

pytestmark = pytest.mark.usefixtures("stable_baselines3")

register()


@pytest.fixture(scope="module")
def stable_baselines3() -> Any:
    """Imported in the one process that runs these tests: torch takes seconds."""
    return pytest.importorskip("stable_baselines3")


def make(name):
    with_map: dict[str, Any] = {"map": "h-maze"} if name == "fwrl/Grid-v0" else {}
    return gymnasium.make(name, **with_map)


@pytest.mark.parametrize("name", IDS)
def test_its_checker_has_nothing_to_say(name):
    check_env = importlib.import_module("stable_baselines3.common.env_checker").check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(name))


@pytest.mark.parametrize(("name", "copy_info"), [("fwrl/FourRooms-v0", False), ("fwrl/MuddyRooms-v0", True)])
def test_dqn_with_hindsight_replay_trains(stable_baselines3, name, copy_info):
    model = stable_baselines3.DQN(
        "MultiInputPolicy",
        make(name),
        replay_buffer_class=stable_baselines3.HerReplayBuffer,
        replay_buffer_kwargs={"n_sampled_goal": 4, "copy_info_dict": copy_info},
        learning_starts=450,
        batch_size=32,
        policy_kwargs={"net_arch": [16]},
        seed=0,
    )
    before = [p.detach().clone() for p in model.policy.parameters()]
    model.learn(900)
    assert any(not a.equal(b) for a, b in zip(before, model.policy.parameters(), strict=True))

    rewards = model.replay_buffer.sample(256).rewards.numpy()
    world = model.get_env().envs[0].unwrapped.world
    paid = np.unique(world.tables.reward)
    possible = np.concatenate([paid, paid + 10.0]).astype(np.float32)
    assert np.isin(rewards, possible).all()
    assert (rewards > 1).any(), "relabelled goals are reached"
    assert (rewards < 1).any()
