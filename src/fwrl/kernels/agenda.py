"""States waiting their turn, highest key first: a heap in which a waiting state's key can rise.

A state that had its turn may be marked as done; it then does not wait again until the agenda is cleared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

AWAY, DONE = 0, -1  # places of states that do not wait


class Agenda(NamedTuple):
    """A heap with four children a node, and where in it each state is."""

    state: Indices  # (S,)
    key: Floats  # (S,)
    place: Indices  # (S,) one more than the place in the heap, AWAY or DONE
    done: Indices  # (S,) the states that are done, in order,
    done_key: Floats  # (S,) and the keys that their turns came with
    size: Ints  # (2,) how many wait, how many are done


def empty_agenda(n_states: int) -> Agenda:
    """Nobody waits."""
    ints = [np.zeros(n_states, np.int32) for _ in range(3)]
    return Agenda(ints[0], np.zeros(n_states), ints[1], ints[2], np.zeros(n_states), np.zeros(2, np.int64))


@compiled
def wait(agenda: Agenda, x: int, key: float) -> None:
    """Let x, unless it is done, wait with this key, or with the one it has if that is higher."""
    place = agenda.place[x]
    if place == DONE or (place != AWAY and agenda.key[place - 1] >= key):
        return
    hole = place - 1
    if place == AWAY:
        hole = agenda.size[0]
        agenda.size[0] = hole + 1
    while hole > 0:
        parent = (hole - 1) >> 2
        if agenda.key[parent] >= key:
            break
        _put(agenda, hole, agenda.state[parent], agenda.key[parent])
        hole = parent
    _put(agenda, hole, x, key)


@compiled
def next_in_turn(agenda: Agenda) -> int:
    """The state with the highest key, which no longer waits; somebody must wait."""
    top = agenda.state[0]
    size = agenda.size[0] - 1
    agenda.size[0] = size
    if size > 0:
        _sink(agenda, size)
    agenda.place[top] = AWAY
    return int(top)


@compiled
def finish(agenda: Agenda, x: int, key: float) -> None:
    """Mark x, whose turn came with this key, as done."""
    agenda.place[x] = DONE
    agenda.done[agenda.size[1]] = x
    agenda.done_key[agenda.size[1]] = key
    agenda.size[1] += 1


@compiled
def clear(agenda: Agenda) -> None:
    """Nobody waits, nobody is done."""
    for n in range(agenda.size[0]):
        agenda.place[agenda.state[n]] = AWAY
    for n in range(agenda.size[1]):
        agenda.place[agenda.done[n]] = AWAY
    agenda.size[0] = 0
    agenda.size[1] = 0


@compiled
def _sink(agenda: Agenda, size: int) -> None:
    """Put the last entry, beyond `size`, where it belongs on the way from the top down."""
    x, key = agenda.state[size], agenda.key[size]
    hole = 0
    while True:
        child = 4 * hole + 1
        if child >= size:
            break
        best = child
        highest = agenda.key[child]
        for other in range(child + 1, min(child + 4, size)):
            if agenda.key[other] > highest:
                best = other
                highest = agenda.key[other]
        if highest <= key:
            break
        _put(agenda, hole, agenda.state[best], highest)
        hole = best
    _put(agenda, hole, x, key)


@compiled
def _put(agenda: Agenda, hole: int, x: int, key: float) -> None:
    agenda.state[hole] = x
    agenda.key[hole] = key
    agenda.place[x] = hole + 1
