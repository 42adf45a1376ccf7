"""A ring is a deque, its trips are runs, and draws are uniform numbers times their counts."""

from __future__ import annotations

from collections import deque

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.arrays import empty
from fwrl.kernels.replay import ENDED, Ring, Trips, draw, draw_achieved, store, store_on_trip
from fwrl.kernels.rng import next_uniform

S = 3
STEP = st.tuples(st.integers(0, S - 1), st.integers(0, 1), st.floats(-1, 0), st.integers(0, S - 1))


@given(st.lists(STEP, max_size=30), st.integers(1, 6))
@examples(100)
def test_a_ring_holds_the_last_transitions(steps, capacity):
    ring = empty(Ring, {"N": capacity})
    kept: deque[tuple[int, int, float, int]] = deque(maxlen=capacity)
    for number, step in enumerate(steps):
        assert store(ring, *step) == number % capacity
        kept.append(step)
    slots = range(len(steps) - len(kept), len(steps))
    assert [tuple(column[n % capacity] for column in ring[:4]) for n in slots] == list(kept)
    assert ring.stored[0] == len(steps)


@given(st.lists(st.tuples(STEP, st.booleans()), min_size=1, max_size=30), st.integers(1, 6), st.integers(0, 2**60))
@examples(150)
def test_trips_are_runs_and_what_is_drawn_comes_later_on_the_same_trip(events, capacity, state):
    ring, trips, N = empty(Ring, {"N": capacity}), empty(Trips, {"N": capacity}), capacity
    runs: list[list[int]] = []
    for number, ((s, a, r, y), ended) in enumerate(events):
        if not runs or trips.newest[ENDED] or events[number - 1][0][3] != s:
            runs.append([])
        store_on_trip(ring, trips, s, a, r, y, number % S)
        runs[-1].append(number)
        if ended:
            trips.newest[ENDED] = 1
    for trip, run in enumerate(runs):
        for number in run[-N:]:
            if number >= len(events) - N:
                assert (trips.trip[number % N], trips.goal[number % N]) == (trip, number % S)
                assert trips.last[trip % N] == run[-1]
    ours, same = np.array([state]), np.array([state])
    slot = draw(ring, ours)
    assert slot == int(next_uniform(same) * min(N, len(events)))
    number = max(n for n in range(len(events)) if n % N == slot)
    (run,) = [run for run in runs if number in run]
    later = [events[n][0][3] for n in run if n >= number]
    assert draw_achieved(ring, trips, slot, ours) == later[int(next_uniform(same) * len(later))]
