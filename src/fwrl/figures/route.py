"""A route over all logged moves: one colour for each past trip, a ring at each stitch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.figures.palette import BLUE, GREEN, INK, ORANGE, PURPLE, VERMILLION
from fwrl.figures.style import NOTE, counted, figure_of, sheet, style
from fwrl.files import replaced
from fwrl.planner.experience import Experience
from fwrl.planner.explanation import Explanation

COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
ROAD, PLACE = "#D5D5D5", "#B8B8B8"
LISTED = 7  # stretches in the legend
NAMED = 12  # stitches up to which their names are written beside them
MOST_ROADS = 20_000  # with more moves, none is drawn, and only some places
MOST_ARROWS = 400  # one-way moves up to which they are marked
HEADS = 14  # arrow heads along a route

Points = NDArray[np.float64]


@figure_of
def route_map(explanation: Explanation, experience: Experience, positions: Points) -> Figure:
    """The route of `explanation` over the moves of `experience`, whose states are at `positions` (NaN: unknown).

    >>> import fwrl, numpy
    >>> planner = fwrl.fit([("a", "b"), ("b", "c"), ("d", "b")])
    >>> places = numpy.array([[0, 0], [1, 0], [1, 1], [2, 0]])
    >>> figure = route_map(planner.explain("a", "c"), planner.experience, places)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['a', 'c']
    """
    route = explanation.route
    stops = np.array([experience.states.find(state) for state in route.states])
    way = np.asarray(positions, np.float64)[stops]
    lost = np.flatnonzero(~np.isfinite(way).all(axis=1))
    if len(lost):
        raise FwrlError(f"{route.states[lost[0]]!r} is on the route but has no position; add it to the positions")
    figure = sheet(9, 6.5)
    axes = figure.add_subplot()
    axes.set_aspect("equal")
    axes.margins(0.06)
    axes.set_axis_off()
    _draw_roads(axes, experience, positions)
    _draw_route(axes, explanation, way)
    for point, name, shape in ((way[0], route.start, "o"), (way[-1], route.goal, "s")):
        axes.plot(*point, shape, color=VERMILLION, markeredgecolor="white", markersize=13, zorder=6)
        _name(axes, point, str(name), "bold")
    figure.suptitle(f"{route.start} to {route.goal}")
    axes.set_title(_described(explanation), fontsize=NOTE + 1, pad=18)
    _explain(figure, explanation)
    return figure


def _described(explanation: Explanation) -> str:
    """Length, value and number of past trips, as the subtitle says."""
    route, n = explanation.route, len(explanation.stretches)
    said = f"{counted(len(route.steps), 'step')}, expected reward {route.value:.4g}"
    if route.arrival < 1:
        said += f" on arrival, which has probability {route.arrival:.3g}"
    if not any(explanation.stretches):
        return said
    return f"{said}, {'known from one past trip' if n == 1 else f'stitched from {n:,} past trips'}"


def _draw_roads(axes: Axes, experience: Experience, positions: Points) -> None:
    """Every logged move between two places as a grey line, with an arrow head where none was logged back."""
    source, target = np.asarray(experience.source, np.int64), np.asarray(experience.target, np.int64)
    known = np.all(np.isfinite(positions), axis=1)
    places = positions[known]
    if len(source) > MOST_ROADS:
        axes.plot(*places[:: -(-len(places) // MOST_ROADS)].T, ".", color=PLACE, markersize=2, zorder=1)
        return
    both = np.stack([source, target], axis=1)
    pairs = np.unique(both[(source != target) & np.all(known[both], axis=1)], axis=0)
    axes.add_collection(LineCollection(list(positions[pairs]), colors=ROAD, linewidths=1.6, zorder=1))
    axes.plot(*places.T, ".", color=PLACE, markersize=5, zorder=2)
    back = set(map(tuple, pairs[:, ::-1].tolist()))
    one_way = [pair for pair in pairs.tolist() if tuple(pair) not in back]
    if len(one_way) <= MOST_ARROWS:
        for a, b in one_way:
            _head(axes, positions[a], positions[b], PLACE, 5, 2)


def _draw_route(axes: Axes, explanation: Explanation, way: Points) -> None:
    axes.plot(*way.T, color="white", linewidth=8, zorder=3)
    every = max(1, -(-len(explanation.legs) // HEADS))
    for k, leg in enumerate(explanation.legs):
        colour = COLOURS[leg.stretch % len(COLOURS)]
        dashes = (0, (1, 1)) if leg.step.seen == 1 else "-"
        axes.plot(*way[k : k + 2].T, linestyle=dashes, color=colour, linewidth=4, solid_capstyle="round", zorder=4)
        if k % every == every // 2:
            _head(axes, way[k], way[k + 1], colour, 10, 5)
    stitches = [k for k in range(1, len(explanation.legs)) if _is_stitch(explanation, k)]
    for k in stitches:
        axes.plot(*way[k], "o", color="white", markeredgecolor=INK, markeredgewidth=2.2, markersize=11, zorder=6)
        if len(stitches) <= NAMED:
            _name(axes, way[k], str(explanation.legs[k].step.state), "normal")


def _is_stitch(explanation: Explanation, k: int) -> bool:
    return explanation.legs[k].stretch != explanation.legs[k - 1].stretch


def _head(axes: Axes, begin: Points, end: Points, colour: str, size: float, zorder: float) -> None:
    """An arrow head half-way from one point to another."""
    x, y = end - begin
    angle = float(np.degrees(np.arctan2(y, x))) - 90
    axes.plot(*(begin + end) / 2, marker=(3, 0, angle), color=colour, markersize=size, zorder=zorder)


def _name(axes: Axes, point: Points, text: str, weight: str) -> None:
    note = axes.annotate(text, tuple(point), (9, 9), textcoords="offset points", weight=weight, zorder=7)
    note.set_bbox({"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8})


def _explain(figure: Figure, explanation: Explanation) -> None:
    handles = [
        Line2D([], [], color=COLOURS[k % len(COLOURS)], linewidth=4, label=_stretch(explanation, k))
        for k, trips in enumerate(explanation.stretches[:LISTED])
        if trips
    ]
    if len(explanation.stretches) > LISTED:
        handles.append(Line2D([], [], color="none", label=f"and {len(explanation.stretches) - LISTED:,} more"))
    if explanation.stitches:
        ring = {"color": "none", "marker": "o", "markeredgecolor": INK, "markeredgewidth": 2.2, "markersize": 9}
        handles.append(Line2D([], [], label="from one past trip to another", **ring))  # type: ignore[arg-type]
    if explanation.single:
        handles.append(Line2D([], [], color=INK, linestyle=(0, (1, 1)), linewidth=4, label="seen only once"))
    handles.append(Line2D([], [], color=ROAD, linewidth=2, label="other logged moves"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=NOTE)


def _stretch(explanation: Explanation, k: int) -> str:
    """The ends of a stretch, and a trip that covers it."""
    steps = [leg.step for leg in explanation.legs if leg.stretch == k]
    trips = explanation.stretches[k]
    others = f" and {counted(len(trips) - 1, 'other')}" if len(trips) > 1 else ""
    return f"{steps[0].state} to {steps[-1].next_state}: trip {trips[0]}{others}"


def save_picture(figure: Figure, path: Path) -> None:
    """Write a .png or .svg file; an existing file is replaced completely or not at all."""
    with style(), replaced(path) as draft:
        figure.savefig(draft, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None)
