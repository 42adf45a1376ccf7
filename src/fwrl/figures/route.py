"""A route on the map of all states: one colour for each stretch of past trips, rings where they were stitched."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fwrl.errors import FwrlError
from fwrl.figures.canvas import NOTE, figure_of, sheet, style
from fwrl.figures.palette import BLUE, GREEN, INK, ORANGE, PURPLE, VERMILLION
from fwrl.files import replaced
from fwrl.planner.explanation import Explanation
from fwrl.planner.labels import Label

COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
LISTED = 6  # stretches in the legend
MOST_DOTS = 20_000


@figure_of
def route_map(explanation: Explanation, places: Mapping[Label, tuple[float, float]]) -> Figure:
    """The route of `explanation`, drawn where `places` puts its states; others that have a place are grey dots.

    >>> import fwrl
    >>> explanation = fwrl.fit([("a", "b"), ("b", "c")]).explain("a", "c")
    >>> figure = route_map(explanation, {"a": (0, 0), "b": (1, 0), "c": (1, 1)})
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['a', 'c']
    """
    route = explanation.route
    lost = [state for state in route.states if state not in places or not np.isfinite(places[state]).all()]
    if lost:
        raise FwrlError(f"expected a position for every state of the route, {lost[0]!r} has none")
    figure = sheet(8, 6.5)
    axes = figure.add_subplot()
    axes.set_aspect("equal", adjustable="datalim")
    dots = np.array([xy for xy in places.values() if np.isfinite(xy).all()])
    axes.plot(*dots[:: -(-len(dots) // MOST_DOTS)].T, ".", color="#CCCCCC", markersize=3, zorder=1)
    for leg in explanation.legs:
        (x0, y0), (x1, y1) = places[leg.step.state], places[leg.step.next_state]
        line = ":" if leg.step.seen == 1 else "-"
        axes.plot([x0, x1], [y0, y1], line, color=COLOURS[leg.stretch % len(COLOURS)], linewidth=3, zorder=2)
    for state in explanation.stitches:
        axes.plot(*places[state], "o", color="none", markeredgecolor=INK, markeredgewidth=2, markersize=13, zorder=3)
    for state, shape in ((route.start, "o"), (route.goal, "s")):
        axes.plot(*places[state], shape, color=VERMILLION, markersize=9, zorder=4)
        axes.annotate(str(state), places[state], (8, 8), textcoords="offset points", weight="bold", zorder=5)
    axes.set_title(f"{route.start} to {route.goal}: reward {route.value:g}")
    _explain(figure, explanation)
    return figure


def _explain(figure: Figure, explanation: Explanation) -> None:
    handles = [
        Line2D([], [], color=COLOURS[k % len(COLOURS)], linewidth=3, label=f"trip {', '.join(map(str, trips))}")
        for k, trips in enumerate(explanation.stretches[:LISTED])
        if trips
    ]
    if len(explanation.stretches) > LISTED:
        handles.append(Line2D([], [], color="none", label=f"and {len(explanation.stretches) - LISTED} more"))
    if explanation.stitches:
        handles.append(
            Line2D([], [], color="none", marker="o", markeredgecolor=INK, markeredgewidth=2, label="stitched here")
        )
    if explanation.single:
        handles.append(Line2D([], [], color=INK, linestyle=":", linewidth=3, label="seen only once"))
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=NOTE)


def save_picture(figure: Figure, path: Path) -> None:
    """Write one file, .png or .svg by its name; complete or not there at all."""
    with style(), replaced(path) as draft:
        figure.savefig(draft, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None)
