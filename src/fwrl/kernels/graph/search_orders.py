"""V(x), the best path reward from every state x to one goal, by one search backward from the goal.

    V(x) = max over edges x -> y of r(x, y) + V(y),   V(g) = 0,   all r <= 0

Three orders in which to expand states, each final when its turn comes:

- breadth first, where all rewards are equal: a state's first discovery is its best;
- by buckets (Dial 1969; Denardo and Fox 1979), where rewards are negative and of one order of magnitude: a bucket
  is a little narrower than the smallest cost, so no state within it can improve another, and a bucket's states
  come in any order. A state that improves is put into the better bucket too; the entry left behind is known by
  its number;
- by a heap with four children a node, where rewards are zero or of any size (Dijkstra 1959).

V comes out -inf where no path is known. Sums are taken from the goal backward in every order, and rounding keeps
order, so the result is the same to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]


class Buckets(NamedTuple):
    """A ring of stacks. Only the bottoms of most are ever touched, so the room is hardly paid for."""

    states: Indices  # (B, S)
    sizes: NDArray[np.int64]  # (B,)


class LazyHeap(NamedTuple):
    """A 4-ary heap of states, best on top. An improved state is put in anew, so E + 1 entries suffice."""

    state: Indices  # (E + 1,)
    key: Floats  # (E + 1,)


@compiled
def breadth_first(first: Indices, source: Indices, r: float, g: int, V: Floats, queue: Indices) -> None:
    """Fill V for edges that all pay `r`; `queue` (S,) is scratch."""
    V[:] = -np.inf
    V[g] = 0.0
    queue[0] = g
    head = 0
    tail = 1
    while head < tail:
        y = queue[head]
        head += 1
        through = r + V[y]
        for e in range(first[y], first[y + 1]):
            x = source[e]
            if V[x] == -np.inf:
                V[x] = through
                queue[tail] = x
                tail += 1


@compiled
def by_buckets(
    first: Indices, source: Indices, reward: Floats, width: float, g: int, V: Floats, buckets: Buckets
) -> None:
    """Fill V with buckets of `width`, which is less than any cost of an edge between two states.

    The ring must be longer than the largest cost in widths, plus two.
    """
    V[:] = -np.inf
    V[g] = 0.0
    per_reward = -1.0 / width
    ring = len(buckets.sizes)
    buckets.sizes[:] = 0
    buckets.states[0, 0] = g
    buckets.sizes[0] = 1
    waiting = 1
    number = 0
    while waiting > 0:
        slot = number % ring
        bucket = buckets.states[slot]
        size = buckets.sizes[slot]
        waiting -= size
        buckets.sizes[slot] = 0
        for n in range(size):
            y = bucket[n]
            here = V[y]
            if int(here * per_reward) != number:
                continue
            for e in range(first[y], first[y + 1]):
                x = source[e]
                through = reward[e] + here
                before = V[x]
                if through > before:
                    V[x] = through
                    better = int(through * per_reward)
                    if before == -np.inf or int(before * per_reward) != better:
                        b = better % ring
                        buckets.states[b, buckets.sizes[b]] = x
                        buckets.sizes[b] += 1
                        waiting += 1
        number += 1


@compiled
def by_heap(first: Indices, source: Indices, reward: Floats, g: int, V: Floats, heap: LazyHeap) -> None:
    """Fill V for any rewards that are not positive."""
    V[:] = -np.inf
    V[g] = 0.0
    heap.state[0] = g
    heap.key[0] = 0.0
    size = 1
    while size > 0:
        y = heap.state[0]
        here = heap.key[0]
        size -= 1
        if size > 0:
            _sink(heap, size)
        if here < V[y]:
            continue
        for e in range(first[y], first[y + 1]):
            x = source[e]
            through = reward[e] + here
            if through > V[x]:
                V[x] = through
                _rise(heap, size, x, through)
                size += 1


@compiled
def _rise(heap: LazyHeap, hole: int, x: int, key: float) -> None:
    """Put x where it belongs on the way from `hole` to the top."""
    while hole > 0:
        parent = (hole - 1) >> 2
        if heap.key[parent] >= key:
            break
        heap.state[hole] = heap.state[parent]
        heap.key[hole] = heap.key[parent]
        hole = parent
    heap.state[hole] = x
    heap.key[hole] = key


@compiled
def _sink(heap: LazyHeap, size: int) -> None:
    """Put the last entry, beyond `size`, where it belongs on the way from the top down."""
    x, key = heap.state[size], heap.key[size]
    hole = 0
    while True:
        child = 4 * hole + 1
        if child >= size:
            break
        best = child
        highest = heap.key[child]
        for other in range(child + 1, min(child + 4, size)):
            if heap.key[other] > highest:
                best = other
                highest = heap.key[other]
        if highest <= key:
            break
        heap.state[hole] = heap.state[best]
        heap.key[hole] = highest
        hole = best
    heap.state[hole] = x
    heap.key[hole] = key
