"""The last N transitions, to learn from again: experience replay (Lin, 1992).

The n-th transition ever stored lies in slot n mod N, over the one it pushes out. In a ring with trips, trip t is a
run of transitions each of which begins where the one before ended; `last[t mod N]` is the number of its last
transition so far. Every trip has a transition, so no more than N trips are in the ring and their slots differ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.splitmix64 import next_uniform

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Ring(NamedTuple):
    """Transitions; `stored[0]` is how many there ever were."""

    state: Ints  # (N,)
    action: Ints  # (N,)
    reward: Floats  # (N,)
    next_state: Ints  # (N,)
    stored: Ints  # (1,)


class Trips(NamedTuple):
    """What the transitions of a ring belonged to."""

    goal: Ints  # (N,) the goal pursued, -1 for none
    trip: Ints  # (N,)
    last: Ints  # (N,) number of the last transition of trip t, at t mod N
    newest: Ints  # (2,) number of the newest trip, and 1 where the next transition begins another


def empty_ring(capacity: int) -> Ring:
    """Nothing to learn from again."""
    state, action, next_state = (np.zeros(capacity, np.int64) for _ in range(3))
    return Ring(state, action, np.zeros(capacity), next_state, np.zeros(1, np.int64))


def no_trips(capacity: int) -> Trips:
    """No trip made yet."""
    goal, trip, last = (np.zeros(capacity, np.int64) for _ in range(3))
    return Trips(goal, trip, last, np.array([-1, 1]))


def check_ring(ring: Ring, capacity: int, n_states: int, n_actions: int) -> None:
    """Refuse a ring read from a file that would lead compiled code astray."""
    sound = len(ring.stored) == 1 and ring.stored[0] >= 0
    sound = sound and all(len(column) == capacity for column in ring[:4])
    for column, limit in ((ring.state, n_states), (ring.action, n_actions), (ring.next_state, n_states)):
        sound = sound and bool(np.all((column >= 0) & (column < limit)))
    if not (sound and np.isfinite(ring.reward).all()):
        raise FileError(f"expected a ring of {capacity} transitions; the file is damaged")


def check_trips(trips: Trips, ring: Ring, n_states: int) -> None:
    """The same for trips; the ring must have been checked."""
    N = len(ring.state)
    sound = len(trips.newest) == 2 and all(len(column) == N for column in trips[:3])
    sound = sound and bool(np.all((trips.goal >= -1) & (trips.goal < n_states)))
    if sound:
        stored = int(ring.stored[0])
        numbers = np.arange(max(0, stored - N), stored)
        trip = trips.trip[numbers % N]
        newest = trip[-1] if stored else -1
        sound = trips.newest[0] == newest and trips.newest[1] in (0, 1) and (stored > 0 or trips.newest[1] == 1)
        sound = sound and bool(np.all(trip >= 0) and np.isin(np.diff(trip), (0, 1)).all())
        ends = np.flatnonzero(np.append(np.diff(trip), 1)[: len(trip)])
        sound = sound and np.array_equal(trips.last[trip[ends] % N], numbers[ends])
    if not sound:
        raise FileError("expected trips that follow one another; the file is damaged")


@compiled
def store(ring: Ring, s: int, a: int, r: float, next_s: int) -> int:
    """Keep a transition; the slot it lies in."""
    i = ring.stored[0] % len(ring.state)
    ring.state[i] = s
    ring.action[i] = a
    ring.reward[i] = r
    ring.next_state[i] = next_s
    ring.stored[0] += 1
    return int(i)


@compiled
def store_on_trip(ring: Ring, trips: Trips, s: int, a: int, r: float, next_s: int, g: int) -> None:
    """Keep a transition made on the way to `g`, on the trip that it goes on with or on a new one."""
    n = ring.stored[0]
    N = len(ring.state)
    if trips.newest[1] != 0 or ring.next_state[(n - 1) % N] != s:
        trips.newest[0] += 1
        trips.newest[1] = 0
    i = store(ring, s, a, r, next_s)
    trips.goal[i] = g
    trips.trip[i] = trips.newest[0]
    trips.last[trips.newest[0] % N] = n


@compiled
def draw(ring: Ring, splitmix64: Ints) -> int:
    """The slot of one of the transitions kept, each as likely as any other; there must be one."""
    return int(next_uniform(splitmix64) * min(ring.stored[0], len(ring.state)))


@compiled
def draw_achieved(ring: Ring, trips: Trips, i: int, splitmix64: Ints) -> int:
    """A state achieved by the transition in slot i or later on its trip, each step as likely as any other."""
    N = len(ring.state)
    newest = ring.stored[0] - 1
    n = newest - (newest - i) % N
    last = trips.last[trips.trip[i] % N]
    return int(ring.next_state[(n + int(next_uniform(splitmix64) * (last - n + 1))) % N])
