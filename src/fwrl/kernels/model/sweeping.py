"""Prioritised sweeping: Bellman backups of a counted model, where they matter most first.

With P(s' | s, a) = n(s, a, s') / n(s, a), mean rewards r(s, a, s'), and D the worth of never arriving,

    Q(s, a) = sum_s' P(s' | s, a) [ r(s, a, s') + V(s') ],     D for an action never tried
    V(s)    = max( D, max_a Q(s, a) ),     V(g) = 0

for one goal g, without discount. A backup solves for an outcome that stays put, V(s) standing on both sides: the
action is repeated until it leads elsewhere. D bounds V from below: backups of one and the same model that begin at D
only rise towards the solution, and what cannot arrive stays at D instead of falling for ever.

When the backup of s' changes V(s') by delta, each (s, a) that led there may change by P(s' | s, a) |delta|; that
is the priority of s, unless it already has a higher one or this is below the threshold (Moore and Atkeson, 1993).

While hoping (see `kernels.model.optimism`), an outcome of probability q(n) that leads straight to g is mixed in:

    Q(s, a) = q(n) r + (1 - q(n)) sum_s' P(s' | s, a) [ r(s, a, s') + V(s') ],     n = n(s, a), q(0) = 1

with r the reward of the best step seen anywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.model.optimism import Optimism, unseen_probability
from fwrl.kernels.model.tries import tries_of
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Queue(NamedTuple):
    """A binary heap of states, the highest priority first."""

    heap: Ints  # (S,) the first `size[0]` count
    place: Ints  # (S,) where a state is in the heap, -1 where it is not
    priority: Floats  # (S,)
    size: Ints  # (1,)


def empty_queue(n_states: int) -> Queue:
    """Nothing to back up."""
    heap, place = np.zeros(n_states, np.int64), np.full(n_states, NONE)
    return Queue(heap, place, np.zeros(n_states), np.zeros(1, np.int64))


def check_queue(queue: Queue, n_states: int) -> None:
    """Refuse a queue read from a file that would lead compiled code astray."""
    sound = len(queue.heap) == len(queue.place) == len(queue.priority) == n_states and len(queue.size) == 1
    sound = sound and 0 <= queue.size[0] <= n_states and not np.isnan(queue.priority).any()
    if sound:
        place = np.full(n_states, NONE)
        heap = queue.heap[: queue.size[0]]
        sound = bool(np.all((heap >= 0) & (heap < n_states)))
        if sound:
            place[heap] = np.arange(len(heap))
        sound = sound and np.array_equal(place, queue.place) and np.count_nonzero(place >= 0) == len(heap)
    if not sound:
        raise FileError(f"expected a queue of some of {n_states} states; the file is damaged")


@compiled
def expected(edges: Edges, V: Floats, optimism: Optimism, pair: int, D: float) -> float:
    """Q(s, a) of the pair s * A + a, with V (S,) as it stands."""
    n = 0
    value = 0.0
    e = edges.leaving[pair]
    while e != NONE:
        n += edges.times[e]
        value += edges.total[e] + edges.times[e] * V[edges.target[e]]
        e = edges.next_leaving[e]
    q = unseen_probability(optimism, n)
    if n == 0:
        return float(optimism.reward[0]) if q > 0.0 else D
    return (1.0 - q) * value / n + q * float(optimism.reward[0])


@compiled
def backed_up(edges: Edges, V: Floats, optimism: Optimism, s: int, D: float) -> float:
    """V(s) by its equation, from the V (S,) of other states."""
    A = len(edges.leaving) // len(V)
    best = D
    for pair in range(s * A, s * A + A):
        n = 0
        leaves = 0
        value = 0.0
        e = edges.leaving[pair]
        while e != NONE:
            y = edges.target[e]
            n += edges.times[e]
            value += edges.total[e]
            if y != s:
                leaves += edges.times[e]
                value += edges.times[e] * V[y]
            e = edges.next_leaving[e]
        q = unseen_probability(optimism, n)
        hoped = q * max(n, 1)
        if leaves > 0 or hoped > 0.0:
            best = max(best, ((1.0 - q) * value + hoped * optimism.reward[0]) / ((1.0 - q) * leaves + hoped))
    return best


@compiled
def sweep(
    edges: Edges, V: Floats, optimism: Optimism, queue: Queue, g: int, D: float, threshold: float, backups: int
) -> int:
    """Up to `backups` backups of V (S,) for the goal `g`, the highest priority first; how many there were."""
    for done in range(backups):
        if queue.size[0] == 0:
            return done
        s = _take_first(queue)
        value = backed_up(edges, V, optimism, s, D)
        delta = abs(value - V[s])
        V[s] = value
        if delta > 0.0:
            _promote_predecessors(edges, optimism, queue, s, g, delta, threshold)
    return backups


@compiled
def _promote_predecessors(
    edges: Edges, optimism: Optimism, queue: Queue, s: int, g: int, delta: float, threshold: float
) -> None:
    A = len(edges.leaving) // len(queue.place)
    e = edges.entering[s]
    while e != NONE:
        x = edges.pair[e] // A
        if x != g and x != s:
            n = tries_of(edges, edges.pair[e])
            priority = delta * (1.0 - unseen_probability(optimism, n)) * edges.times[e] / n
            if priority > threshold:
                promote(queue, x, priority)
        e = edges.next_entering[e]


@compiled
def queue_all(edges: Edges, V: Floats, optimism: Optimism, queue: Queue, g: int, D: float, threshold: float) -> None:
    """Queue every state whose backup would change its value, by how much: V was made with an older model."""
    queue.size[0] = 0
    queue.place[:] = NONE
    for s in range(len(V)):
        delta = abs(backed_up(edges, V, optimism, s, D) - V[s])
        if s != g and delta > threshold:
            promote(queue, s, delta)


@compiled
def promote(queue: Queue, s: int, priority: float) -> None:
    """Give s this priority, unless it has a higher one."""
    i = queue.place[s]
    if i == NONE:
        i = queue.size[0]
        queue.size[0] = i + 1
    elif priority <= queue.priority[s]:
        return
    queue.priority[s] = priority
    while i > 0:
        above = (i - 1) // 2
        x = queue.heap[above]
        if queue.priority[x] >= priority:
            break
        queue.heap[i] = x
        queue.place[x] = i
        i = above
    queue.heap[i] = s
    queue.place[s] = i


@compiled
def _take_first(queue: Queue) -> int:
    """The state of the highest priority, taken out; there must be one."""
    first = queue.heap[0]
    queue.place[first] = NONE
    size = queue.size[0] - 1
    queue.size[0] = size
    s = queue.heap[size]
    if size > 0:
        i = 0
        while True:
            below = 2 * i + 1
            if below >= size:
                break
            if below + 1 < size and queue.priority[queue.heap[below + 1]] > queue.priority[queue.heap[below]]:
                below += 1
            x = queue.heap[below]
            if queue.priority[x] <= queue.priority[s]:
                break
            queue.heap[i] = x
            queue.place[x] = i
            i = below
        queue.heap[i] = s
        queue.place[s] = i
    return int(first)
