"""Experience replay (Lin 1992): a ring of the last N transitions.

Transition number i, counted from the first ever stored, is in slot i mod N. A trip is a run of transitions, each of
which begins where the one before ended; `last[k mod N]` is the number of the last transition of trip k so far. Every
trip has a transition, so at most N trips are in the ring and their slots differ.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from fwrl.arrays import Field, Floats, Ints
from fwrl.kernels.jit import compiled
from fwrl.kernels.rng import next_uniform

NEWEST, ENDED = 0, 1  # of `newest`


class Ring(NamedTuple):
    """Transitions."""

    state: Annotated[Ints, Field("N", np.int64, least=0, most="S")]
    action: Annotated[Ints, Field("N", np.int64, least=0, most="A")]
    reward: Annotated[Floats, Field("N", least=-1e300, most=1e300)]
    next_state: Annotated[Ints, Field("N", np.int64, least=0, most="S")]
    stored: Annotated[Ints, Field("1", np.int64, least=0)]  # number ever stored


class Trips(NamedTuple):
    """Goal and trip of each transition in a ring."""

    goal: Annotated[Ints, Field("N", np.int64, least=-1, most="S")]  # the agent's goal, -1 for none
    trip: Annotated[Ints, Field("N", np.int64)]  # number of the trip
    last: Annotated[Ints, Field("N", np.int64)]  # number of the last transition of trip k, at k mod N
    # The newest trip (NEWEST); 1 if the next transition begins another (ENDED).
    newest: Annotated[Ints, Field("2", np.int64, fill=(-1, 1), least=-1)]

    def follow(self, ring: Ring) -> bool:
        """Check that the trips of the ring are numbered in order, and end where `last` says."""
        N, stored = len(ring.state), int(ring.stored[0])
        numbers = np.arange(max(0, stored - N), stored)
        trip = self.trip[numbers % N]
        newest, ended = trip[-1] if stored else -1, self.newest[ENDED]
        if self.newest[NEWEST] != newest or ended not in (0, 1) or (stored == 0 and ended == 0):
            return False
        ends = np.flatnonzero(np.append(np.diff(trip), 1)[: len(trip)])
        in_order = bool(np.all(trip >= 0) and np.isin(np.diff(trip), (0, 1)).all())
        return in_order and np.array_equal(self.last[trip[ends] % N], numbers[ends])


@compiled
def store(ring: Ring, s: int, a: int, r: float, next_s: int) -> int:
    """Store a transition; return its slot."""
    i = ring.stored[0] % len(ring.state)
    ring.state[i] = s
    ring.action[i] = a
    ring.reward[i] = r
    ring.next_state[i] = next_s
    ring.stored[0] += 1
    return int(i)


@compiled
def store_on_trip(ring: Ring, trips: Trips, s: int, a: int, r: float, next_s: int, g: int) -> None:
    """Store a transition made towards `g`, in the newest trip if it continues that, else in a new one."""
    number = ring.stored[0]
    N = len(ring.state)
    if trips.newest[ENDED] != 0 or ring.next_state[(number - 1) % N] != s:
        trips.newest[NEWEST] += 1
        trips.newest[ENDED] = 0
    i = store(ring, s, a, r, next_s)
    trips.goal[i] = g
    trips.trip[i] = trips.newest[NEWEST]
    trips.last[trips.newest[NEWEST] % N] = number


@compiled
def draw(ring: Ring, splitmix64: Ints) -> int:
    """Draw the slot of a stored transition uniformly; there must be one."""
    return int(next_uniform(splitmix64) * min(ring.stored[0], len(ring.state)))


@compiled
def left_of_trip(ring: Ring, trips: Trips, i: int) -> int:
    """Return how many transitions its trip has from slot i on, that one included."""
    N = len(ring.state)
    newest = ring.stored[0] - 1
    number = newest - (newest - i) % N
    return int(trips.last[trips.trip[i] % N] - number + 1)


@compiled
def draw_achieved(ring: Ring, trips: Trips, i: int, splitmix64: Ints) -> int:
    """Return the end of a transition drawn uniformly from slot i and the later ones of its trip."""
    later = int(next_uniform(splitmix64) * left_of_trip(ring, trips, i))
    return int(ring.next_state[(i + later) % len(ring.state)])
