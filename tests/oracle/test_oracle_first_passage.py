"""Mean first-passage times against the fundamental matrix of the chain, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_reference import dense, worlds

from fwrl.errors import FwrlError
from fwrl.oracle import mean_first_passage
from fwrl.worlds import from_outcomes


@settings(max_examples=100)
@given(worlds(), st.data())
def test_it_solves_the_linear_system_where_the_set_is_entered_with_probability_1(world, data):
    ends = np.array(data.draw(st.lists(st.booleans(), min_size=world.n_states, max_size=world.n_states)))
    P = dense(world)[0].mean(axis=1)
    P[ends] = 0
    reaches = ends.copy()
    for _ in range(world.n_states):
        reaches |= ((P > 0) & reaches).any(axis=1)
    sure = reaches.copy()  # never leads to a state that cannot reach the set
    for _ in range(world.n_states):
        sure &= ends | ~((P > 0) & ~sure).any(axis=1)
    expected = np.full(world.n_states, np.inf)
    expected[ends] = 0
    inner = np.flatnonzero(sure & ~ends)
    expected[inner] = np.linalg.solve(np.eye(len(inner)) - P[np.ix_(inner, inner)], np.ones(len(inner)))
    uniform = np.full((world.n_states, world.n_actions), 1 / world.n_actions)
    np.testing.assert_allclose(mean_first_passage(world, uniform, ends), expected, rtol=1e-8)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_symmetric_walk_with_a_reflecting_end_takes_n_squared_steps(n):
    steps = [[[(0.5, max(s - 1, 0), 0.0), (0.5, s + 1, 0.0)]] for s in range(n)]
    steps[0] = [[(1.0, 1, 0.0)]]
    line = from_outcomes("line", [*steps, [[(1.0, n, 0.0)]]])
    times = mean_first_passage(line, np.zeros(n + 1, dtype=np.int64), np.arange(n + 1) == n)
    np.testing.assert_allclose(times, n**2 - np.arange(n + 1) ** 2)


def test_ends_that_are_no_mask_are_refused():
    world = from_outcomes("still", [[[(1, 0, 0)]]])
    with pytest.raises(FwrlError, match="1 booleans"):
        mean_first_passage(world, [0], [0])
