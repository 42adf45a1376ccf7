"""Navigation in a maze: cells coloured by their value for one goal, and the paths that a navigator took over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from fwrl.figures.palette import BLACK, BLUE, GREEN, INK, VERMILLION
from fwrl.figures.style import Figure, figure_of, sheet
from fwrl.figures.value_map import SHADES

Floats = NDArray[np.float64]

WALL = "#4A4A4A"
LINES = (BLUE, VERMILLION, GREEN, BLACK)


class Navigation(NamedTuple):
    """What is drawn on one board."""

    title: str
    walls: Floats  # (W, 2) centres of square walls
    unit: float  # width of a wall
    centres: Floats  # (S, 2) of the cells
    values: Floats  # (S,) expected steps to the goal, as negative numbers
    known: NDArray[np.bool_]  # (S,) whether the goal can be reached from the cell
    width: float  # of the cells
    goal: Floats  # (2,)
    paths: Sequence[Floats]  # (T, 2) each
    data: Sequence[Floats]  # a few episodes of the data


@figure_of
def navigation_figure(boards: Sequence[Navigation]) -> Figure:
    """Boards beside each other."""
    figure = sheet(7.2 * len(boards), 7.0)
    for axes, board in zip(figure.subplots(1, len(boards), squeeze=False)[0], boards, strict=True):
        _draw(axes, board)
    return figure


def _draw(axes: Axes, board: Navigation) -> None:
    half = board.unit / 2
    squares = [Rectangle((x - half, y - half), board.unit, board.unit) for x, y in board.walls]
    axes.add_collection(PatchCollection(squares, facecolor=WALL, edgecolor="none", zorder=1))
    painted = _paint_cells(axes, board)
    for episode in board.data:
        axes.plot(episode[:, 0], episode[:, 1], color="white", linewidth=1.4, zorder=2)
    for k, path in enumerate(board.paths):
        colour = LINES[k % len(LINES)]
        axes.plot(path[:, 0], path[:, 1], color=colour, linewidth=2.6, zorder=3)
        axes.plot(path[0, 0], path[0, 1], marker="o", markersize=9, color=colour, zorder=4)
    axes.plot(*board.goal, marker="*", markersize=20, color=INK, markerfacecolor="#FFD700", zorder=5)
    axes.set_title(board.title)
    axes.set_xlim(board.walls[:, 0].min() - half, board.walls[:, 0].max() + half)
    axes.set_ylim(board.walls[:, 1].max() + half, board.walls[:, 1].min() - half)  # row 0 at the top
    axes.set_aspect("equal")
    axes.set_axis_off()
    bar = axes.figure.colorbar(painted, ax=axes, orientation="horizontal", shrink=0.7, pad=0.02)
    bar.set_label("expected steps to the goal (star); white: some episodes of the data")


def _paint_cells(axes: Axes, board: Navigation) -> PatchCollection:
    """Cells as squares around their centres, coloured by value; grey where no way is known."""
    half = board.width / 2
    cells = [Rectangle((x - half, y - half), board.width, board.width) for x, y in board.centres]
    grey = [cell for cell, known in zip(cells, board.known, strict=True) if not known]
    axes.add_collection(PatchCollection(grey, facecolor="#E4E4E4", edgecolor="none", zorder=0))
    shaded = PatchCollection(
        [c for c, known in zip(cells, board.known, strict=True) if known], edgecolor="none", zorder=0
    )
    shaded.set_array(-board.values[board.known])
    shaded.set_cmap(SHADES.reversed())
    axes.add_collection(shaded)
    return shaded
