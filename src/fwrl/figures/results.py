"""Results on one world: reward per episode and distance-inefficiency of all agents, one dot per episode.

Distance-inefficiency is the distance travelled over the shortest distance, so 1 is optimal. An episode without a
completed visit has none. Their number is printed, because leaving them out favours agents that rarely arrive.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from fwrl.display import counted
from fwrl.errors import FwrlError
from fwrl.figures.palette import INK, Look, table_of_colours
from fwrl.figures.strip_plot import Strip, name_rows, scatter_row
from fwrl.figures.style import NOTE, figure_of, sheet
from fwrl.metrics import BoxPlot

BAR = 0.3  # of a row: the height of a box


@figure_of
def results(title: str, reward: Mapping[str, Strip], inefficiency: Mapping[str, Strip], seeds: int) -> Figure:
    """Both metrics by agent label, each with its box plot.

    Args:
        reward: The reward of each episode, by agent label.
        inefficiency: The distance-inefficiency of each episode, for the same labels; NaN without a completed visit.
        seeds: The number of seeds, for the note below.

    Returns:
        The figure; `save` writes it.

    >>> from fwrl.metrics import box_plot
    >>> reward = np.array([[20.0, 30.0]])
    >>> inefficiency = np.array([[7.0, np.nan]])
    >>> strips = [{"QL": Strip(scores, box_plot(scores))} for scores in (reward, inefficiency)]
    >>> figure = results("Four rooms", *strips, seeds=1)
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['QL']
    """
    if reward.keys() != inefficiency.keys() or not reward:
        raise FwrlError(f"expected the same agents in both metrics, got {sorted(reward)} and {sorted(inefficiency)}")
    looks = table_of_colours(reward)
    figure = sheet(13, 2.0 + 0.58 * len(looks))
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, metric, digits in ((left, reward, 0), (right, inefficiency, 2)):
        _draw_metric(axes, metric, looks, digits)
    name_rows(left, looks)
    right.spines["left"].set_visible(False)
    right.tick_params(axis="y", length=0)
    left.set_xlabel("reward per episode (higher is better →)")
    left.set_xlim(left=min(-0.015 * left.get_xlim()[1], left.get_xlim()[0]))
    right.set_xlabel("distance-inefficiency (← lower is better)")
    _scale_inefficiency(right)
    _print_column(right, 160, "no visit", [_without(inefficiency[label]) for label in looks], looks)
    figure.suptitle(title)
    episodes = max(strip.scores.shape[-1] for strip in reward.values())
    figure.supxlabel(
        f"{counted(seeds, 'seed')}, {counted(episodes, 'episode')} each; every dot is an episode; box: quartiles, "
        "line: median, whiskers: 5 % to 95 %;\nno visit: episodes in which the goal was never reached, "
        "which have no distance-inefficiency",
        fontsize=NOTE,
    )
    return figure


def _draw_metric(axes: Axes, metric: Mapping[str, Strip], looks: dict[str, Look], digits: int) -> None:
    """A row of dots with a box plot for each agent, and the medians in a column."""
    medians = []
    for row, (label, look) in enumerate(looks.items()):
        scores, box = metric[label]
        scatter_row(axes, scores.ravel(), row, look)
        if np.isfinite(box.median):
            _draw_box(axes, box, row, look)
        medians.append(f"{box.median:,.{digits}f}" if np.isfinite(box.median) else "none")
    axes.grid(axis="x")
    _print_column(axes, 54, "median", medians, looks)


def _draw_box(axes: Axes, box: BoxPlot, row: int, look: Look) -> None:
    ink: Any = {"color": INK, "solid_capstyle": "butt"}
    axes.plot([box.low, box.high], [row, row], linewidth=1.4, zorder=3, **ink)
    axes.barh(row, box.q3 - box.q1, BAR, box.q1, color=look.colour, edgecolor=INK, linewidth=1.4, zorder=4)
    axes.plot([box.median, box.median], [row - 0.32, row + 0.32], linewidth=3, zorder=5, **ink)


def _print_column(axes: Axes, points: float, heading: str, texts: list[str], looks: dict[str, Look]) -> None:
    """Print `texts` next to the rows, right-aligned at `points` right of the axes."""
    place_at: Any = {
        "xycoords": axes.get_yaxis_transform(),
        "textcoords": "offset points",
        "va": "center",
        "ha": "right",
    }
    axes.annotate(heading, (1, -0.75), (points, 0), fontsize=NOTE, **place_at)
    for row, (text, look) in enumerate(zip(texts, looks.values(), strict=True)):
        axes.annotate(text, (1, row), (points, 0), color=look.ink, weight="bold", **place_at)


def _scale_inefficiency(axes: Axes) -> None:
    """A logarithmic scale from 1 on, with plain numbers as tick labels."""
    axes.set_xscale("log")
    axes.set_xlim(0.93, max(2.2, axes.get_xlim()[1]))
    wide = axes.get_xlim()[1] > 20
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 3) if wide else (1, 1.5, 2, 3, 5)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _without(strip: Strip) -> str:
    missing = strip.box.without_value
    return f"{missing:,} ({100 * missing / max(strip.scores.size, 1):.0f} %)"
