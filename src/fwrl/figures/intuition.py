"""The paper's visual abstract, drawn from a real run.

Two trips, s1 to g1 and s2 to g2, share a state. The third, s2 to g1, was never made; it is stitched from the two.
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.errors import FwrlError
from fwrl.figures.board import draw_board, grid_of, places
from fwrl.figures.palette import BLUE, INK, ORANGE, VERMILLION
from fwrl.figures.style import NOTE, figure_of, sheet
from fwrl.worlds import World

FIRST, SECOND, THIRD = BLUE, ORANGE, VERMILLION
DOTTED = (0, (0.1, 1.7))
LINE_LENGTH = 72  # characters of a caption
ASIDE = 0.16  # of a cell: the distance between trips that share cells


@figure_of
def intuition(world: World, first: ArrayLike, second: ArrayLike, third: ArrayLike, shared: int, caption: str) -> Figure:
    """Three trips as sequences of states, the third dotted.

    Args:
        first: (n,) the states of the trip from s1 to g1.
        second: (n,) the states of the trip from s2 to g2; trips may differ in length.
        third: (n,) the states of the trip from s2 to g1, which is stitched from the other two.
        shared: The state that the first two trips share; it gets a ring.
        caption: Text below the map.

    Returns:
        The figure; `save` writes it.

    >>> from fwrl.worlds import load_world
    >>> figure = intuition(load_world("h-maze"), [0, 2, 3, 4, 6], [5, 2, 3, 4, 1], [5, 2, 3, 4, 6], 3, "stitched")
    >>> sorted(text.get_text() for text in figure.axes[0].texts if text.get_text())
    ['g1', 'g2', 's1', 's2', 'shared state']
    """
    trips = [np.asarray(trip, dtype=np.int64) for trip in (first, second, third)]
    if any(not len(trip) for trip in trips):
        raise FwrlError("expected three trips of at least one state each, got an empty one")
    height, width = grid_of(world).states.shape
    figure = sheet(7.4, 0.9 + 7.4 * height / width)
    axes = figure.add_subplot()
    draw_board(axes, world)
    for trip, colour, aside, line in zip(
        trips, (FIRST, SECOND, THIRD), (-ASIDE, ASIDE, 0.0), ("-", "-", DOTTED), strict=True
    ):
        _draw_trip(axes, places(world, trip) + aside, colour, line)
    _mark_shared(axes, places(world, [shared])[0], np.array([width - 1, height - 1]) / 2)
    for name, state, colour in (
        ("s1", trips[0][0], FIRST),
        ("g1", trips[0][-1], FIRST),
        ("s2", trips[1][0], SECOND),
        ("g2", trips[1][-1], SECOND),
    ):
        _mark_end(axes, places(world, [state])[0], name, colour)
    _add_legend(figure, caption)
    return figure


def _draw_trip(axes: Axes, path: Floats, colour: str, line: Any) -> None:
    """The path as a line, and an arrow head in the middle of every other move."""
    dotted = line is DOTTED
    axes.plot(
        path[:, 0],
        path[:, 1],
        color=colour,
        linestyle=line,
        linewidth=5 if dotted else 3.5,
        dash_capstyle="round",
        solid_capstyle="round",
        solid_joinstyle="round",
        zorder=4 if dotted else 3,
    )
    step = np.diff(path, axis=0)
    middle = path[:-1] + step / 2
    heads = np.flatnonzero(np.abs(step).sum(axis=1))[1::2]
    for k in () if dotted else heads:
        tip, tail = middle[k] + 0.1 * step[k], middle[k] - 0.1 * step[k]
        axes.annotate(
            "",
            tip,
            tail,
            arrowprops={"arrowstyle": "-|>,head_width=0.45,head_length=0.6", "color": colour, "linewidth": 0},
            zorder=3,
        )


def _mark_shared(axes: Axes, at: Floats, centre: Floats) -> None:
    """A ring around the shared state, with its label towards the centre so that it stays on the map."""
    right, up = at[0] <= centre[0], at[1] > centre[1]
    axes.plot(*at, marker="o", markersize=30, color="none", markeredgecolor=INK, markeredgewidth=2.5, zorder=5)
    axes.annotate(
        "shared state",
        (at[0], at[1]),
        (30 if right else -30, 26 if up else -26),
        textcoords="offset points",
        ha="left" if right else "right",
        fontsize=14,
        weight="bold",
        va="center",
        bbox={"boxstyle": "round,pad=0.25", "facecolor": "white", "edgecolor": INK, "linewidth": 1},
        arrowprops={"arrowstyle": "-", "color": INK, "linewidth": 1.5, "shrinkB": 15},
        zorder=7,
    )


def _mark_end(axes: Axes, at: Floats, name: str, colour: str) -> None:
    """Starts are round, goals square."""
    shape = "circle,pad=0.28" if name.startswith("s") else "square,pad=0.36"
    axes.text(
        at[0],
        at[1],
        name,
        color="white",
        weight="bold",
        fontsize=14,
        ha="center",
        va="center",
        bbox={"boxstyle": shape, "facecolor": colour, "edgecolor": "white", "linewidth": 1.5},
        zorder=6,
    )


def _add_legend(figure: Figure, caption: str) -> None:
    dots: Any = {"linewidth": 5, "linestyle": DOTTED, "dash_capstyle": "round"}
    figure.legend(
        handles=[
            Line2D([], [], color=FIRST, linewidth=3.5, label="trip 1: s1 to g1"),
            Line2D([], [], color=SECOND, linewidth=3.5, label="trip 2: s2 to g2"),
            Line2D([], [], color=THIRD, **dots, label="stitched: s2 to g1"),
        ],
        loc="outside upper center",
        ncols=3,
        frameon=False,
        columnspacing=1.4,
        handlelength=1.8,
    )
    lines = -(-len(caption) // LINE_LENGTH)
    balanced = textwrap.fill(caption, len(caption) // max(lines, 1) + 8)
    figure.supxlabel(balanced, fontsize=NOTE + 1)
