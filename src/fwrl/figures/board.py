"""A world's map on axes: cell (x, y) is the unit square around that point, y downwards as in the map."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.patches import Rectangle
from numpy.typing import ArrayLike, NDArray

from fwrl.errors import FwrlError
from fwrl.figures.palette import BLUE, GREEN
from fwrl.worlds import World
from fwrl.worlds.grid import DIRECTIONS, Grid

WALL = "#3A3F4A"
FLOOR = "#FFFFFF"
LINE = "#D5D5D5"
MUD = "#9A6B3F"
MUDDY = LinearSegmentedColormap.from_list("mud", [FLOOR, MUD])
LETTER: dict[str, Any] = {"color": "white", "weight": "bold", "ha": "center", "va": "center", "zorder": 6}
HIGHEST_COST = 9  # of a cell in a map


def grid_of(world: World) -> Grid:
    """The map of a world, or an error if it has none."""
    if world.grid is None:
        raise FwrlError(f"the world {world.name!r} has no map to draw; expected a world with a map")
    return world.grid


def draw_board(axes: Axes, world: World, *, wall: str = WALL) -> None:
    """Draw walls, floor, the cost of each cell and the wind as arrows, without axis lines."""
    grid = grid_of(world)
    height, width = grid.states.shape
    axes.set_xlim(-0.5, width - 0.5)
    axes.set_ylim(height - 0.5, -0.5)
    axes.set_aspect("equal")
    axes.set_axis_off()
    for (y, x), state in np.ndenumerate(grid.states):
        ground = wall if state < 0 else MUDDY((grid.cost[y, x] - 1) / (HIGHEST_COST - 1))
        edge = wall if state < 0 else LINE
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=ground, edgecolor=edge, linewidth=0.8))
    axes.add_patch(Rectangle((-0.5, -0.5), width, height, fill=False, edgecolor=wall, linewidth=2, clip_on=False))
    _draw_wind(axes, grid)


def places(world: World, states: ArrayLike) -> NDArray[np.float64]:
    """(n, 2) the positions of a sequence of states."""
    y, x = grid_of(world).cells
    visited = np.asarray(states, dtype=np.int64)
    return np.stack([x[visited], y[visited]], axis=1).astype(np.float64)


def draw_goal(axes: Axes, x: float, y: float) -> list[Artist]:
    """A green cell with a G on it."""
    cell = Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=GREEN, edgecolor=LINE, linewidth=0.8, zorder=3)
    return [axes.add_patch(cell), axes.text(x, y, "G", fontsize=20, **LETTER)]


def draw_start(axes: Axes, x: float, y: float) -> list[Artist]:
    """A blue frame with an S in its corner; the cell's value stays visible."""
    frame = Rectangle((x - 0.46, y - 0.46), 0.92, 0.92, fill=False, edgecolor=BLUE, linewidth=4, zorder=3)
    corner = Rectangle((x - 0.48, y - 0.48), 0.28, 0.28, color=BLUE, zorder=3)
    letter = axes.text(x - 0.34, y - 0.34, "S", fontsize=14, **LETTER)
    return [axes.add_patch(frame), axes.add_patch(corner), letter]


def _draw_wind(axes: Axes, grid: Grid) -> None:
    offsets = np.array(list(DIRECTIONS.values())[:4], dtype=np.float64)
    y, x = np.nonzero(grid.wind >= 0)
    if len(y):
        blow = 0.7 * offsets[grid.wind[y, x]]
        axes.quiver(
            x - blow[:, 0] / 2,
            y - blow[:, 1] / 2,
            blow[:, 0],
            blow[:, 1],
            color=BLUE,
            angles="xy",
            scale_units="xy",
            scale=1,
            width=0.009,
            headwidth=4.5,
            headlength=4.5,
            headaxislength=4.5,
        )
