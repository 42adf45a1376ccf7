"""Worlds as boards: every cell of the map is a state, walls too.

A board of W x H cells has W H states, numbered row by row, so the state of a cell does not depend on where the walls
are. An agent therefore keeps what it knows when a wall is drawn or erased. The state of a wall leads only to itself,
and nothing leads to it. Numbers rise in the same order as in the world itself, so the same seeds draw the same starts
and the same outcomes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwrl.arrays import Ints
from fwrl.errors import FwrlError
from fwrl.worlds import World
from fwrl.worlds.grid import DIRECTIONS, Grid
from fwrl.worlds.listed import from_arrays
from fwrl.worlds.moves import compress
from fwrl.worlds.outcomes import Listed


def drawable(world: World) -> Grid:
    """The grid of a world, or an error if the page cannot draw it."""
    if world.grid is None or not set(world.action_names) <= set(DIRECTIONS):
        raise FwrlError(f"the world {world.name!r} is a table and cannot be drawn; choose one on a grid")
    return world.grid


def floor_cells(world: World) -> Ints:
    """The cells of a world's map that are not walls, in order.

    >>> from fwrl.worlds import load_world
    >>> floor_cells(load_world("h-maze")).tolist()
    [0, 2, 3, 4, 5, 6, 8]
    """
    return np.flatnonzero(drawable(world).states.ravel() >= 0)


def board_world(world: World) -> World:
    """The world with one state per cell.

    >>> from fwrl.worlds import load_world
    >>> board = board_world(load_world("h-maze"))
    >>> board.n_states, board.outcomes(1, 0)[0].next_state, board.outcomes(0, 1)[0].next_state
    (9, 1, 3)
    """
    grid = drawable(world)
    if world.n_states == grid.states.size:
        return world
    S, A, T = grid.states.size, world.n_actions, world.tables
    floor, walls = floor_cells(world), np.flatnonzero(grid.states.ravel() < 0)
    pair = np.repeat(np.arange(world.n_states * A), np.diff(T.first))
    stuck = np.repeat(walls, A)
    listed = Listed(
        np.concatenate([floor[pair // A], stuck]),
        np.concatenate([pair % A, np.tile(np.arange(A), len(walls))]),
        np.concatenate([T.probability, np.ones(len(stuck))]),
        np.concatenate([floor[T.next_state], stuck]),
        np.concatenate([T.reward, np.full(len(stuck), T.reward.max())]),
    )
    source = np.repeat(np.arange(world.n_states), np.diff(world.moves.first))
    y, x = np.divmod(np.arange(S), grid.states.shape[1])
    cells = np.where(grid.states >= 0, np.arange(S).reshape(grid.states.shape), -1)
    return from_arrays(
        world.name,
        S,
        A,
        listed,
        moves=compress(S, floor[source], floor[world.moves.target], world.moves.length),
        action_names=world.action_names,
        positions=np.stack([x, y], axis=1).astype(np.float64),
        grid=replace(grid, states=cells),
        description=world.description,
    )
