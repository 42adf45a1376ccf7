"""Indexed max-heap of states, with increase-key.

A node has four children (Johnson 1975). `place` finds the entry of a state, so keys are raised in place. A closed state
can't be pushed again.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from fwrl.arrays import Field, Floats, Indices, Ints
from fwrl.kernels.jit import compiled, inner, widened

OPEN = 0  # of `size`
ABSENT, CLOSED = 0, -1  # of `place`
BITS = 2  # of the number of children


class Heap(NamedTuple):
    """Entries in heap order, and the entry of each state."""

    state: Annotated[Indices, Field("S", np.int32, least=0, most="S")]
    key: Annotated[Floats, Field("S")]
    place: Annotated[Indices, Field("S", np.int32, least=0)]  # one more than its position, ABSENT or CLOSED
    size: Annotated[Ints, Field("1", np.int64, least=0)]  # number of entries (OPEN)

    def sound(self) -> bool:
        """Check that the entries are different states, found by `place`."""
        entries = self.state[: self.size[OPEN]]
        place = np.zeros(len(self.place), np.int32)
        place[entries] = np.arange(1, len(entries) + 1)
        return len(entries) == self.size[OPEN] and np.array_equal(place, self.place)


@compiled
def push(heap: Heap, x: int, key: float) -> None:
    """Insert x, or raise its key; nothing changes if x is closed or its key is already as high."""
    place = heap.place[x]
    if place == CLOSED or (place != ABSENT and heap.key[place - 1] >= key):
        return
    hole = place - 1
    if place == ABSENT:
        hole = heap.size[OPEN]
        heap.size[OPEN] = hole + 1
    while hole > 0:
        parent = (hole - 1) >> BITS
        if heap.key[parent] >= key:
            break
        _put(heap, hole, widened(heap.state[parent]), heap.key[parent])
        hole = parent
    _put(heap, hole, x, key)


@compiled
def pop(heap: Heap) -> int:
    """Remove the state with the highest key and return it; the heap must not be empty."""
    top = heap.state[0]
    size = heap.size[OPEN] - 1
    heap.size[OPEN] = size
    if size > 0:
        _sift_down(heap, size)
    heap.place[top] = ABSENT
    return widened(top)


@compiled
def close(heap: Heap, x: int) -> None:
    """Close x, just popped."""
    heap.place[x] = CLOSED


@compiled
def clear(heap: Heap) -> None:
    """Remove all entries, in time proportional to their number; closed states stay closed."""
    for i in range(heap.size[OPEN]):
        heap.place[heap.state[i]] = ABSENT
    heap.size[OPEN] = 0


@inner
def _sift_down(heap: Heap, size: int) -> None:
    """Move the entry at position `size` to the top and down to where it belongs."""
    x, key = widened(heap.state[size]), heap.key[size]
    hole = widened(0)
    while True:
        child = (hole << BITS) + 1
        if child >= size:
            break
        best = child
        highest = heap.key[child]
        for other in range(child + 1, min(child + (1 << BITS), size)):
            if heap.key[other] > highest:
                best = other
                highest = heap.key[other]
        if highest <= key:
            break
        _put(heap, hole, widened(heap.state[best]), highest)
        hole = best
    _put(heap, hole, x, key)


@inner
def _put(heap: Heap, hole: int, x: int, key: float) -> None:
    heap.state[hole] = x
    heap.key[hole] = key
    heap.place[x] = hole + 1
