"""Agents that grow: they answer and continue like agents made large from the start."""

from __future__ import annotations

import numpy as np
import pytest

import fwrl
from fwrl.agents import agent_names
from fwrl.agents.fwrl.dense import DenseFwrl
from fwrl.agents.fwrl.options import LARGEST_DENSE
from fwrl.agents.fwrl.per_goal import PerGoalFwrl
from fwrl.agents.tables import saved_arrays
from fwrl.errors import OptionError

VARIANTS = [
    *((name, {}) for name in agent_names() if name != "uvfa"),
    ("fwrl", {"relaxation": "paper"}),
    ("fwrl", {"storage": "columns"}),
    ("fwrl", {"explorer": "optimistic"}),
    ("fwrl", {"backup": "expected"}),
    ("fwrl", {"backup": "expected", "explorer": "optimistic"}),
    ("fwrl", {"objective": "steps"}),
    ("fwrl", {"objective": "rate"}),
    ("sweeping", {"explorer": "optimistic"}),
]
EVERY_GOAL = {"dg", "agql", "tdm"}  # these learn from every step about every goal, also about those never seen
S, A = 9, 2


def walk(agent, rng, steps):
    """Let an agent walk to and fro on a ring of which it knows the first half at first; the actions it took."""
    taken = []
    for episode in range(4):
        agent.begin_episode(int(rng.integers(0, 5)), steps)
        s = int(rng.integers(0, 5))
        for _ in range(steps):
            a = agent.act(s)
            next_s = (s + (1 if a else -1)) % 5 if rng.random() < 0.8 else s
            agent.observe(s, a, -1.0, next_s, terminated=False)
            taken.append(a)
            s = next_s
        if episode == 2:
            agent.observe(s, 0, -1.0, (s + 2) % 5, terminated=True)
    return taken


@pytest.mark.parametrize(
    ("name", "options"), VARIANTS, ids=[f"{n}-{'-'.join(map(str, o.values()))}" for n, o in VARIANTS]
)
def test_an_agent_that_grew_continues_like_one_that_was_large(name, options):
    small, large = (fwrl.make_agent(name, n, A, seed=7, **options) for n in (5, S))
    assert walk(small, np.random.default_rng(1), 30) == walk(large, np.random.default_rng(1), 30)
    small.grow(S)
    assert small.n_states == S
    goal = small.goal
    assert goal is not None
    np.testing.assert_array_equal(small.values(goal), large.values(goal))
    # With both options a dead end is worth less in a larger world, and the plan in use is from before.
    same_plan = options != {"backup": "expected", "explorer": "optimistic"}
    assert (walk(small, np.random.default_rng(2), 30) == walk(large, np.random.default_rng(2), 30)) or not same_plan
    if not same_plan:
        return
    known = 5 if name in EVERY_GOAL else S
    for goal in range(known):
        np.testing.assert_array_equal(small.action_table(goal), large.action_table(goal))
        np.testing.assert_array_equal(small.values(goal), large.values(goal))
    # The edges into and out of the new states are learned as by any other.
    for agent in (small, large):
        agent.begin_episode(8)
        for s in range(4, 8):
            agent.observe(s, 1, -1.0, s + 1)
    goal = 3 if name in EVERY_GOAL else 8
    np.testing.assert_array_equal(small.action_table(goal), large.action_table(goal))
    ours, theirs = (saved_arrays(agent.saved_tables(), agent.saved_sections()) for agent in (small, large))
    assert ours.keys() == theirs.keys()


def test_growing_one_by_one_is_the_same_as_at_once():
    one, two = (fwrl.make_agent("fwrl", 2, 2, backup="expected") for _ in range(2))
    for n in range(3, 30):
        one.grow(n)
        one.observe(n - 2, 0, -1.0, n - 1)
    two.grow(29)
    two.observe_many(range(1, 28), [0] * 27, [-1.0] * 27, range(2, 29))
    np.testing.assert_array_equal(one.values(28), two.values(28))
    assert one.value(1, 28) == -27


def test_dense_storage_chosen_automatically_becomes_columns(tmp_path):
    rng = np.random.default_rng(0)
    s, a, n = rng.integers(0, 50, (3, 400))
    r = -rng.integers(1, 9, 400) / 8
    agent, large = fwrl.make_agent("fwrl", 50, 50), fwrl.make_agent("fwrl", LARGEST_DENSE + 1, 50)
    assert isinstance(agent, DenseFwrl)
    for each in (agent, large):
        each.begin_episode(3)
        each.observe_many(s, a, r, n)
    agent.grow(LARGEST_DENSE + 1)
    assert isinstance(agent, PerGoalFwrl)
    assert agent.goal == 3
    for goal in (3, 17, LARGEST_DENSE):
        np.testing.assert_array_equal(agent.values(goal), large.values(goal))
    agent.save(tmp_path / "grown.fwrl")
    loaded = fwrl.load(tmp_path / "grown.fwrl")
    assert isinstance(loaded, PerGoalFwrl)
    np.testing.assert_array_equal(loaded.values(17), large.values(17))


def test_dense_storage_that_was_asked_for_stays_dense():
    agent = fwrl.make_agent("fwrl", 5, 2, storage="dense")
    agent.grow(LARGEST_DENSE + 1)
    assert isinstance(agent, DenseFwrl)


@pytest.mark.parametrize("name", ["fwrl", "agql"])
def test_an_agent_that_cannot_grow_stays_as_it_was(name):
    options = {"storage": "dense"} if name == "fwrl" else {}
    agent = fwrl.make_agent(name, 5, 2, seed=1, **options)
    agent.observe(0, 0, -1.0, 1)
    before = agent.rng.bit_generator.state
    with pytest.raises(OptionError, match="GiB"):
        agent.grow(10**6)
    with pytest.raises(OptionError, match="an agent with 5 states can't shrink"):
        agent.grow(4)
    agent.grow(5)
    assert agent.n_states == 5
    assert agent.values(1).shape == (5,)
    assert agent.rng.bit_generator.state == before


def test_features_of_a_fixed_number_of_states_do_not_grow():
    agent = fwrl.agent_for(fwrl.load_world("h-maze"), "uvfa")
    with pytest.raises(OptionError, match="features of 9 states, got 7"):
        agent.grow(9)
    assert agent.n_states == 7


def test_embeddings_of_known_states_stay_when_uvfa_grows():
    agent = fwrl.make_agent("uvfa", 5, 2, seed=0)
    walk(agent, np.random.default_rng(0), 50)
    before = agent.action_table(3)
    agent.grow(9)
    np.testing.assert_array_equal(agent.action_table(3)[:5], before)
