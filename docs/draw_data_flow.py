"""Draw docs/images/data-flow.svg, the picture of docs/architecture.md.

python docs/draw_data_flow.py [FILE]
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

INK, GREY = "#1f2933", "#7b8794"
INPUT, COMPUTE, RESULT = "#f1ece2", "#dfeaf6", "#e2f0e4"
EDGES = {INPUT: "#b9a987", COMPUTE: "#7ea3cc", RESULT: "#86b38d"}
WIDTH, HEIGHT = 2.0, 0.86


class Box(NamedTuple):
    """A box: its centre, its name, what it holds, its colour."""

    x: float
    y: float
    name: str
    holds: str
    colour: str


BOXES = {
    box.name: box
    for box in (
        Box(1.1, 5.2, "worlds", "maps, mazes, tables", INPUT),
        Box(4.0, 5.2, "task", "goal, start, respawn", COMPUTE),
        Box(6.9, 5.2, "experiment", "runs in one SQLite file", COMPUTE),
        Box(9.8, 5.2, "metrics", "medians, intervals", COMPUTE),
        Box(12.7, 5.2, "report", "figures, verdicts", RESULT),
        Box(4.0, 6.6, "oracle", "exact optimum", COMPUTE),
        Box(4.0, 3.55, "agents", "tables and verbs", COMPUTE),
        Box(6.9, 3.55, "files", "one saved format", RESULT),
        Box(12.7, 3.55, "web", "pages in a browser", RESULT),
        Box(1.1, 1.9, "logs", "CSV, Parquet, JSON", INPUT),
        Box(4.0, 1.9, "planner.ingest", "files, SQL, codes", COMPUTE),
        Box(6.9, 1.9, "experience", "counted edges, trips", COMPUTE),
        Box(9.8, 1.9, "planner", "values of goals", COMPUTE),
        Box(12.7, 1.9, "route", "steps and reasons", RESULT),
    )
}


class Arrow(NamedTuple):
    """An arrow between two boxes, with what passes along it."""

    source: str
    target: str
    carries: str = ""
    two_way: bool = False


ARROWS = (
    Arrow("worlds", "task", "outcomes"),
    Arrow("task", "experiment", "results"),
    Arrow("experiment", "metrics", "arrays"),
    Arrow("metrics", "report", "numbers"),
    Arrow("task", "agents", "act, observe", two_way=True),
    Arrow("agents", "files", "save, load", two_way=True),
    Arrow("logs", "planner.ingest", "rows"),
    Arrow("planner.ingest", "experience", "edges"),
    Arrow("experience", "planner"),
    Arrow("planner", "route", "plan"),
    Arrow("experience", "files", "save, load", two_way=True),
)


def edge_points(source: Box, target: Box) -> tuple[tuple[float, float], tuple[float, float]]:
    """Both ends of an arrow between two boxes of one row or of one column."""
    if source.y == target.y:
        side = WIDTH / 2 if target.x > source.x else -WIDTH / 2
        return (source.x + side, source.y), (target.x - side, target.y)
    side = HEIGHT / 2 if target.y > source.y else -HEIGHT / 2
    return (source.x, source.y + side), (target.x, target.y - side)


def draw_box(axes: Axes, box: Box) -> None:
    """A rounded box with a name and a line below it."""
    corner = (box.x - WIDTH / 2, box.y - HEIGHT / 2)
    style = "round,pad=0,rounding_size=0.12"
    axes.add_patch(
        FancyBboxPatch(corner, WIDTH, HEIGHT, boxstyle=style, facecolor=box.colour, edgecolor=EDGES[box.colour])
    )
    axes.text(box.x, box.y + 0.14, box.name, ha="center", va="center", color=INK, fontsize=12.5, weight="bold")
    axes.text(box.x, box.y - 0.2, box.holds, ha="center", va="center", color=INK, fontsize=9.5)


def draw_line(axes: Axes, begin: tuple[float, float], end: tuple[float, float], two_way: bool) -> None:
    """An arrow."""
    axes.add_patch(
        FancyArrowPatch(
            begin,
            end,
            arrowstyle="<|-|>" if two_way else "-|>",
            mutation_scale=13,
            color=GREY,
            linewidth=1.3,
            shrinkA=1,
            shrinkB=1,
        )
    )


def draw_arrow(axes: Axes, arrow: Arrow) -> None:
    """An arrow with its label: above a level one, left of an upright one."""
    source, target = BOXES[arrow.source], BOXES[arrow.target]
    begin, end = edge_points(source, target)
    draw_line(axes, begin, end, arrow.two_way)
    x, y = (begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2
    level = source.y == target.y
    place = {"ha": "center", "va": "bottom"} if level else {"ha": "right", "va": "center"}
    axes.text(x - (0 if level else 0.1), y + (0.07 if level else 0), arrow.carries, color=GREY, fontsize=9, **place)


def draw_path(axes: Axes, points: tuple[tuple[float, float], ...], carries: str) -> None:
    """An arrow round corners, with its label above its first level part."""
    axes.plot(*zip(*points, strict=True), color=GREY, linewidth=1.3, solid_joinstyle="round", zorder=1)
    (x, y), (end_x, end_y) = points[-2:]
    near = (x + 0.9 * (end_x - x), y + 0.9 * (end_y - y))
    draw_line(axes, near, points[-1], two_way=False)
    left, right = next((a, b) for a, b in pairwise(points) if a[1] == b[1])
    middle = (left[0] + right[0]) / 2
    axes.text(middle, left[1] + 0.07, carries, color=GREY, fontsize=9, ha="center", va="bottom")


def draw(path: Path) -> None:
    """The whole picture."""
    figure, axes = plt.subplots(figsize=(13.8, 7.2))
    figure.subplots_adjust(0, 0, 1, 1)
    axes.set(xlim=(-0.1, 13.9), ylim=(-0.05, 7.2))
    axes.axis("off")
    for box in BOXES.values():
        draw_box(axes, box)
    for arrow in ARROWS:
        draw_arrow(axes, arrow)
    draw_path(axes, ((1.1, 5.63), (1.1, 6.6), (3.0, 6.6)), "")
    draw_path(axes, ((5.0, 6.6), (9.8, 6.6), (9.8, 5.63)), "optimum")
    draw_path(axes, ((4.75, 3.98), (4.75, 4.38), (12.7, 4.38), (12.7, 3.98)), "agents that learn while you watch")
    band = FancyBboxPatch((0.1, 0.15), 13.6, 0.72, boxstyle="round,pad=0,rounding_size=0.12", facecolor="#f5f7fa")
    band.set(edgecolor="#cbd2d9")
    axes.add_patch(band)
    axes.text(0.45, 0.51, "kernels", color=INK, fontsize=12.5, weight="bold", va="center")
    words = "compiled equations over arrays; called by task, agents and planner, never by the oracle"
    axes.text(1.75, 0.5, words, color=INK, fontsize=9.5, va="center")
    plt.rcParams["svg.hashsalt"] = "fwrl"  # the same drawing gives the same file
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    plt.rcParams.update({"font.family": "DejaVu Sans", "svg.fonttype": "path"})
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("images") / "data-flow.svg")
