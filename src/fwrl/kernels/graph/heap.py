"""States waiting their turn, highest key first: a heap in which a waiting state's key can rise.

A state that had its turn may be marked as done; it then does not wait again until the heap is cleared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

ABSENT, CLOSED = 0, -1  # places of states that do not wait


class Heap(NamedTuple):
    """A heap with four children a node, and where in it each state is."""

    state: Indices  # (S,)
    key: Floats  # (S,)
    place: Indices  # (S,) one more than the place in the heap, ABSENT or CLOSED
    closed: Indices  # (S,) the states that are done, in order,
    closed_key: Floats  # (S,) and the keys that their turns came with
    size: Ints  # (2,) how many wait, how many are done


def empty_heap(n_states: int) -> Heap:
    """Nobody waits."""
    ints = [np.zeros(n_states, np.int32) for _ in range(3)]
    return Heap(ints[0], np.zeros(n_states), ints[1], ints[2], np.zeros(n_states), np.zeros(2, np.int64))


@compiled
def push(heap: Heap, x: int, key: float) -> None:
    """Let x, unless it is done, wait with this key, or with the one it has if that is higher."""
    place = heap.place[x]
    if place == CLOSED or (place != ABSENT and heap.key[place - 1] >= key):
        return
    hole = place - 1
    if place == ABSENT:
        hole = heap.size[0]
        heap.size[0] = hole + 1
    while hole > 0:
        parent = (hole - 1) >> 2
        if heap.key[parent] >= key:
            break
        _put(heap, hole, heap.state[parent], heap.key[parent])
        hole = parent
    _put(heap, hole, x, key)


@compiled
def pop(heap: Heap) -> int:
    """The state with the highest key, which no longer waits; somebody must wait."""
    top = heap.state[0]
    size = heap.size[0] - 1
    heap.size[0] = size
    if size > 0:
        _sink(heap, size)
    heap.place[top] = ABSENT
    return int(top)


@compiled
def close(heap: Heap, x: int, key: float) -> None:
    """Mark x, whose turn came with this key, as done."""
    heap.place[x] = CLOSED
    heap.closed[heap.size[1]] = x
    heap.closed_key[heap.size[1]] = key
    heap.size[1] += 1


@compiled
def clear(heap: Heap) -> None:
    """Nobody waits, nobody is done."""
    for n in range(heap.size[0]):
        heap.place[heap.state[n]] = ABSENT
    for n in range(heap.size[1]):
        heap.place[heap.closed[n]] = ABSENT
    heap.size[0] = 0
    heap.size[1] = 0


@compiled
def _sink(heap: Heap, size: int) -> None:
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
        _put(heap, hole, heap.state[best], highest)
        hole = best
    _put(heap, hole, x, key)


@compiled
def _put(heap: Heap, hole: int, x: int, key: float) -> None:
    heap.state[hole] = x
    heap.key[hole] = key
    heap.place[x] = hole + 1
