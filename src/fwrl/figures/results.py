"""Results on one world: reward per episode and distance-inefficiency of all agents, every episode a dot.

Distance-inefficiency is distance travelled over shortest distance, so 1 is perfect; an episode without a completed
visit has none. How many had none is printed, because leaving them out flatters agents that never arrive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.figures.canvas import NOTE, counted, figure_of, sheet
from fwrl.figures.palette import INK, Look, table_of_colours
from fwrl.figures.spread import Floats, name_rows, scatter_row

BAR = 0.3  # of a row: the height of a box


@figure_of
def results(
    title: str,
    reward: Mapping[str, NDArray[np.float64]],
    inefficiency: Mapping[str, NDArray[np.float64]],
    seeds: int,
) -> Figure:
    """Both metrics, each (runs, episodes) by agent label; NaN where an episode has no inefficiency.

    >>> scores = {"QL": np.array([[20.0, 30.0]]), "FWRL (exact)": np.array([[440.0, 450.0]])}
    >>> detours = {"QL": np.array([[7.0, np.nan]]), "FWRL (exact)": np.array([[1.0, 1.1]])}
    >>> figure = results("Four rooms", scores, detours, seeds=1)
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['FWRL (exact)', 'QL']
    """
    if reward.keys() != inefficiency.keys() or not reward:
        raise FwrlError(f"expected the same agents in both metrics, got {sorted(reward)} and {sorted(inefficiency)}")
    looks = table_of_colours(reward)
    figure = sheet(13, 2.0 + 0.58 * len(looks))
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, metric in ((left, reward), (right, inefficiency)):
        _draw_metric(axes, {label: np.asarray(metric[label], dtype=np.float64) for label in looks}, looks)
    name_rows(left, looks)
    right.spines["left"].set_visible(False)
    right.tick_params(axis="y", length=0)
    left.set_xlabel("reward per episode (higher is better →)")
    left.set_xlim(left=min(-0.015 * left.get_xlim()[1], left.get_xlim()[0]))
    right.set_xlabel("distance-inefficiency (← lower is better)")
    _scale_inefficiency(right)
    _print_column(right, 150, "no visit", [_without(inefficiency[label]) for label in looks], looks)
    figure.suptitle(title)
    episodes = max(np.shape(values)[-1] for values in reward.values())
    figure.supxlabel(
        f"{counted(seeds, 'seed')}, {counted(episodes, 'episode')} each; every dot is an episode; box: quartiles, "
        "line: median, whiskers: 5 % to 95 %;\nno visit: episodes in which the goal was never reached, "
        "which have no distance-inefficiency",
        fontsize=NOTE,
    )
    return figure


def _draw_metric(axes: Axes, metric: dict[str, Floats], looks: dict[str, Look]) -> None:
    """A row of dots with a box over it for each agent, and the medians in a column."""
    medians = []
    for row, (label, look) in enumerate(looks.items()):
        values = metric[label].ravel()
        values = values[np.isfinite(values)]
        scatter_row(axes, values, row, look)
        if len(values):
            _draw_box(axes, np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95]), row, look)
        medians.append(_short(float(np.median(values))) if len(values) else "none")
    axes.grid(axis="x")
    _print_column(axes, 54, "median", medians, looks)


def _draw_box(axes: Axes, quantiles: Floats, row: int, look: Look) -> None:
    low, q1, median, q3, high = quantiles
    ink: Any = {"color": INK, "solid_capstyle": "butt"}
    axes.plot([low, high], [row, row], linewidth=1.4, zorder=3, **ink)
    axes.barh(row, q3 - q1, BAR, q1, color=look.colour, edgecolor=INK, linewidth=1.4, zorder=4)
    axes.plot([median, median], [row - 0.32, row + 0.32], linewidth=3, zorder=5, **ink)


def _print_column(axes: Axes, points: float, heading: str, texts: list[str], looks: dict[str, Look]) -> None:
    """Numbers beside the rows, ending so many points right of the axes."""
    beside: Any = {
        "xycoords": axes.get_yaxis_transform(),
        "textcoords": "offset points",
        "va": "center",
        "ha": "right",
    }
    axes.annotate(heading, (1, -0.75), (points, 0), fontsize=NOTE, **beside)
    for row, (text, look) in enumerate(zip(texts, looks.values(), strict=True)):
        axes.annotate(text, (1, row), (points, 0), color=look.ink, weight="bold", **beside)


def _scale_inefficiency(axes: Axes) -> None:
    """Logarithmic from 1 on, with ordinary numbers."""
    axes.set_xscale("log")
    axes.set_xlim(0.93, max(2.2, axes.get_xlim()[1]))
    wide = axes.get_xlim()[1] > 20
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3) if wide else (1, 1.5, 2, 3, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _without(values: Floats) -> str:
    missing = int(np.count_nonzero(~np.isfinite(values)))
    return f"{missing:,} ({100 * missing / max(np.size(values), 1):.0f} %)"


def _short(value: float) -> str:
    """Three digits, or as many as a large number has."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
