"""Checks of tables read from a file, before compiled code uses them.

Compiled code does not check indices: one out of range reads or writes memory of others, and a linked list with a cycle
never ends. Every check raises `FileError`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.kernels.graph import compact_edges
from fwrl.kernels.graph.compact_edges import NEXT_ENTERING, PAIR, TARGET, CompactEdges
from fwrl.kernels.graph.edges import EDGES, NONE, SLOTS, Edges
from fwrl.kernels.graph.heap import CLOSED, OPEN, Heap
from fwrl.kernels.model.doubt import Doubt
from fwrl.kernels.model.optimism import LEVELS, Optimism
from fwrl.kernels.model.replay import ENDED, NEWEST, Ring, Trips
from fwrl.kernels.rate import ARRIVALS, LARGEST, STEPS, Income

Ints = NDArray[np.int64]


def check_edges(edges: Edges, n_states: int, n_actions: int) -> None:
    """Check that indices are in range and that each list holds its edges from the newest to the oldest."""
    used, capacity, pairs = int(edges.used.sum()), len(edges.target), n_states * n_actions
    sound = len(edges.used) == EDGES + 1 and 0 <= used <= capacity
    sound = sound and all(len(getattr(edges, name)) == capacity for name in SLOTS)
    if sound:
        pair, target, times = edges.pair[:used], edges.target[:used], edges.times[:used]
        sound = _within(pair, pairs) and _within(target, n_states) and bool(np.all(times > 0))
        sound = sound and bool(np.isfinite(edges.total[:used]).all() and np.isfinite(edges.best[:used]).all())
        sound = sound and _linked(edges.leaving, edges.next_leaving[:used], pair, pairs)
        sound = sound and _linked(edges.entering, edges.next_entering[:used], target, n_states)
    if not sound:
        raise FileError("the lists of edges are inconsistent; the file is damaged")


def _within(indices: NDArray[np.integer], limit: int) -> bool:
    return bool(np.all((indices >= 0) & (indices < limit)))


def _linked(head: Ints, following: Ints, keys: Ints, n: int) -> bool:
    """Whether each list, from its head on, is the edges of one key from the newest to the oldest."""
    newest, older = np.full(n, NONE), np.full(len(keys), NONE)
    np.maximum.at(newest, keys, np.arange(len(keys)))
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    older[order[same + 1]] = order[same]
    return np.array_equal(head, newest) and np.array_equal(following, older)


def completed_compact_edges(edges: CompactEdges, n_states: int, n_actions: int) -> CompactEdges:
    """The edges with room for more and all their lists; those in the file must be the same."""
    pairs, E = n_states * n_actions, len(edges.best)
    sound = edges.link.shape == (E, 4) and edges.used.tolist() == [E] and bool(np.isfinite(edges.best).all())
    sound = sound and len(edges.leaving) == pairs
    sound = sound and _within(edges.link[:, PAIR], pairs) and _within(edges.link[:, TARGET], n_states)
    if sound:
        leaving, link = edges.leaving.copy(), edges.link[:, :NEXT_ENTERING].copy()
        edges = compact_edges.relinked(edges)
        sound = np.array_equal(leaving, edges.leaving) and np.array_equal(link, edges.link[:E, :NEXT_ENTERING])
    if not sound:
        raise FileError(f"the linked edges do not fit {n_states} states and {n_actions} actions; the file is damaged")
    return edges


def check_optimism(optimism: Optimism) -> None:
    """Check lengths, probabilities, and that nothing was new more often than it was tried."""
    sound = [len(part) for part in optimism] == [1, 1, 1, LEVELS, LEVELS, LEVELS]
    sound = sound and optimism.on[0] in (0, 1) and all(bool(np.isfinite(part).all()) for part in optimism)
    sound = sound and bool(np.all((optimism.unseen >= 0) & (optimism.unseen <= 1)) and 0 <= optimism.prior[0] <= 1)
    sound = sound and bool(
        np.all((optimism.new_outcomes >= 0) & (optimism.new_outcomes <= optimism.tries))
        and optimism.tries.max() < 2**53
    )
    if not sound:
        raise FileError("the probabilities of unseen outcomes do not fit their evidence; the file is damaged")


def check_doubt(doubt: Doubt, n_states: int) -> None:
    """Check lengths, counts, and that the trip begins at a state."""
    sound = [len(part) for part in doubt] == [n_states, n_states, 1] and NONE <= doubt.start[0] < n_states
    sound = sound and bool(np.all(doubt.trips >= 0) and np.all(doubt.lost >= 0.0) and np.isfinite(doubt.lost).all())
    if not sound:
        raise FileError(f"expected trips from each of {n_states} states and what was lost on them; the file is damaged")


def check_marks(marks: NDArray[np.int8], n_states: int) -> None:
    """Check that there is 0 or 1 for every state."""
    if len(marks) != n_states or not np.isin(marks, (0, 1)).all():
        raise FileError(f"expected 0 or 1 for each of {n_states} states; the file is damaged")


def check_promise(promise: NDArray[np.float64]) -> None:
    """Check that the promise is one finite reward."""
    if len(promise) != 1 or not np.isfinite(promise).all():
        raise FileError("expected one finite reward for untried actions; the file is damaged")


def check_income(income: Income, rho: NDArray[np.float64], n_states: int) -> None:
    """Check lengths, that counts are counts, and that rho is one number of a possible size."""
    sound = len(income.sums) == 4 and len(income.starts) == n_states and len(income.trip_begins) == len(rho) == 1
    sound = sound and bool(np.isfinite(income.sums).all() and (np.abs(rho) <= LARGEST).all())
    sound = sound and 0 <= income.sums[ARRIVALS] <= income.sums[STEPS] and income.trip_begins[0] in (0, 1)
    sound = sound and bool(np.all(income.starts >= 0)) and income.starts.sum() <= income.sums[STEPS]
    if not sound:
        raise FileError("income and starts of trips are inconsistent; the file is damaged")


def check_ring(ring: Ring, capacity: int, n_states: int, n_actions: int) -> None:
    """Check that the ring has `capacity` slots with states, actions and rewards in range."""
    sound = len(ring.stored) == 1 and ring.stored[0] >= 0
    sound = sound and all(len(column) == capacity for column in ring[:4])
    for column, limit in ((ring.state, n_states), (ring.action, n_actions), (ring.next_state, n_states)):
        sound = sound and _within(column, limit)
    if not (sound and np.isfinite(ring.reward).all()):
        raise FileError(f"the replay ring does not hold {capacity} transitions; the file is damaged")


def check_trips(trips: Trips, ring: Ring, n_states: int) -> None:
    """Check that the trips of a ring, itself checked before, are numbered in order, and where each ends."""
    N = len(ring.state)
    sound = len(trips.newest) == 2 and all(len(column) == N for column in trips[:3])
    sound = sound and bool(np.all((trips.goal >= -1) & (trips.goal < n_states)))
    if sound:
        stored = int(ring.stored[0])
        numbers = np.arange(max(0, stored - N), stored)
        trip = trips.trip[numbers % N]
        newest, ended = trip[-1] if stored else -1, trips.newest[ENDED]
        sound = trips.newest[NEWEST] == newest and ended in (0, 1) and (stored > 0 or ended == 1)
        sound = sound and bool(np.all(trip >= 0) and np.isin(np.diff(trip), (0, 1)).all())
        ends = np.flatnonzero(np.append(np.diff(trip), 1)[: len(trip)])
        sound = sound and np.array_equal(trips.last[trip[ends] % N], numbers[ends])
    if not sound:
        raise FileError("the trips of the replay ring do not follow one another; the file is damaged")


def check_queue(queue: Heap, n_states: int) -> None:
    """Check that the entries of a heap are different states, found by `place`, and that nothing is closed."""
    sound = len(queue.state) == len(queue.key) == len(queue.place) == n_states and len(queue.size) == 2
    sound = sound and 0 <= queue.size[OPEN] <= n_states and queue.size[CLOSED] == 0
    if sound:
        entries = queue.state[: queue.size[OPEN]]
        sound = _within(entries, n_states) and not np.isnan(queue.key[: len(entries)]).any()
        if sound:
            place = np.zeros(n_states, np.int32)
            place[entries] = np.arange(1, len(entries) + 1)
            sound = np.array_equal(place, queue.place) and np.count_nonzero(place) == len(entries)
    if not sound:
        raise FileError(f"the queue does not hold some of {n_states} states; the file is damaged")
