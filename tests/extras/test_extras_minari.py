"""Minari, the real package: discrete datasets are fitted, and walks become datasets with their exact optimum."""

from __future__ import annotations

import importlib

import gymnasium
import numpy as np
import pytest

import fwrl
from fwrl.errors import FwrlError
from fwrl.planner.ingest.rows import collected

minari = pytest.importorskip("minari")

STEP_REWARD = -2.5e-4


@pytest.fixture(autouse=True)
def datasets(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


def exported(episodes=30, **options):
    env = gymnasium.make("fwrl/HMaze-v0", max_episode_steps=60)
    agent = fwrl.make_agent("random", 7, 4, seed=0)
    fwrl.export_minari(agent, env, "fwrl/h-maze/random-v0", episodes, seed=3, **options)
    return minari.load_dataset("fwrl/h-maze/random-v0")


def test_the_metadata_has_the_exact_optimum():
    dataset = exported()
    world = fwrl.load_world("h-maze")
    pairs = [(s, g) for g in range(7) for s in range(7) if s != g]
    returns = {(s, g): 10 + STEP_REWARD * world.distance(s, g) for s, g in pairs}
    # All start and goal pairs are equally likely, and 60 steps are enough for the longest way, of 4.
    assert dataset.storage.metadata["ref_max_score"] == pytest.approx(np.mean(list(returns.values())))
    assert 0 < dataset.storage.metadata["ref_min_score"] < 10
    optima = [part["optimal_return"] for part in dataset.storage.get_episode_metadata(range(30))]
    for episode, optimum in zip(dataset.iterate_episodes(), optima, strict=True):
        start, goal = (int(episode.observations[key][0]) for key in ("observation", "desired_goal"))
        assert optimum == pytest.approx(returns[start, goal])
        assert episode.rewards.sum() <= optimum + 1e-9
    assert minari.get_normalized_score(dataset, np.array([dataset.storage.metadata["ref_max_score"]]))[0] == 1


def test_the_environment_can_be_recovered_and_the_same_seed_gives_the_same_walks():
    dataset = exported(5)
    assert dataset.recover_environment().unwrapped.world.name == "h-maze"
    columns = collected(dataset)
    minari.delete_dataset("fwrl/h-maze/random-v0")
    again = collected(exported(5))
    for name, column in columns.items():
        np.testing.assert_array_equal(column, again[name])


def test_a_planner_fitted_on_walks_finds_the_shortest_ways():
    planner = fwrl.fit(exported(60))
    world = fwrl.load_world("h-maze")
    for start in range(7):
        for goal in range(7):
            route = planner.plan(start, goal)
            assert len(route.steps) == world.distance(start, goal)
            assert route.value == pytest.approx(STEP_REWARD * world.distance(start, goal))
    assert planner.summary.trips == 60
    assert planner.summary.terminated == 0, "a goal that was reached is no trap for other goals"


def recorded(name, episodes, **options):
    """Random walks in an environment of Gymnasium, as Minari stores them."""
    collector = importlib.import_module("minari.data_collector")
    env = gymnasium.make(name, **options)
    env.action_space.seed(0)
    buffers = []
    for episode in range(episodes):
        observations, actions, rewards = [env.reset(seed=episode)[0]], [], []
        ends, cuts = [False], [False]
        while not (ends[-1] or cuts[-1]):
            actions.append(env.action_space.sample())
            observation, reward, terminated, truncated, _ = env.step(actions[-1])
            observations.append(observation)
            rewards.append(float(reward))
            ends.append(terminated)
            cuts.append(truncated)
        walk = {"observations": np.array(observations), "actions": np.array(actions), "rewards": rewards}
        buffers.append(collector.EpisodeBuffer(id=episode, terminations=ends[1:], truncations=cuts[1:], **walk))
    return minari.create_dataset_from_buffers("walks/random-v0", buffers, env=env, algorithm_name="random")


def test_a_dataset_of_a_plain_environment_is_fitted_and_its_holes_are_traps():
    planner = fwrl.fit(recorded("FrozenLake-v1", 300, is_slippery=False), columns={"reward": ""})
    assert planner.summary.terminated >= 4
    assert len(planner.plan(0, 14).steps) == 5


def test_continuous_datasets_point_to_navigators():
    with pytest.raises(FwrlError, match="fit_navigator"):
        fwrl.fit(recorded("CartPole-v1", 2))


def test_what_is_not_fwrl_s_environment_is_refused():
    agent = fwrl.make_agent("random", 16, 4)
    with pytest.raises(FwrlError, match="one of fwrl's environments, whose optimum is known, got FrozenLakeEnv"):
        fwrl.export_minari(agent, gymnasium.make("FrozenLake-v1"), "x/y-v0", 1)
