"""How long it takes to leave a room of the four-rooms map, for a random walker and at best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.oracle import mean_first_passage
from fwrl.worlds import World

CROSS = 5  # the column and the row of the inner walls


class RoomExit(NamedTuple):
    """Steps until another room is entered, mean over all cells of all rooms."""

    random: float  # of a uniformly random walker
    shortest: float  # on the shortest path


def room_exit(world: World) -> RoomExit:
    """The exact steps from the cells of the four rooms into any other room.

    >>> from fwrl.worlds import load_world
    >>> leaving = room_exit(load_world("four-rooms"))
    >>> round(leaving.shortest, 2), leaving.random > 10 * leaving.shortest
    (3.62, True)
    """
    uniform = np.full((world.n_states, world.n_actions), 1 / world.n_actions)
    rooms = _rooms(world)
    random, shortest = [], []
    for room in range(4):
        inside, others = rooms == room, (rooms != room) & (rooms >= 0)
        random.append(mean_first_passage(world, uniform, others)[inside])
        shortest.append(world.distances_to(*np.flatnonzero(others).tolist())[inside])
    return RoomExit(float(np.concatenate(random).mean()), float(np.concatenate(shortest).mean()))


def _rooms(world: World) -> NDArray[np.int64]:
    """(S,) the room of each cell, 0 to 3; -1 for the doors between them."""
    x, y = np.array([world.position(s) for s in range(world.n_states)]).T
    room = (x > CROSS) + 2 * (y > CROSS)
    return np.where((x == CROSS) | (y == CROSS), -1, room).astype(np.int64)
