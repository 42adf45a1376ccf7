"""R-max and posterior sampling: what is known, what is drawn, and when plans are made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwrl
from fwrl.agents import load
from fwrl.errors import FileError, OptionError
from fwrl.files import open_archive, write_archive
from fwrl.oracle import optimum

both = pytest.mark.parametrize("name", ["rmax", "psrl"])


def counts(agent: Any) -> np.ndarray:
    """(S * A,) tries of every pair."""
    edges = agent.tables.edges
    used = int(edges.used[0])
    return np.bincount(edges.pair[:used], edges.times[:used], agent.n_states * agent.n_actions)


@pytest.mark.parametrize("m", [1, 3])
def test_r_max_tries_every_action_of_a_certain_world_m_times(m: int) -> None:
    world = fwrl.load_world("h-maze")
    agent = fwrl.make_agent("rmax", world.n_states, world.n_actions, seed=1, known_after=m)
    agent.begin_episode(goal=6)
    s, tried = 0, np.zeros((7, 4), int)
    for _ in range(400):
        a = agent.act(s)
        before = tried.copy()
        tried[s, a] += 1
        if before[s].min() < m and s != 6:
            # An unknown action promises the goal at once, so a known one is only taken if it arrives as soon.
            assert before[s, a] < m or world.outcomes(s, a)[0].next_state == 6
        (_, y, r), *_ = world.outcomes(s, a)
        agent.observe(s, a, r, y)
        s = y if y != 6 else 0
    assert tried[tried > 0].min() >= m or (tried[6] == 0).all()


def test_r_max_with_one_try_walks_for_good_behind_a_closed_door() -> None:
    world = fwrl.load_world("door-corridor-0.1", length=10)
    shares = {}
    for m in (1, 40):
        agent = fwrl.make_agent("rmax", 11, 3, seed=0, known_after=m)
        agent.observe(0, 2, -0.01, 0)  # the door stays closed once
        fwrl.run(world, agent, episodes=20, steps=400, seed=0, goal=10, start=0)
        shares[m] = counts(agent)[2]
    assert shares[1] == 1
    assert shares[40] >= 40


@both
def test_rewards_of_unseen_steps_are_not_taken_from_those_seen(name: str) -> None:
    world = fwrl.load_world("cheap-last")
    for seed in range(20):
        agent = fwrl.make_agent(name, 3, 2, seed=seed)
        fwrl.run(world, agent, episodes=5, steps=200, seed=seed, goal=2, start=0)
        assert agent.greedy(0, 2) == 1
        assert agent.value(0, 2) == pytest.approx(-3.5)


@both
def test_values_are_those_of_the_world_once_it_is_known(name: str) -> None:
    world = fwrl.load_world("muddy-rooms")
    agent = fwrl.make_agent(name, world.n_states, world.n_actions)
    fwrl.run("muddy-rooms", agent, episodes=150, steps=400)
    assert counts(agent).min() > 0
    for goal in (0, world.n_states - 1):
        np.testing.assert_allclose(agent.values(goal), optimum(world, goal).value, rtol=1e-6, atol=1e-9)


def test_drawn_models_have_the_means_of_the_posterior() -> None:
    agent = fwrl.make_agent("psrl", 3, 1, seed=0)
    agent.observe_many([0, 0, 0, 0], [0, 0, 0, 0], [-1.0] * 4, [1, 1, 1, 2])
    unseen, first = [], []
    for _ in range(2000):
        agent.begin_episode(2)
        agent.act(0)
        plan: Any = agent.tables.plan
        unseen.append(plan.unseen[0])
        known = plan.weight[:2] / plan.weight[:2].sum()
        first.append((1 - unseen[-1]) * known[0])
    # Dirichlet(1, 3, 1) has the means 1/5 and 3/5, and standard deviations 0.16 and 0.2.
    assert np.mean(unseen) == pytest.approx(1 / 5, abs=0.015)
    assert np.mean(first) == pytest.approx(3 / 5, abs=0.015)
    assert np.std(first) == pytest.approx(0.2, abs=0.02)


def test_a_model_is_drawn_after_arriving_and_when_tries_have_doubled() -> None:
    agent = fwrl.make_agent("psrl", 3, 1, seed=0)
    agent.begin_episode(2)
    tables: Any = agent.tables
    drawn = []
    for n in range(1, 17):
        agent.act(0)
        agent.observe(0, 0, -1.0, 1)
        if agent.tables.due[0]:
            drawn.append(n)
    assert drawn == [1, 2, 4, 8, 16]
    agent.act(0)
    assert tables.due[0] == 0
    agent.observe(2, 0, 10.0, 0, arrived=True)
    assert tables.due[0] == 1


@both
def test_greedy_episodes_follow_the_counts(name: str) -> None:
    world = fwrl.load_world("h-maze")
    agent = fwrl.make_agent(name, world.n_states, world.n_actions)
    fwrl.run(world, agent, episodes=10, steps=200)
    before = counts(agent)
    result = fwrl.run(world, agent, episodes=1, steps=200, goal=0, start=6, learn=False, explore=False)
    assert result.distance.sum() == result.shortest.sum()
    np.testing.assert_array_equal(counts(agent), before)


@both
@pytest.mark.parametrize(
    ("section", "at", "content"),
    [
        ("plan/weight", 0, -1.0),
        ("plan/weight", 0, np.nan),
        ("plan/unseen", 0, 1.5),
        ("plan/V", 0, -np.inf),
        ("due", 0, 2),
    ],
)
def test_damaged_plans_are_refused(name: str, section: str, at: int, content: float, tmp_path: Any) -> None:
    agent = fwrl.make_agent(name, 7, 4)
    fwrl.run("h-maze", agent, episodes=2, steps=40)
    path = tmp_path / "a.fwrl"
    agent.save(path)
    archive = open_archive(path)
    arrays = {key: archive[key].copy() for key in archive.names}
    arrays[section][at] = content
    write_archive(path, "agent", archive.details, arrays)
    with pytest.raises(FileError, match="damaged"):
        load(path)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("rmax", {"known_after": 0}, "from 1 to 1,000,000, got 0"),
        ("rmax", {"max_reward": float("inf")}, "finite number, got inf"),
        ("psrl", {"dead_end": float("nan")}, "finite number, got nan"),
        ("psrl", {"threshold": -1.0}, "at least 0, got -1.0"),
        ("psrl", {"backups": 0}, "from 1 to 100,000,000, got 0"),
    ],
)
def test_options_are_checked(name: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        fwrl.make_agent(name, 3, 2, **options)
