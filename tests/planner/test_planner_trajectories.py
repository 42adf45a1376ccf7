"""Lists of states are trajectories; where they could be transitions, `shape` has to say which."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import FwrlError


def moves(planner):
    return Counter({(e["state"], e["next_state"]): e["count"] for e in planner.edges().to_pylist()})


def test_integers_in_lists_of_four_are_ambiguous():
    lists = [[1, 2, 3, 4], [4, 5, 6, 7]]
    with pytest.raises(
        FwrlError, match=r"lists of 4 may be trajectories, or transitions .*; set shape='trajectories' or"
    ):
        fwrl.fit(lists)
    planner = fwrl.fit(lists, shape="trajectories")
    assert planner.plan(1, 7).states == (1, 2, 3, 4, 5, 6, 7)
    assert (planner.summary.trips, planner.summary.transitions) == (2, 6)
    with pytest.warns(UserWarning, match="positive"):
        assert fwrl.fit(lists, shape="transitions").plan(1, 4).reward == 3.0


@given(st.lists(st.lists(st.integers(0, 5), max_size=7), min_size=1, max_size=6))
@settings(max_examples=12)
def test_trajectories_are_their_successive_states(trajectories):
    wanted = Counter(pair for states in trajectories for pair in itertools.pairwise(states))
    if not wanted:
        with pytest.raises(FwrlError, match="at least one transition"):
            fwrl.fit(trajectories, shape="trajectories")
        return
    for given_ in (
        trajectories,
        [np.array(states, np.int64) for states in trajectories],
        dict(enumerate(trajectories)),
    ):
        planner = fwrl.fit(given_, shape="trajectories")
        assert moves(planner) == wanted
        assert planner.summary.trips == sum(len(states) > 1 for states in trajectories)


TOLD = [
    [["a", "b", "c"], ["b", "d"]],
    [["a", "b", "c", "d"]],  # a reward would be a number
    [[1, 2, 3], [2, 4, 5]],
    [np.array([1, 2, 3, 4, 5, 6, 7]), np.array([3, 9])],
]


@pytest.mark.parametrize("lists", TOLD, ids=str)
def test_lists_that_can_only_be_trajectories_need_no_word(lists):
    assert moves(fwrl.fit(lists)) == Counter(pair for states in lists for pair in itertools.pairwise(states))


def test_lists_and_tuples_of_transitions_are_still_read():
    rows = [("a", "l", -1.0, "b", "t1", 5), ("b", "r", -2.0, "c", "t1", 6)]
    for given_ in (rows, [list(row) for row in rows], [list(row[:4]) for row in rows]):
        assert fwrl.fit(given_).plan("a", "c").reward == -3.0
    assert fwrl.fit([[1, 2], [2, 3]]).summary.trips is None


def test_trajectories_of_other_things_are_refused():
    with pytest.raises(FwrlError, match="expected trajectories as lists of states, item 1 is 'abc'"):
        fwrl.fit([["a", "b"], "abc"], shape="trajectories")
    with pytest.raises(FwrlError, match="expected strings or integers as state"):
        fwrl.fit([[0.5, 0.7, 0.1]], shape="trajectories")
    with pytest.raises(FwrlError, match="not rows of a table"):
        fwrl.fit(np.array([(1, 2)], [("state", int), ("next_state", int)]), shape="trajectories")


def test_an_episode_of_arrays_or_lists_is_read_as_the_same_rows_are():
    rng, n = np.random.default_rng(0), 3000
    states, actions, rewards = rng.integers(0, 40, n + 1), rng.integers(0, 4, n), -rng.random(n)
    columns = {"state": states[:-1], "action": actions, "reward": rewards, "next_state": states[1:]}
    rows = fwrl.fit({**columns, "trip": np.zeros(n, int), "time": np.arange(n)}).edges()
    arrays = {"observations": states, "actions": actions, "rewards": rewards}
    lists = {name: values.tolist() for name, values in arrays.items()}
    goals = {**lists, "observations": [{"observation": int(s), "desired_goal": 0} for s in states]}
    for episode in (arrays, lists, goals):
        assert fwrl.fit([episode]).edges().equals(rows)
