"""A route over all logged moves: one colour for each past trip, a ring at each stitch."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import IO

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from fwrl.display import between, counted
from fwrl.figures.palette import BLUE, GREEN, INK, ORANGE, PURPLE, VERMILLION
from fwrl.figures.place_names import place_names, shortened
from fwrl.figures.plots import cost_or_reward
from fwrl.figures.style import NOTE, figure_of, sheet, style
from fwrl.files import replaced
from fwrl.planner.explanation import Explanation
from fwrl.planner.places import route_positions
from fwrl.planner.transition_counts import TransitionCounts

COLOURS = (BLUE, ORANGE, GREEN, PURPLE)
ROAD, PLACE = "#D5D5D5", "#B8B8B8"
WIDTH = 9  # inches of the picture
HIGHEST, LOWEST = 6.0, 1.8  # inches of the map in it
LISTED = 6  # stretches in the legend
NAMED = 10  # stitches at most that get their names
NAME = 26  # characters of a name, at most
LINE_HEIGHT = 0.2  # inches of a line of the legend
LINE = 96  # characters that fit into the width of the figure
FEW_ROADS = 400  # moves up to which they are drawn in full
MOST_ROADS = 40_000  # moves drawn, at most
FAINTEST = 0.1  # opacity of a move where there are many, which overlap
MOST_ARROWS = 400  # one-way moves up to which they are marked
HEADS = 14  # arrow heads along a route

Points = NDArray[np.float64]


@figure_of
def route_map(explanation: Explanation, experience: TransitionCounts, positions: Points) -> Figure:
    """The route of `explanation` over the moves of `experience`, whose states are at `positions` (NaN: unknown).

    >>> import fwrl, numpy
    >>> planner = fwrl.fit([("a", "b"), ("b", "c"), ("d", "b")])
    >>> places = numpy.array([[0, 0], [1, 0], [1, 1], [2, 0]])
    >>> figure = route_map(planner.explain("a", "c"), planner.experience, places)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['a', 'c']
    """
    route = explanation.route
    way = route_positions(route, experience, positions)
    legend = _legend(explanation)
    ncols = 2 if max(len(str(handle.get_label())) for handle in legend) <= LINE // 2 - 6 else 1
    lines = 4 + -(-len(legend) // ncols)  # of the legend and of both titles
    figure = sheet(WIDTH, _map_height(positions) + LINE_HEIGHT * lines)
    axes = figure.add_subplot()
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    axes.set(xticks=[], yticks=[])
    axes.set_axis_off()
    _draw_roads(axes, experience, positions)
    _draw_route(axes, explanation, way)
    for point, shape in ((way[0], "o"), *((way[k], "D") for k in route.stopovers), (way[-1], "s")):
        axes.plot(
            *point, shape, color=VERMILLION, markeredgecolor="white", markersize=10 if shape == "D" else 13, zorder=6
        )
    figure.suptitle(f"{shortened(route.start, NAME)} to {shortened(route.goal, NAME)}")
    axes.set_title(textwrap.fill(_described(explanation), LINE), fontsize=NOTE + 1, pad=18)
    figure.legend(handles=legend, loc="outside lower center", ncols=ncols, frameon=False, fontsize=NOTE)
    place_names(axes, way, _names(explanation))
    return figure


def _map_height(positions: Points) -> float:
    """The height of the map in inches: less where it is wide."""
    width, height = np.ptp(positions[np.isfinite(positions).all(axis=1)], axis=0).tolist()
    return max(LOWEST, HIGHEST if WIDTH * height >= HIGHEST * width else WIDTH * height / width)


def _names(explanation: Explanation) -> dict[int, str]:
    """Names by index along the route: of start, goal, stopovers, and up to `NAMED` stitches, evenly chosen."""
    route = explanation.route
    stitches = [k for k in range(1, len(explanation.steps)) if explanation.is_stitch(k)]
    chosen = stitches[:: -(-len(stitches) // NAMED) or 1]
    names = {k: shortened(route.states[k], NAME) for k in chosen}
    ends = {k: route.states[k] for k in (0, *route.stopovers, len(route.steps))}
    return names | {k: shortened(name, NAME) for k, name in ends.items()}


def _described(explanation: Explanation) -> str:
    """Length, value and number of past trips, as the subtitle says."""
    route, n = explanation.route, len(explanation.stretches)
    said = f"{counted(len(route.steps), 'step')}, {cost_or_reward(route)}"
    if route.arrival_low < 1:
        said += f" on arrival, which has probability {between(route.arrival_bounds)}"
    if not any(explanation.stretches):
        return said
    most = "" if explanation.fewest else "at most "
    return f"{said}, {'known from one past trip' if n == 1 else f'stitched from {most}{n:,} past trips'}"


def _draw_roads(axes: Axes, experience: TransitionCounts, positions: Points) -> None:
    """Logged moves between two places as grey lines, with an arrow head where none was logged back.

    The more there are, the thinner and fainter they are; of more than `MOST_ROADS` an even choice is drawn.
    """
    source, target = np.asarray(experience.source, np.int64), np.asarray(experience.target, np.int64)
    known = np.all(np.isfinite(positions), axis=1)
    both = np.stack([source, target], axis=1)
    pairs = np.unique(both[(source != target) & np.all(known[both], axis=1)], axis=0)
    drawn = pairs[:: -(-len(pairs) // MOST_ROADS) or 1]
    faint = min(1.0, (FEW_ROADS / max(1, len(pairs))) ** 0.5)
    lines = LineCollection(
        list(positions[drawn]),
        colors=ROAD,
        linewidths=max(0.4, 1.6 * faint),
        alpha=max(FAINTEST, faint**2),
        zorder=1,
        rasterized=len(drawn) > MOST_ARROWS,
    )
    axes.add_collection(lines)
    axes.autoscale_view()
    if len(drawn) == len(pairs):
        size = max(1.0, 5 * faint)
        axes.plot(*positions[known].T, ".", color=PLACE, markersize=size, zorder=2, rasterized=faint < 1)
    back = set(map(tuple, pairs[:, ::-1].tolist())) if len(pairs) <= MOST_ROADS else set()
    one_way = [pair for pair in drawn.tolist() if tuple(pair) not in back]
    if len(one_way) <= MOST_ARROWS:
        for a, b in one_way:
            _head(axes, positions[a], positions[b], PLACE, 5, 2)


def _draw_route(axes: Axes, explanation: Explanation, way: Points) -> None:
    axes.plot(*way.T, color="white", linewidth=8, zorder=3)
    every = max(1, -(-len(explanation.steps) // HEADS))
    for k, each in enumerate(explanation.steps):
        colour = COLOURS[each.stretch % len(COLOURS)]
        dashes = (0, (1, 1)) if each.step.seen == 1 else "-"
        axes.plot(*way[k : k + 2].T, linestyle=dashes, color=colour, linewidth=4, solid_capstyle="round", zorder=4)
        if k % every == every // 2:
            _head(axes, way[k], way[k + 1], colour, 10, 5)
    for k in range(1, len(explanation.steps)):
        if explanation.is_stitch(k):
            axes.plot(*way[k], "o", color="white", markeredgecolor=INK, markeredgewidth=2.2, markersize=11, zorder=6)


def _head(axes: Axes, begin: Points, end: Points, colour: str, size: float, zorder: float) -> None:
    """An arrow head half-way from one point to another."""
    x, y = end - begin
    angle = float(np.degrees(np.arctan2(y, x))) - 90
    axes.plot(*(begin + end) / 2, marker=(3, 0, angle), color=colour, markersize=size, zorder=zorder)


def _legend(explanation: Explanation) -> list[Line2D]:
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
    return handles


def _stretch(explanation: Explanation, k: int) -> str:
    """The ends of a stretch, and a trip that covers it; long names are shortened."""
    steps = [each.step for each in explanation.steps if each.stretch == k]
    trips = explanation.stretches[k]
    n = explanation.covering[k] - 1
    others = f" and {counted(n, 'other')}" if n else ""
    begin, end, trip = (shortened(name, NAME) for name in (steps[0].state, steps[-1].next_state, trips[0]))
    return f"{begin} to {end}: trip {trip}{others}"


def save_picture(figure: Figure, path: Path) -> None:
    """Write a .png or .svg file; an existing file is replaced completely or not at all."""
    with replaced(path) as draft:
        kind = path.suffix[1:].lower()
        if kind == "svg":
            write_svg(figure, draft)
        else:
            with style():
                figure.savefig(draft, format=kind)


def write_svg(figure: Figure, to: Path | IO[str]) -> None:
    """Write a picture as SVG, without the date on which it was drawn."""
    with style():
        figure.savefig(to, format="svg", metadata={"Date": None})
