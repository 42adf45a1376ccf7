"""Indexed max-heap of states, with increase-key and a closed set.

A node has 2^bits children, four unless the caller says otherwise (Johnson 1975). `place` finds the entry of a state, so
that a key is raised in place. A state in the closed set cannot be pushed again until the heap is cleared. Which of
several equal keys is popped first depends on the number of children.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

OPEN, CLOSED = 0, 1  # of `size`
ABSENT, IN_CLOSED_SET = 0, -1  # of `place`
FOUR_CHILDREN = 2  # bits


class Heap(NamedTuple):
    """Entries in heap order, the entry of each state, and the closed set."""

    state: Indices  # (S,)
    key: Floats  # (S,)
    place: Indices  # (S,) one more than a state's position in the heap, ABSENT or IN_CLOSED_SET
    closed: Indices  # (S,) the closed set, in the order of closing
    closed_key: Floats  # (S,) the key that each was closed with
    size: Ints  # (2,) number of entries (OPEN), size of the closed set (CLOSED)


def empty_heap(n_states: int) -> Heap:
    """No entries, and an empty closed set."""
    ints = [np.zeros(n_states, np.int32) for _ in range(3)]
    return Heap(ints[0], np.zeros(n_states), ints[1], ints[2], np.zeros(n_states), np.zeros(2, np.int64))


@compiled
def push(heap: Heap, x: int, key: float, bits: int = FOUR_CHILDREN) -> None:
    """Insert x, or raise its key; nothing changes if x has a key as high, or is closed."""
    place = heap.place[x]
    if place == IN_CLOSED_SET or (place != ABSENT and heap.key[place - 1] >= key):
        return
    hole = place - 1
    if place == ABSENT:
        hole = heap.size[OPEN]
        heap.size[OPEN] = hole + 1
    while hole > 0:
        parent = (hole - 1) >> bits
        if heap.key[parent] >= key:
            break
        _put(heap, hole, heap.state[parent], heap.key[parent])
        hole = parent
    _put(heap, hole, x, key)


@compiled
def pop(heap: Heap, bits: int = FOUR_CHILDREN) -> int:
    """Remove the state with the highest key and return it; the heap must not be empty."""
    top = heap.state[0]
    size = heap.size[OPEN] - 1
    heap.size[OPEN] = size
    if size > 0:
        _sift_down(heap, size, bits)
    heap.place[top] = ABSENT
    return int(top)


@compiled
def close(heap: Heap, x: int, key: float) -> None:
    """Add x, just popped with this key, to the closed set."""
    heap.place[x] = IN_CLOSED_SET
    heap.closed[heap.size[CLOSED]] = x
    heap.closed_key[heap.size[CLOSED]] = key
    heap.size[CLOSED] += 1


@compiled
def is_closed(heap: Heap, x: int) -> bool:
    """Whether x is in the closed set."""
    return bool(heap.place[x] == IN_CLOSED_SET)


@compiled
def clear(heap: Heap) -> None:
    """Empty the heap and the closed set, in time proportional to their sizes."""
    for i in range(heap.size[OPEN]):
        heap.place[heap.state[i]] = ABSENT
    for i in range(heap.size[CLOSED]):
        heap.place[heap.closed[i]] = ABSENT
    heap.size[OPEN] = 0
    heap.size[CLOSED] = 0


@compiled
def _sift_down(heap: Heap, size: int, bits: int) -> None:
    """Move the entry at position `size` to the top and down to where it belongs."""
    x, key = heap.state[size], heap.key[size]
    hole = 0
    while True:
        child = (hole << bits) + 1
        if child >= size:
            break
        best = child
        highest = heap.key[child]
        for other in range(child + 1, min(child + (1 << bits), size)):
            if heap.key[other] > highest:
                best = other
                highest = heap.key[other]
        if highest <= key:
            break
        _put(heap, hole, heap.state[best], highest)
        hole = best
    _put(heap, hole, x, key)


@compiled
def _put(heap: Heap, hole: int, x: int, key: float) -> None:
    heap.state[hole] = x
    heap.key[hole] = key
    heap.place[x] = hole + 1
