"""Generated worlds: random mazes and four rooms of any size.

A maze is a lattice of cells with walls between them. A random spanning tree of the lattice (the minimum spanning tree
of random weights) gives exactly one path between any two cells. Opening some of the remaining walls adds loops, so that
pairs of cells have several paths of different lengths.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Ints
from fwrl.errors import OptionError
from fwrl.worlds.grid import STEP_REWARD, grid_world, parse_grid
from fwrl.worlds.sizes import check_cells
from fwrl.worlds.world import World


def random_maze(
    width: int,
    height: int,
    seed: int,
    *,
    loops: float = 0.1,
    step_reward: float = STEP_REWARD,
) -> World:
    """Make the connected random maze `maze-WIDTHxHEIGHT-SEED`; the same seed gives the same maze.

    Args:
        width: In cells, outer walls included; odd, at least 3.
        height: In cells, outer walls included; odd, at least 3.
        seed: At least 0.
        loops: The share of walls left by the spanning tree to open.

    >>> maze = random_maze(21, 21, seed=7)
    >>> maze.name, int(maze.regions.max())
    ('maze-21x21-7', 0)
    """
    for side in (width, height):
        if side < 3 or side % 2 == 0:
            raise OptionError(
                f"expected an odd width and height of at least 3, got {width} x {height}; "
                "cells and the walls between them alternate"
            )
    if width * height == 9:
        raise OptionError("expected at least two cells, but a 3 x 3 maze has only one; make it larger, such as 5 x 3")
    check_cells(width * height, f"a maze of {width} x {height}")
    if not 0 <= loops <= 1:
        raise OptionError(f"expected a share of loops from 0 to 1, got {loops}")
    if seed < 0:
        raise OptionError(f"expected a seed of at least 0, got {seed}")
    floor = np.zeros((height, width), dtype=np.bool_)
    floor[1::2, 1::2] = True
    y, x = _openings(floor[1::2, 1::2].shape, loops, np.random.default_rng(seed))
    floor[y, x] = True
    name = f"maze-{width}x{height}-{seed}"
    described = f"A random maze of {width} x {height}, seed {seed}"
    return _world(floor, name, described, step_reward)


def four_rooms(size: int, *, step_reward: float = STEP_REWARD) -> World:
    """Make `four-rooms-SIZE`: a cross of walls with four doors, and a wall around it.

    Args:
        size: The side of the square inside the outer wall, in cells, at least 3; 9 is the paper's map.

    >>> four_rooms(32).n_states
    965
    """
    if size < 3:
        raise OptionError(f"expected four rooms of size 3 or more, got {size}")
    check_cells(size * size, f"a map of {size} x {size}")
    middle = (size + 1) // 2
    doors = [middle // 2, (middle + size + 2) // 2]
    floor = np.zeros((size + 2, size + 2), dtype=np.bool_)
    floor[1:-1, 1:-1] = True
    floor[middle, :] = floor[:, middle] = False
    floor[middle, doors] = floor[doors, middle] = True
    name = f"four-rooms-{size}"
    return _world(floor, name, f"Four rooms on {size} x {size} cells", step_reward)


def _openings(shape: tuple[int, int], loops: float, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Choose the (rows, columns) of the walls to open between the cells of a lattice."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    cell = np.arange(shape[0] * shape[1]).reshape(shape)
    one = np.concatenate([cell[:, :-1].ravel(), cell[:-1, :].ravel()])
    other = np.concatenate([cell[:, 1:].ravel(), cell[1:, :].ravel()])
    weight = 1 + rng.permutation(len(one)).astype(np.float64)
    ends = one.astype(np.int32), other.astype(np.int32)  # SciPy 1.17.0 can't do spanning trees with 64-bit indices
    lattice = csr_array((weight, ends), shape=(cell.size, cell.size))
    tree = minimum_spanning_tree(lattice).data.astype(np.int64) - 1
    wall = np.argsort(weight)
    left = rng.permutation(np.setdiff1d(np.arange(len(wall)), tree))
    opened = wall[np.concatenate([tree, left[: round(loops * len(left))]])]
    (y1, x1), (y2, x2) = np.divmod(one[opened], shape[1]), np.divmod(other[opened], shape[1])
    return 1 + y1 + y2, 1 + x1 + x2


def _world(floor: NDArray[np.bool_], name: str, described: str, step_reward: float) -> World:
    codes = np.where(floor, ord("."), ord("#")).astype(np.uint8)
    rows = [row.tobytes().decode("ascii") for row in codes]
    return grid_world(parse_grid([f"; {described}", *rows], name), name, step_reward=step_reward)
