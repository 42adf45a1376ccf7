"""Walks for Minari: an agent that learns meanwhile learns as in fwrl.learn, and every walk ends.

Minari itself is replaced here by what takes the episodes; `extras` has the tests with the package.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import gymnasium
import pytest

import fwrl
from fwrl.envs import WorldEnv
from fwrl.envs.registration import MAX_EPISODE_STEPS


@pytest.fixture(autouse=True)
def minari(monkeypatch):
    package: Any = ModuleType("minari")
    collector: Any = ModuleType("minari.data_collector")
    collector.EpisodeBuffer = SimpleNamespace
    storage = SimpleNamespace(update_episode_metadata=lambda parts: None)
    package.create_dataset_from_buffers = lambda name, buffers, **_: SimpleNamespace(storage=storage, episodes=buffers)
    monkeypatch.setitem(sys.modules, "minari", package)
    monkeypatch.setitem(sys.modules, "minari.data_collector", collector)


@pytest.mark.parametrize("name", ["qlcat", "fwrl"])
def test_an_agent_learns_from_walks_what_it_learns_from_learning(name):
    walker, learner = (fwrl.make_agent(name, 7, 4, seed=0) for _ in range(2))
    dataset = fwrl.export_minari(walker, gymnasium.make("fwrl/HMaze-v0"), "walks", 200, seed=3, learn=True)
    steps = sum(len(walk.actions) for walk in dataset.episodes)
    fwrl.learn(learner, gymnasium.make("fwrl/HMaze-v0"), steps, seed=3)
    for goal in range(7):
        assert walker.values(goal).tolist() == learner.values(goal).tolist()


def test_a_walk_without_a_time_limit_ends_after_that_of_registered_environments(monkeypatch):
    agent = fwrl.make_agent("random", 7, 4, seed=0)
    monkeypatch.setattr(agent, "act", lambda state: 0)  # into the wall for ever
    dataset = fwrl.export_minari(agent, WorldEnv("h-maze"), "walks", 5)
    longest = max(dataset.episodes, key=lambda walk: len(walk.actions))
    assert len(longest.actions) == MAX_EPISODE_STEPS
    assert longest.truncations == [False] * (MAX_EPISODE_STEPS - 1) + [True]
