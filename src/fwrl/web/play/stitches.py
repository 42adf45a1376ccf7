"""Pieces: which earlier trip first made each step of a route.

FWRL's routes are stitched: F(i, a, j) >= F(i, a, k) + max_b F(k, b, j) joins what one trip saw before k to what
another saw after it. For every step (s, a) the first trip that made it is remembered, and a route falls into pieces
where that trip changes. The states where pieces meet are the stitches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.web.play.likely_route import Likely, Route

Ints = NDArray[np.int64]

UNMADE = 0  # trips are counted from 1


class Trip(NamedTuple):
    """One trip: where it began and where it was to go."""

    start: int
    goal: int


class Piece(NamedTuple):
    """The part of a route that one trip made first."""

    number: int  # of the trip; 0 where no trip made it
    trip: Trip | None
    states: list[int]


class Pieces:
    """The trips of one agent, as far as they made a step that no earlier trip had made."""

    def __init__(self, likely: Likely) -> None:
        self._likely_next = likely.next_state.ravel()
        self._n_actions = likely.next_state.shape[1]
        self._maker = np.full(len(self._likely_next), UNMADE)
        self._trips: dict[int, Trip] = {}
        self._number = 1
        self._begun = False  # whether a step of the present trip was made
        self._now = Trip(-1, -1)

    def begin(self, start: int, goal: int) -> None:
        """A new trip; one of which no step was made does not count."""
        self._number += self._begun
        self._begun = False
        self._now = Trip(start, goal)

    def note(self, state: Ints, action: Ints, next_state: Ints, arrived: NDArray[np.bool_]) -> None:
        """Steps as they happened; the one after an arriving step begins a new trip to the same goal."""
        pair = state * self._n_actions + action
        fresh = np.flatnonzero((self._maker[pair] == UNMADE) & (next_state == self._likely_next[pair]) & ~arrived)
        ends = np.flatnonzero(arrived)
        if len(fresh):
            number = self._number + np.searchsorted(ends, fresh)
            # Backwards, so that the first of several makers is the one that stays.
            self._maker[pair[fresh][::-1]] = number[::-1]
            for trip in np.unique(number).tolist():
                k = trip - self._number
                self._trips[trip] = self._now if k == 0 else Trip(int(next_state[ends[k - 1]]), self._now.goal)
        if len(arrived):
            self._begun = not arrived[-1]
        if len(ends):
            self._number += len(ends)
            self._now = Trip(int(next_state[ends[-1]]), self._now.goal)

    def of(self, route: Route) -> list[Piece]:
        """The route cut where the trip that first made its steps changes."""
        pieces: list[Piece] = []
        for s, a, next_s in zip(route.states, route.actions, route.states[1:], strict=False):
            number = int(self._maker[s * self._n_actions + a])
            if pieces and pieces[-1].number == number:
                pieces[-1].states.append(next_s)
            else:
                pieces.append(Piece(number, self._trips.get(number), [s, next_s]))
        return pieces
