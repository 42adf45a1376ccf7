"""The cost d(x) of the cheapest path from every state to one goal, by one search backward from the goal.

    d(x) = min over edges x -> y of c(x, y) + d(y),   d(g) = 0

Three orders in which to expand states, each final when its turn comes:

- breadth first, where all costs are equal: a state's first discovery is its best;
- by buckets (Dial 1969; Denardo and Fox 1979), where costs are positive and of one order of magnitude: a bucket
  is a little narrower than the smallest cost, so no state within it can improve another, and a bucket's states
  come in any order. A state that improves moves by being put into the better bucket too; the entry left behind is
  known by its number;
- by a heap with four children a node, where costs are zero or of any size (Dijkstra 1959).

c >= 0; d comes out inf where no path is known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.compiled import compiled

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]


class Buckets(NamedTuple):
    """A ring of stacks. Only their tops are ever touched, so the room is mostly never paid for."""

    states: Indices  # (B, S)
    sizes: NDArray[np.int64]  # (B,)


class Heap(NamedTuple):
    """A 4-ary heap of states, cheapest on top. An improved state is put in anew, so E + 1 entries suffice."""

    state: Indices  # (E + 1,)
    key: Floats  # (E + 1,)


@compiled
def breadth_first(first: Indices, source: Indices, c: float, g: int, d: Floats, queue: Indices) -> None:
    """Fill d for edges that all cost `c`; `queue` (S,) is room."""
    d[:] = np.inf
    d[g] = 0.0
    queue[0] = g
    head = 0
    tail = 1
    while head < tail:
        y = queue[head]
        head += 1
        onward = d[y] + c
        for e in range(first[y], first[y + 1]):
            x = source[e]
            if d[x] == np.inf:
                d[x] = onward
                queue[tail] = x
                tail += 1


@compiled
def by_buckets(
    first: Indices, source: Indices, cost: Floats, per_width: float, g: int, d: Floats, buckets: Buckets
) -> None:
    """Fill d with a bucket for every 1 / `per_width` of cost: less than any cost of an edge between two states.

    The ring must be longer than the largest cost times `per_width`, plus two.
    """
    d[:] = np.inf
    d[g] = 0.0
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
            here = d[y]
            if int(here * per_width) != number:
                continue
            for e in range(first[y], first[y + 1]):
                x = source[e]
                through = here + cost[e]
                before = d[x]
                if through < before:
                    d[x] = through
                    better = int(through * per_width)
                    if before == np.inf or int(before * per_width) != better:
                        b = better % ring
                        buckets.states[b, buckets.sizes[b]] = x
                        buckets.sizes[b] += 1
                        waiting += 1
        number += 1


@compiled
def by_heap(first: Indices, source: Indices, cost: Floats, g: int, d: Floats, heap: Heap) -> None:
    """Fill d for any costs that are not negative."""
    d[:] = np.inf
    d[g] = 0.0
    heap.state[0] = g
    heap.key[0] = 0.0
    size = 1
    while size > 0:
        y = heap.state[0]
        here = heap.key[0]
        size -= 1
        if size > 0:
            _sink(heap, size)
        if here > d[y]:
            continue
        for e in range(first[y], first[y + 1]):
            x = source[e]
            through = here + cost[e]
            if through < d[x]:
                d[x] = through
                _rise(heap, size, x, through)
                size += 1


@compiled
def _rise(heap: Heap, hole: int, x: int, key: float) -> None:
    """Put x where it belongs on the way from `hole` to the top."""
    while hole > 0:
        parent = (hole - 1) >> 2
        if heap.key[parent] <= key:
            break
        heap.state[hole] = heap.state[parent]
        heap.key[hole] = heap.key[parent]
        hole = parent
    heap.state[hole] = x
    heap.key[hole] = key


@compiled
def _sink(heap: Heap, size: int) -> None:
    """Put the last entry, beyond `size`, where it belongs on the way from the top down."""
    x, key = heap.state[size], heap.key[size]
    hole = 0
    while True:
        child = 4 * hole + 1
        if child >= size:
            break
        least = child
        lowest = heap.key[child]
        for other in range(child + 1, min(child + 4, size)):
            if heap.key[other] < lowest:
                least = other
                lowest = heap.key[other]
        if lowest >= key:
            break
        heap.state[hole] = heap.state[least]
        heap.key[hole] = lowest
        hole = least
    heap.state[hole] = x
    heap.key[hole] = key
