"""Routes are cut into stretches where the trip that first made their steps changes; checked against a slow count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwrl.web.play.runner import Stitches
from fwrl.worlds import load_world
from fwrl.worlds.grid import from_map
from fwrl.worlds.likely_route import LikelyRoute, follow, likely_outcomes

WORLD = from_map(">..\n...\n..#")
LIKELY = likely_outcomes(WORLD)
S, A = WORLD.n_states, WORLD.n_actions

steps = st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), st.integers(0, S - 1), st.booleans())


def ints(column):
    return np.array(column, dtype=np.int64)


def first_makers(trips):
    """The slow way: trips as lists of (s, a, s'), numbered from 1."""
    makers: dict[tuple[int, int], int] = {}
    for number, trip in enumerate(trips, start=1):
        for s, a, n in trip:
            if LIKELY.next_state[s, a] == n:
                makers.setdefault((s, a), number)
    return makers


@given(lived=st.lists(steps, max_size=60), data=st.data())
def test_the_maker_of_a_step_is_the_first_trip_that_made_it(lived, data):
    stitches = Stitches(LIKELY)
    stitches.begin(0, S - 1)
    cut = data.draw(st.integers(0, len(lived)))
    for part in (lived[:cut], lived[cut:]):
        state, action, next_state, arrivals = list(zip(*part, strict=True)) or [(), (), (), ()]
        stitches.record(ints(state), ints(action), ints(next_state), np.array(arrivals, dtype=np.bool_))
    trips: list[list[tuple[int, int, int]]] = [[]]
    for s, a, n, arrived in lived:
        if arrived:
            trips.append([])
        else:
            trips[-1].append((s, a, n))
    makers = first_makers(trips)
    for s in range(S):
        for a in range(A):
            route = LikelyRoute([s, int(LIKELY.next_state[s, a])], [a], 0.0, True)
            assert stitches.stretches(route)[0].number == makers.get((s, a), 0)


def test_two_trips_make_a_third_with_one_stitch():
    maze = load_world("h-maze")
    likely = likely_outcomes(maze)
    stitches = Stitches(likely)
    for goal, states, actions in ((6, [0, 2, 3, 4, 6], [1, 3, 3, 1]), (1, [5, 2, 3, 4, 1], [0, 3, 3, 0])):
        stitches.begin(states[0], goal)
        stitches.record(np.array(states[:-1]), np.array(actions), np.array(states[1:]), np.zeros(4, np.bool_))
    made = stitches.stretches(LikelyRoute([5, 2, 3, 4, 6], [0, 3, 3, 1], 0.0, True))
    assert [(stretch.number, stretch.trip, stretch.states) for stretch in made] == [
        (2, (5, 1), [5, 2]),
        (1, (0, 6), [2, 3, 4, 6]),
    ]


def test_a_trip_without_a_step_does_not_count():
    stitches = Stitches(LIKELY)
    stitches.begin(0, 1)
    stitches.begin(2, 3)
    stitches.record(np.array([2]), np.array([1]), np.array([int(LIKELY.next_state[2, 1])]), np.array([False]))
    assert stitches.stretches(LikelyRoute([2, int(LIKELY.next_state[2, 1])], [1], 0.0, True))[0][:2] == (1, (2, 3))


@pytest.mark.parametrize("name", ["windy-four-rooms", "muddy-rooms"])
def test_the_likely_outcome_is_the_one_with_the_largest_probability(name):
    world = load_world(name)
    likely = likely_outcomes(world)
    for s in range(world.n_states):
        for a in range(world.n_actions):
            best = max(world.outcomes(s, a), key=lambda outcome: outcome.probability)
            assert (likely.next_state[s, a], likely.reward[s, a]) == (best.next_state, best.reward)


def test_a_walk_that_circles_ends():
    maze = load_world("h-maze")
    route = follow(likely_outcomes(maze), np.array([1, -1, 0, -1, -1, -1, -1]), 0, 6)
    assert (route.states, route.arrives) == ([0, 2, 0], False)
