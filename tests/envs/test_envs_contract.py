"""Gymnasium's contract of environments, for every registered id."""

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from fwrl.envs import register
from fwrl.envs.picture import MODES
from fwrl.envs.registration import IDS

register()

WITH_MAP: dict[str, dict[str, Any]] = {name: {"map": "h-maze"} if name == "fwrl/Grid-v0" else {} for name in IDS}


def make(name, **kwargs):
    return gymnasium.make(name, **WITH_MAP[name], **kwargs)


@pytest.mark.parametrize("mode", [None, *MODES])
@pytest.mark.parametrize("name", IDS)
def test_gymnasiums_checker_has_nothing_to_say_render_check_included(name, mode):
    env = make(name, render_mode=mode)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=False)


@pytest.mark.parametrize("name", IDS)
def test_spaces_are_the_goal_environments_ones(name):
    env = make(name)
    world = env.unwrapped.world
    discrete = gymnasium.spaces.Discrete(world.n_states)
    assert dict(env.observation_space.spaces) == dict.fromkeys(
        ("observation", "achieved_goal", "desired_goal"), discrete
    )
    assert env.action_space == gymnasium.spaces.Discrete(world.n_actions)


@pytest.mark.parametrize("name", IDS)
def test_same_seed_same_trajectory(name):
    def trajectory(seed):
        env = make(name)
        env.action_space.seed(1)
        trace = [env.reset(seed=seed)]
        for _ in range(300):
            trace.append(env.step(env.action_space.sample()))
            if trace[-1][2]:
                trace.append(env.reset())
        return trace

    assert trajectory(3) == trajectory(3)
    assert trajectory(3) != trajectory(4)


@pytest.mark.parametrize("name", IDS)
def test_an_episode_without_arrival_is_truncated_after_400_steps(name):
    env = make(name)
    world = env.unwrapped.world
    env.reset(seed=0)
    for t in range(1, 401):
        away = int(env.unwrapped._goal)
        state = env.unwrapped._state
        safe = [a for a in range(world.n_actions) if _avoids(world, state, a, away)]
        _, _, terminated, truncated, info = env.step(safe[t % len(safe)])
        assert not terminated
        assert not info["is_success"]
        assert truncated is (t == 400)


def _avoids(world, state, action, goal):
    return all(outcome.next_state != goal for outcome in world.outcomes(state, action))


def test_a_vector_of_environments_pays_path_and_goal_rewards():
    envs = gymnasium.make_vec("fwrl/FourRooms-v0", num_envs=3, vectorization_mode="sync")
    observations, _ = envs.reset(seed=0)
    assert observations["desired_goal"].shape == (3,)
    _, rewards, _, _, infos = envs.step(np.zeros(3, dtype=np.int64))
    arrived = np.where(infos["success"], 10.0, 0.0)
    np.testing.assert_array_equal(rewards, infos["path_reward"] + arrived)


def test_ansi_shows_text_pixels_show_pixels_and_human_draws_on_every_step(capsys):
    assert isinstance(_rendered("ansi"), str)
    picture = _rendered("rgb_array")
    assert picture.dtype == np.uint8
    assert picture.shape[2] == 3
    capsys.readouterr()
    env = make("fwrl/HMaze-v0", render_mode="human")
    env.reset(seed=0, options={"start": 0, "goal": 6})
    after_reset = capsys.readouterr().out
    env.step(0)
    after_step = capsys.readouterr().out
    text = _rendered("ansi")
    assert after_reset == text + "\n"
    assert after_step == text + "\n"


def _rendered(mode):
    env = make("fwrl/HMaze-v0", render_mode=mode)
    env.reset(seed=0, options={"start": 0, "goal": 6})
    env.step(0)
    return env.render()


def test_in_a_terminal_human_pictures_overwrite_each_other(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    env = make("fwrl/HMaze-v0", render_mode="human")
    env.reset(seed=0)
    first = capsys.readouterr().out
    env.step(0)
    second = capsys.readouterr().out
    assert "\x1b[J" not in first
    assert second.startswith(f"\x1b[{first.count(chr(10))}F\x1b[J")


def test_rendering_without_a_mode_warns_and_gives_nothing():
    env = make("fwrl/HMaze-v0").unwrapped
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode"):
        assert env.render() is None
