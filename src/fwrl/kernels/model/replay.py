"""Experience replay (Lin 1992): a ring of the last N transitions.

Transition number i, counted from the first ever stored, is in slot i mod N. A trip is a run of transitions each of
which begins where the one before ended; `last[k mod N]` is the number of the last transition of trip k so far. Every
trip has a transition, so at most N trips are in the ring and their slots differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.splitmix64 import next_uniform

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NEWEST, ENDED = 0, 1  # of `newest`


class Ring(NamedTuple):
    """Transitions."""

    state: Ints  # (N,)
    action: Ints  # (N,)
    reward: Floats  # (N,)
    next_state: Ints  # (N,)
    stored: Ints  # (1,) how many were ever stored


class Trips(NamedTuple):
    """Goal and trip of each transition in a ring."""

    goal: Ints  # (N,) the goal pursued, -1 for none
    trip: Ints  # (N,) number of the trip
    last: Ints  # (N,) number of the last transition of trip k, at k mod N
    newest: Ints  # (2,) number of the newest trip (NEWEST), 1 if the next transition begins another (ENDED)


def empty_ring(capacity: int) -> Ring:
    """A ring without transitions."""
    state, action, next_state = (np.zeros(capacity, np.int64) for _ in range(3))
    return Ring(state, action, np.zeros(capacity), next_state, np.zeros(1, np.int64))


def no_trips(capacity: int) -> Trips:
    """No trips."""
    goal, trip, last = (np.zeros(capacity, np.int64) for _ in range(3))
    return Trips(goal, trip, last, np.array([-1, 1]))


@compiled
def store(ring: Ring, s: int, a: int, r: float, next_s: int) -> int:
    """Store a transition; its slot."""
    i = ring.stored[0] % len(ring.state)
    ring.state[i] = s
    ring.action[i] = a
    ring.reward[i] = r
    ring.next_state[i] = next_s
    ring.stored[0] += 1
    return int(i)


@compiled
def store_on_trip(ring: Ring, trips: Trips, s: int, a: int, r: float, next_s: int, g: int) -> None:
    """Store a transition made in pursuit of `g`, in the newest trip if it continues that, else in a new one."""
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
    """The slot of a stored transition, drawn uniformly; there must be one."""
    return int(next_uniform(splitmix64) * min(ring.stored[0], len(ring.state)))


@compiled
def draw_achieved(ring: Ring, trips: Trips, i: int, splitmix64: Ints) -> int:
    """The end of a transition drawn uniformly from that in slot i and later ones of its trip."""
    N = len(ring.state)
    newest = ring.stored[0] - 1
    number = newest - (newest - i) % N
    last = trips.last[trips.trip[i] % N]
    return int(ring.next_state[(number + int(next_uniform(splitmix64) * (last - number + 1))) % N])
