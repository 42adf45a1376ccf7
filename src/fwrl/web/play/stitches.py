"""Which earlier trip first made each step of a route.

FWRL's routes are stitched: F(i, a, j) >= F(i, a, k) + max_b F(k, b, j) joins the steps that one trip made before k to
those that another made after it. For every step (s, a) the first trip that made it is recorded. A route is cut into
stretches where that trip changes, and the states between two stretches are the stitches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Ints
from fwrl.worlds.likely_route import LikelyOutcomes, LikelyRoute

NO_TRIP = 0  # trips are numbered from 1


class Trip(NamedTuple):
    """The start and the goal of one trip."""

    start: int
    goal: int


class Stretch(NamedTuple):
    """The steps of a route that the same trip made first."""

    number: int  # of the trip; 0 if no trip made them
    trip: Trip | None
    states: list[int]


class Stitches:
    """The trips of one agent that made a step which no earlier trip had made."""

    def __init__(self, likely: LikelyOutcomes) -> None:
        self._likely_next = likely.next_state.ravel()
        self._n_actions = likely.next_state.shape[1]
        self._first_trip = np.full(len(self._likely_next), NO_TRIP)  # (S * A,)
        self._trips: dict[int, Trip] = {}
        self._number = 1
        self._begun = False  # whether the current trip has made a step
        self._current = Trip(-1, -1)

    def edit(self, likely: LikelyOutcomes) -> None:
        """Go on in an edited world: steps that now lead elsewhere have been made by no trip."""
        likely_next = likely.next_state.ravel()
        self._first_trip[likely_next != self._likely_next] = NO_TRIP
        self._likely_next = likely_next

    def begin(self, start: int, goal: int) -> None:
        """Begin a new trip; a trip without any step is not numbered."""
        self._number += self._begun
        self._begun = False
        self._current = Trip(start, goal)

    def record(self, state: Ints, action: Ints, next_state: Ints, arrived: NDArray[np.bool_]) -> None:
        """Record steps in order; after an arriving step a new trip to the same goal begins."""
        pair = state * self._n_actions + action
        fresh = np.flatnonzero((self._first_trip[pair] == NO_TRIP) & (next_state == self._likely_next[pair]) & ~arrived)
        ends = np.flatnonzero(arrived)
        if len(fresh):
            number = self._number + np.searchsorted(ends, fresh)
            # In reverse, so that of several trips that made a step the first one is kept.
            self._first_trip[pair[fresh][::-1]] = number[::-1]
            for trip in np.unique(number).tolist():
                k = trip - self._number
                self._trips[trip] = self._current if k == 0 else Trip(int(next_state[ends[k - 1]]), self._current.goal)
        if len(arrived):
            self._begun = not arrived[-1]
        if len(ends):
            self._number += len(ends)
            self._current = Trip(int(next_state[ends[-1]]), self._current.goal)

    def stretches(self, route: LikelyRoute) -> list[Stretch]:
        """The route, cut where the trip that first made its steps changes."""
        stretches: list[Stretch] = []
        for s, a, next_s in zip(route.states, route.actions, route.states[1:], strict=False):
            number = int(self._first_trip[s * self._n_actions + a])
            if stretches and stretches[-1].number == number:
                stretches[-1].states.append(next_s)
            else:
                stretches.append(Stretch(number, self._trips.get(number), [s, next_s]))
        return stretches
