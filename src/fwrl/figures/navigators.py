"""Pictures of navigators: cells, the plan for a goal, the modes of a hand, and paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from fwrl.arrays import Floats
from fwrl.figures.palette import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, VERMILLION
from fwrl.figures.style import NOTE, figure_of, sheet
from fwrl.figures.value_map import SHADES, UNKNOWN

if TYPE_CHECKING:
    from fwrl.navigator.hand import Hand
    from fwrl.navigator.navigator import Navigator

THINGS = (VERMILLION, ORANGE, GREEN, PURPLE)
SIDE = 3.6  # inches of a panel


@figure_of
def navigator_figure(navigator: Navigator, goal: Any, rows: Any) -> Figure:
    """A row for each view, from above and from the side.

    Args:
        goal: what `aim` was told; None for no goal.
        rows: points, or observations of a hand; None for no path.
    """
    hand, p = navigator.hand, len(navigator.scale)
    views = [(0, 1), (0, 2)] if p > 2 else [(0, min(1, p - 1))]
    shown = rows is not None
    columns = 1 if hand is None else len(hand.things) + (hand.switches is not None) + shown
    side = 6.0 if hand is None else SIDE
    figure = sheet(side * columns if columns > 1 else 1.8 * side, (side + 0.4) * len(views))
    panels = figure.subplots(len(views), columns, squeeze=False)
    for row, (x, y) in zip(panels, views, strict=True):
        if hand is None:
            _plane(row[0], navigator, goal, rows, x, y)
        else:
            rest = _modes(iter(row.flat), hand, x, y)
            if shown:
                _paths(next(rest), hand, rows, x, y)
    return figure


def _plane(axes: Axes, navigator: Navigator, goal: Any, rows: Any, x: int, y: int) -> None:
    """Cells coloured by the steps to a goal, and a path."""
    centres = (navigator.cells.centres * navigator.scale)[:, [x, y]]
    width, height = navigator.cells.width * navigator.scale[[x, y]]
    squares = [Rectangle((a - width / 2, b - height / 2), width, height) for a, b in centres]
    cells = PatchCollection(squares, facecolor=UNKNOWN, edgecolor="white", linewidth=0.5)
    axes.add_collection(cells)
    axes.autoscale_view()
    if goal is not None:
        plan = navigator.plan(goal)
        known = plan.arrival > 0.0
        known[plan.goal] = True
        cells.set_array(np.ma.masked_where(~known, -plan.value))
        cells.set_cmap(SHADES.reversed().with_extremes(bad=UNKNOWN))
        axes.figure.colorbar(cells, ax=axes, shrink=0.7, pad=0.02).set_label("expected steps", fontsize=NOTE)
        axes.plot(*np.asarray(goal)[[x, y]], "*", color=INK, markerfacecolor="#FFD700", markersize=18)
    if rows is not None:
        path = np.atleast_2d(np.asarray(rows, np.float64))
        axes.plot(path[:, x], path[:, y], color=VERMILLION, linewidth=2.2)
        axes.plot(*path[0, [x, y]], "o", color=VERMILLION, markeredgecolor="white", markersize=9)
    axes.set_title("from the circle to the star" if rows is not None and goal is not None else "cells", fontsize=12)
    axes.set_aspect("equal", adjustable="datalim")


def _modes(axes: Iterator[Axes], hand: Hand, x: int, y: int) -> Iterator[Axes]:
    """The cells around each thing and those of switches; return the axes that are left."""
    for number, (name, model) in enumerate(zip(hand.scene.things, hand.things, strict=True)):
        plan = hand.plan(number, "grasp").plan
        values = plan.value[: len(model.cells)]
        _cells(next(axes), model.cells.centres, values, model.held, x, y, f"the hand, as {name} sees it")
    if hand.switches is not None:
        graph, cells = hand.switches.graph, hand.switches.cells
        seen_in = np.asarray(np.bincount(graph.source, graph.episodes, len(cells)), np.float64)
        one = next(axes)
        _cells(one, cells.centres, seen_in, np.zeros(len(cells), np.bool_), x, y, "the hand; crosses: presses")
        one.plot(*hand.switches.places[:, [x, y]].T, "x", color=VERMILLION, markersize=9)
    return axes


def _cells(axes: Axes, centres: Floats, values: Floats, held: NDArray[np.bool_], x: int, y: int, title: str) -> None:
    """Cells where they are, the most promising on top, with the cells of the mode held marked."""
    order = np.argsort(values)
    axes.scatter(centres[order, x], centres[order, y], c=values[order], cmap=SHADES, s=14, linewidths=0)
    if held.any():
        axes.plot(*centres[held][:, [x, y]].T, "o", color=VERMILLION, markersize=5, label="held")
        axes.legend(fontsize=NOTE, frameon=False, loc="upper right")
    axes.set_title(title, fontsize=12)
    axes.set_aspect("equal", adjustable="datalim")


def _paths(axes: Axes, hand: Hand, rows: Any, x: int, y: int) -> None:
    """The paths of hand and things; squares are where things ended."""
    seen = hand.scene.seen(rows)
    axes.plot(seen.hand[:, x], seen.hand[:, y], color=GREY, linewidth=1.2, label="hand")
    for number, (name, model) in enumerate(zip(hand.scene.things, hand.things, strict=True)):
        place, colour = model.attachment.place(seen.things[number]), THINGS[number % len(THINGS)]
        axes.plot(place[:, x], place[:, y], color=colour, linewidth=2.2, label=name)
        axes.plot(*place[-1, [x, y]], "s", color=colour, markeredgecolor="white", markersize=11)
    axes.plot(*seen.hand[0, [x, y]], "o", color=BLUE, markeredgecolor=INK, markersize=8)
    axes.legend(fontsize=NOTE, frameon=False, loc="upper right")
    axes.set_title("paths", fontsize=12)
    axes.set_aspect("equal", adjustable="datalim")
