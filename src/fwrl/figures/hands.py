"""What a navigator with a hand knows and did: cells and modes as a thing sees the hand, and paths over the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fwrl.arrays import Floats
from fwrl.figures.palette import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, VERMILLION
from fwrl.figures.style import NOTE, figure_of, sheet
from fwrl.figures.value_map import SHADES

if TYPE_CHECKING:
    from fwrl.navigator.hand_navigator import HandNavigator
    from fwrl.navigator.poses import Seen

THINGS = (VERMILLION, ORANGE, GREEN, PURPLE)
SIDE = 3.6  # inches of a panel


@figure_of
def hand_figure(navigator: HandNavigator, seen: Seen | None) -> Figure:
    """A row for each view, from above and from the side: the cells around each thing, and the paths in `seen`."""
    p = len(navigator.scene.hand.position)
    views = [(0, 1), (0, 2)] if p > 2 else [(0, min(1, p - 1))]
    columns = len(navigator.things) + (navigator.switches is not None) + (seen is not None)
    figure = sheet(SIDE * max(columns, 2), (SIDE + 0.4) * len(views))
    panels = figure.subplots(len(views), columns, squeeze=False)
    for row, (x, y) in zip(panels, views, strict=True):
        axes = iter(row.flat)
        for number, (name, model) in enumerate(zip(navigator.scene.things, navigator.things, strict=True)):
            plan = navigator.hand_plan(number, "grasp").plan
            values = plan.value[: len(model.cells)]
            _cells(next(axes), model.cells.centres, values, model.held, x, y, f"the hand, as {name} sees it")
        if navigator.switches is not None:
            graph, cells = navigator.switches.graph, navigator.switches.cells
            seen_in = np.asarray(np.bincount(graph.source, graph.episodes, len(cells)), np.float64)
            one = next(axes)
            _cells(one, cells.centres, seen_in, np.zeros(len(cells), np.bool_), x, y, "the hand; crosses: presses")
            one.plot(*navigator.switches.places[:, [x, y]].T, "x", color=VERMILLION, markersize=9)
        if seen is not None:
            _paths(next(axes), navigator, seen, x, y)
    return figure


def _cells(axes: Axes, centres: Floats, values: Floats, held: NDArray[np.bool_], x: int, y: int, title: str) -> None:
    """Cells where they are, the most promising on top, with the cells of the mode held marked."""
    order = np.argsort(values)
    axes.scatter(centres[order, x], centres[order, y], c=values[order], cmap=SHADES, s=14, linewidths=0)
    if held.any():
        axes.plot(*centres[held][:, [x, y]].T, "o", color=VERMILLION, markersize=5, label="held")
        axes.legend(fontsize=NOTE, frameon=False, loc="upper right")
    axes.set_title(title, fontsize=12)
    axes.set_aspect("equal", adjustable="datalim")


def _paths(axes: Axes, navigator: HandNavigator, seen: Seen, x: int, y: int) -> None:
    """Where hand and things went; squares are where things ended."""
    axes.plot(seen.hand[:, x], seen.hand[:, y], color=GREY, linewidth=1.2, label="hand")
    for number, (name, model) in enumerate(zip(navigator.scene.things, navigator.things, strict=True)):
        place, colour = model.attachment.place(seen.things[number]), THINGS[number % len(THINGS)]
        axes.plot(place[:, x], place[:, y], color=colour, linewidth=2.2, label=name)
        axes.plot(*place[-1, [x, y]], "s", color=colour, markeredgecolor="white", markersize=11)
    axes.plot(*seen.hand[0, [x, y]], "o", color=BLUE, markeredgecolor=INK, markersize=8)
    axes.legend(fontsize=NOTE, frameon=False, loc="upper right")
    axes.set_title("paths", fontsize=12)
    axes.set_aspect("equal", adjustable="datalim")
