"""How long a random walker stays in a room: exactly, by one linear system."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.worlds import World

CROSS = 5  # the column and the row of four rooms' inner walls


class Stay(NamedTuple):
    """Means over all cells of all rooms, in steps."""

    random: float  # until a random walker stands in another room
    shortest: float  # until one who knows the way does


def random_stay(world: World) -> Stay:
    """How long it takes from a cell of the four rooms into any other room, at random and at best.

    >>> from fwrl.worlds import load_world
    >>> stay = random_stay(load_world("four-rooms"))
    >>> round(stay.shortest, 2), stay.random > 10 * stay.shortest
    (3.62, True)
    """
    S, A, T = world.n_states, world.n_actions, world.tables
    walk = np.zeros((S, S))
    source = np.repeat(np.arange(S * A), np.diff(T.first)) // A
    np.add.at(walk, (source, T.next_state), T.probability / A)
    room = _rooms(world)
    distance = np.array([world.distances_to(g) for g in range(S)]).T
    random, shortest = [], []
    for one in range(4):
        elsewhere = (room != one) & (room >= 0)
        stay = np.flatnonzero(~elsewhere)
        steps = np.linalg.solve(np.eye(len(stay)) - walk[np.ix_(stay, stay)], np.ones(len(stay)))
        inside = room[stay] == one
        random += steps[inside].tolist()
        shortest += distance[np.ix_(stay[inside], np.flatnonzero(elsewhere))].min(axis=1).tolist()
    return Stay(float(np.mean(random)), float(np.mean(shortest)))


def _rooms(world: World) -> NDArray[np.int64]:
    """(S,) the room of each cell, 0 to 3; -1 for the doors between them."""
    x, y = np.array([world.position(s) for s in range(world.n_states)]).T
    room = (x > CROSS) + 2 * (y > CROSS)
    return np.where((x == CROSS) | (y == CROSS), -1, room).astype(np.int64)
