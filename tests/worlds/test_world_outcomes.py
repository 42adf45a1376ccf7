"""Worlds from lists of outcomes: merging, distances, and refusals."""

from __future__ import annotations

import math
import pickle
import re
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwrl.errors import FwrlError
from fwrl.worlds import World, from_outcomes

Rows = list[list[list[tuple[float, int, float]]]]

SWAP: Rows = [[[(1.0, 1, -1.0)]], [[(1.0, 0, -1.0)]]]


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    S, A = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    ends = st.tuples(st.integers(1, 4), st.integers(0, S - 1), st.sampled_from([-1.0, 0.0, 0.5]))

    def outcomes() -> list[tuple[float, int, float]]:
        drawn = draw(st.lists(ends, min_size=1, max_size=4))
        total = sum(weight for weight, _, _ in drawn)
        return [(weight / total, t, r) for weight, t, r in drawn]

    return [[outcomes() for _ in range(A)] for _ in range(S)]


@given(tables())
def test_outcomes_carry_the_listed_mass_per_next_state_and_reward(rows: Rows) -> None:
    world = from_outcomes("any", rows)
    for s, row in enumerate(rows):
        for a, listed in enumerate(row):
            mass: dict[tuple[int, float], float] = {}
            for p, t, r in listed:
                mass[t, r] = mass.get((t, r), 0.0) + p
            got = {(o.next_state, o.reward): o.probability for o in world.outcomes(s, a)}
            assert len(got) == len(world.outcomes(s, a))
            assert got == pytest.approx(mass)


@given(tables())
def test_cumulative_ascends_to_exactly_one_within_every_action(rows: Rows) -> None:
    T = from_outcomes("any", rows).tables
    for begin, end in zip(T.first[:-1], T.first[1:], strict=True):
        assert T.cumulative[end - 1] == 1.0
        np.testing.assert_allclose(T.cumulative[begin:end], np.cumsum(T.probability[begin:end]))


@given(tables())
def test_table_distances_are_hops(rows: Rows) -> None:
    world = from_outcomes("any", rows)
    graph = nx.DiGraph((s, t) for s, row in enumerate(rows) for ends in row for _, t, _ in ends)
    for g in range(len(rows)):
        hops = dict(nx.single_target_shortest_path_length(graph, g))  # networkx 3.3 gives an iterator
        expected = [hops.get(s, math.inf) for s in range(len(rows))]
        assert world.distances_to(g).tolist() == expected


def test_the_order_of_a_list_does_not_change_the_world() -> None:
    listed = [(0.25, 1, 0.0), (0.5, 0, -1.0), (0.25, 0, 0.0)]
    one = from_outcomes("one", [[listed], [[(1.0, 0, 0.0)]]])
    other = from_outcomes("other", [[listed[::-1]], [[(1.0, 0, 0.0)]]])
    for a, b in zip(one.tables, other.tables, strict=True):
        np.testing.assert_array_equal(a, b)


def test_impossible_outcomes_and_signed_zeros_leave_no_trace() -> None:
    listed = [(0.5, 0, 0.0), (0.5, 0, -0.0), (0.0, 1, 5.0)]
    world = from_outcomes("one", [[listed], [[(1.0, 1, 0.0)]]])
    assert world.outcomes(0, 0) == [(1.0, 0, 0.0)]
    assert world.distance(0, 1) == math.inf
    assert world.deterministic


def test_a_step_longer_than_its_moves_travels_the_shortest_of_them() -> None:
    """0 -> 3 takes three moves, and the direct move 0 -> 1 is longer than the way round."""
    step = [[(1.0, 3, -1.0)], [(1.0, 1, -1.0)]]
    stay = [[[(1.0, s, 0.0)], [(1.0, s, 0.0)]] for s in range(4)]
    moves = [[(1, 5.0), (2, 1.0)], [], [(3, 1.0)], [(1, 1.0)]]
    world = from_outcomes("detour", [step, *stay[1:]], moves=moves)
    assert world.tables.length[:2].tolist() == [2.0, 3.0]
    assert world.distances_to(1).tolist() == [3.0, 0.0, 2.0, 1.0]


def test_a_step_that_no_moves_make_is_refused() -> None:
    with pytest.raises(FwrlError, match="no moves go from 0 to 1"):
        from_outcomes("jump", [[[(1.0, 1, 0.0)]], [[(1.0, 1, 0.0)]]], moves=[[], []])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one state"),
        ([[]], "at least one state and one action"),
        ([[[(1.0, 0, 0.0)]], []], "state 1 has 0"),
        ([[[]]], "state 0, action 0 of 'bad' has none"),
        ([[[(0.9, 0, 0.0)]]], "sum to 1, but those of state 0, action 0 of 'bad' sum to 0.9"),
        ([[[(1.0, 1, 0.0)]]], "next states from 0 to 0"),
        ([[[(1.0, 0, math.inf)]]], "finite rewards"),
        ([[[(-1.0, 0, 0.0), (2.0, 0, 0.0)]]], "probabilities of at least 0"),
        ([[[(math.nan, 0, 0.0)]]], "finite probabilities"),
    ],
)
def test_what_is_no_distribution_is_refused(rows: Rows, message: str) -> None:
    with pytest.raises(FwrlError, match=message):
        from_outcomes("bad", rows)


def test_states_actions_and_cells_outside_the_world_are_refused() -> None:
    world = from_outcomes("one", [[[(1.0, 0, 0.0)]]])
    for call in (
        lambda: world.outcomes(1, 0),
        lambda: world.outcomes(0, 1),
        lambda: world.label(-1),
        lambda: world.distances_to(1),
        lambda: world.position(0),
        lambda: world.state_at(0, 0),
    ):
        with pytest.raises(FwrlError):
            call()


def test_a_world_survives_pickling() -> None:
    world = from_outcomes("one", [[[(1.0, 0, -1.0)]]], labels=("home",))
    copy: World = pickle.loads(pickle.dumps(world))
    assert copy.outcomes(0, 0) == [(1.0, 0, -1.0)]
    assert copy.label(0) == "home"


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        ((1, 0.9, 0), "state 0, action 0 has (1, 0.9, 0)"),
        ((1.0, 0), "state 0, action 0 has (1.0, 0)"),
        (1.0, "state 0, action 0 has 1.0"),
        ((1.0, "0", 0.0), "state 0, action 0 has (1.0, '0', 0.0)"),
        (("much", 0, 0.0), "state 0, action 0 has ('much', 0, 0.0)"),
    ],
)
def test_an_outcome_that_is_no_triple_with_a_state_is_refused(outcome: object, said: str) -> None:
    rows: Any = [[[outcome]]]
    with pytest.raises(FwrlError, match=re.escape(said)):
        from_outcomes("wrong", rows)


def test_positions_may_be_a_list() -> None:
    world = from_outcomes("pair", SWAP, positions=[(0, 0), (2, 1)])
    assert world.state_at(2, 1) == 1


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({"positions": [(0, 0)]}, "expected 2 positions (x, y)"),
        ({"positions": [0, 1]}, "expected 2 positions (x, y)"),
        ({"positions": [(0, 0), (0, np.nan)]}, "expected 2 positions (x, y)"),
        ({"positions": [("a", 0), (0, 0)]}, "expected 2 positions (x, y)"),
        ({"labels": ()}, "expected 2 labels"),
        ({"labels": ("a",)}, "expected 2 labels"),
        ({"terminals": {2: 1.0}}, "expected terminal states from 0 to 1"),
        ({"terminals": {-1: 1.0}}, "expected terminal states from 0 to 1"),
    ],
)
def test_details_of_another_size_are_refused(details: dict[str, Any], said: str) -> None:
    with pytest.raises(FwrlError, match=re.escape(said)):
        from_outcomes("pair", SWAP, **details)
