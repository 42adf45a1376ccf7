"""Retries: which action is worth another try, and how much tries may lose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples, from_python

from fwrl.arrays import empty
from fwrl.kernels.edges import NONE, Edges, count_edge, with_capacity
from fwrl.kernels.mdp.retries import (
    REPEATS,
    Retries,
    allowance,
    begin_trips,
    end_trip,
    left_to_lose,
    try_again,
)

allowance, end_trip, left_to_lose, try_again = map(from_python, (allowance, end_trip, left_to_lose, try_again))


@given(st.integers(0, 10**9), st.floats(1e-6, 1e6), st.integers(1, 1000))
@examples(300)
def test_tries_may_lose_a_share_of_the_trips_that_vanishes(trips, cost, A):
    lost = allowance(trips, -cost, A)
    assert (lost > 0.0) == (trips > REPEATS)
    assert lost == pytest.approx(cost * np.sqrt(A * max(0, trips - REPEATS)))
    assert lost <= 1.000001 * trips * cost * np.sqrt(A / REPEATS) / 2  # as much only after 2 REPEATS trips


@pytest.mark.parametrize("v", [-np.inf, 0.0, 3.0, np.nan])
def test_trips_without_a_cost_allow_nothing(v):
    assert allowance(1000, v, 3) == 0.0


@given(st.data())
@examples(300)
def test_the_action_tried_again_is_the_one_whose_supposed_gain_is_largest(data):
    """A try of a leads to the goal with probability 1 / (2 + n) for R, else to what was seen: by definition."""
    A = data.draw(st.integers(1, 5))
    Q = np.array(data.draw(st.lists(st.floats(-9.0, -0.5) | st.just(-np.inf), min_size=A, max_size=A)))
    tries = data.draw(st.lists(st.integers(1, 12), min_size=A, max_size=A))
    R, left = data.draw(st.floats(-1.0, 1.0)), data.draw(st.floats(0.0, 6.0))
    edges = with_capacity(empty(Edges, {"S": 2, "P": 2 * A}), sum(tries))
    for a, n in enumerate(tries):
        for k in range(n):
            count_edge(edges, A + a, k % 2, -1.0)
    retries = empty(Retries, {"D": 2})
    retries.start[0] = 0
    chosen = try_again(retries, edges, 1, Q, R, left)
    best, gains = Q.max(), np.full(A, -np.inf)
    for a, n in enumerate(tries):
        if best - 1e-6 > Q[a] >= best - left and Q[a] > -np.inf:
            supposed = R / (2 + n) + Q[a] * (1 + n) / (2 + n)
            gains[a] = supposed - best
    if chosen == NONE:
        assert gains.max() <= 1e-9
        assert retries.lost.tolist() == [0.0, 0.0]
    else:
        assert gains[chosen] == pytest.approx(gains.max())
        assert gains[chosen] > 0.0
        assert retries.lost.tolist() == [best - Q[chosen], 0.0]


def test_trips_are_counted_by_their_start_and_forgotten_with_the_goal():
    retries, V = empty(Retries, {"D": 3}), np.array([-5.0, -2.0, 0.0])
    for _ in range(20):
        assert left_to_lose(retries, 1, V, 3) == allowance(retries.trips[1], -2.0, 3)
        left_to_lose(retries, 0, V, 3)  # on the way
        end_trip(retries)
    end_trip(retries)  # of no trip
    assert retries.trips.tolist() == [0, 20, 0]
    retries.lost[1] = 0.5
    begin_trips(retries, same_goal=True)
    assert left_to_lose(retries, 1, V, 3) == pytest.approx(2.0 * np.sqrt(3 * (20 - REPEATS)) - 0.5)
    begin_trips(retries, same_goal=True)
    assert retries.start[0] == NONE  # a trip that an episode ends is not counted
    assert retries.trips.tolist() == [0, 20, 0]
    begin_trips(retries, same_goal=False)
    assert retries.trips.tolist() == [0, 0, 0]
    assert retries.lost.tolist() == [0.0, 0.0, 0.0]
