"""Place names along a route so that they cover neither the route nor each other."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from fwrl.figures.style import NOTE

Points = NDArray[np.float64]

AWAY = 11  # points from a point to its name: more than the radius of any marker
SIDES = [(1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)]
ACROSS: dict[int, Literal["left", "center", "right"]] = {1: "left", 0: "center", -1: "right"}
UP: dict[int, Literal["bottom", "center", "top"]] = {1: "bottom", 0: "center", -1: "top"}
DENSE = 6  # pixels between two points of the route that a name may cover
FREE = 3  # points of the route that a name may cover at most
LONGEST = 4000  # pixels of a segment that are looked at


def shortened(name: object, most: int) -> str:
    """A name of at most `most` characters, the middle left out.

    >>> shortened("Zurich main station", 11)
    'Zuric\u2026ation'
    """
    text = str(name)
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[: most - 1 - half]}\u2026{text[-half:]}"


def place_names(axes: Axes, way: Points, names: Mapping[int, str]) -> None:
    """Write names next to points of the route `way`, each on the side where it covers least.

    The names of both ends come first, in bold. Others are left out where they would cover the route or another name.

    Args:
        way: (n, 2) the points of the route.
        names: The names by index of the point.
    """
    figure: Any = axes.figure
    figure.draw_without_rendering()  # settles where points are
    page, renderer = figure.bbox, figure.canvas.get_renderer()
    avoid = _along(axes.transData.transform(way))
    taken: list[Bbox] = []
    for k, name in sorted(names.items(), key=lambda item: item[0] not in (0, len(way) - 1)):
        note = axes.annotate(name, tuple(way[k]), (0, 0), textcoords="offset points", fontsize=NOTE, zorder=7)
        note.set_fontweight("bold" if k in (0, len(way) - 1) else "normal")
        note.set_bbox({"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8})
        note.set_in_layout(False)
        costs = []
        for rank, side in enumerate(SIDES):
            _put(note, side)
            box = note.get_window_extent(renderer)
            costs.append((_cost(box, avoid, taken, page), rank))
        least, rank = min(costs)
        if least > FREE and k not in (0, len(way) - 1):
            note.remove()
            continue
        _put(note, SIDES[rank])
        taken.append(note.get_window_extent(renderer))


def _put(note: Annotation, side: tuple[int, int]) -> None:
    x, y = side
    note.set_position((AWAY * x, AWAY * y))
    note.set_horizontalalignment(ACROSS[x])
    note.set_verticalalignment(UP[y])


def _cost(box: Bbox, avoid: Points, taken: list[Bbox], page: Bbox) -> float:
    """How much of the route and of other names a box covers; far more if it leaves the page."""
    inside = (avoid >= box.min).all(axis=1) & (avoid <= box.max).all(axis=1)
    covered = sum(box.overlaps(other) for other in taken)
    outside = max(0.0, page.x0 - box.x0, page.y0 - box.y0, box.x1 - page.x1, box.y1 - page.y1)
    return float(inside.sum() + 20 * covered + 100 * outside)


def _along(way: Points) -> Points:
    """Points along a line, a few pixels apart."""
    pieces = [way]
    for begin, end in itertools.pairwise(way):
        length = min(LONGEST, float(np.hypot(*(end - begin))))
        share = np.linspace(0, 1, 1 + int(length // DENSE))[:, None]
        pieces.append(begin + share * (end - begin))
    return np.concatenate(pieces)
