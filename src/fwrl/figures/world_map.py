"""Maps of worlds side by side, with walls, wind and costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fwrl.errors import FwrlError
from fwrl.figures.board import HIGHEST_COST, LINE, MUDDY, WALL, draw_board, grid_of
from fwrl.figures.palette import BLUE
from fwrl.figures.style import figure_of, sheet
from fwrl.worlds import World

Mark = Line2D | Patch


@figure_of
def world_map(worlds: Sequence[World]) -> Figure:
    """Maps of worlds side by side, each with its name below it, and a legend.

    Args:
        worlds: Worlds with maps, from left to right; at least one.

    Returns:
        The figure; `save` writes it.

    >>> from fwrl.worlds import load_world
    >>> figure = world_map([load_world("four-rooms"), load_world("windy-four-rooms")])
    >>> [axes.texts[0].get_text() for axes in figure.axes]
    ['Four rooms', 'Windy four rooms']
    """
    if not worlds:
        raise FwrlError("expected at least one world to draw, got none")
    figure = sheet(4.7 * len(worlds), 5.45)
    marks: dict[str, Mark] = {}
    for axes, world in zip(figure.subplots(1, len(worlds), squeeze=False)[0], worlds, strict=True):
        draw_board(axes, world)
        name = world.name.replace("-", " ")
        name = name[:1].upper() + name[1:]
        below: Any = {"transform": axes.transAxes, "ha": "center", "va": "top"}
        axes.text(0.5, -0.03, name, **below, fontsize=16, weight="bold")
        marks |= _marks(world)
    figure.legend(
        handles=list(marks.values()),
        labels=list(marks),
        loc="outside lower center",
        ncols=len(marks),
        frameon=False,
        handlelength=1.2,
    )
    return figure


def _marks(world: World) -> dict[str, Mark]:
    """The legend's entries for this map."""
    grid = grid_of(world)
    marks: dict[str, Mark] = {"wall": Patch(facecolor=WALL)}
    if (grid.wind >= 0).any():
        marks["wind"] = Line2D([], [], color=BLUE, marker=r"$\rightarrow$", linestyle="", markersize=15)
    for cost in sorted({int(c) for c in grid.cost[grid.states >= 0]} - {1}):
        shade = MUDDY((cost - 1) / (HIGHEST_COST - 1))
        marks[f"mud: a step costs {cost} times as much"] = Patch(facecolor=shade, edgecolor=LINE)
    return marks
