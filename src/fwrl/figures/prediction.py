"""Predicted path costs against the true costs of the greedy policy.

FWRL's maximum treats the best observed outcome as certain. In wind it predicts a cost below that of any policy, and
its greedy policy costs more than the optimum, which lies between the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from fwrl.display import counted
from fwrl.errors import FwrlError
from fwrl.figures.palette import BLACK, INK, Look, table_of_colours
from fwrl.figures.strip_plot import name_rows, scatter_row
from fwrl.figures.style import figure_of, sheet

# The prediction is a ring and the truth a disc that fits inside, so you see both where they agree.
RING: dict[str, Any] = {"marker": "o", "markersize": 19, "markeredgewidth": 3, "linestyle": "", "zorder": 4}
DISC: dict[str, Any] = {"marker": "o", "markersize": 12, "markeredgewidth": 1.5, "linestyle": "", "zorder": 5}
WIDE = 12.0  # times the optimum: with larger costs the scale is logarithmic


class PredictionRow(NamedTuple):
    """Predicted and true path costs of one agent, in steps, mean over trips.

    Attributes:
        predicted: (runs,) the agent's own values; inf or NaN where it knows no path.
        true: (runs,) exact costs of its greedy policy; inf where the policy may never arrive.
        predicted_median: Median of the finite predictions; NaN without any.
        true_median: Median of the exact costs; inf if most policies may never arrive.
        lost: Number of runs whose policy may never arrive.
    """

    predicted: NDArray[np.float64]
    true: NDArray[np.float64]
    predicted_median: float
    true_median: float
    lost: int


@figure_of
def prediction(title: str, rows: Mapping[str, PredictionRow], optimum: float) -> Figure:
    r"""Predicted and true path costs of each agent next to the optimum, all in steps.

    Args:
        rows: The costs of each agent by its label; at least one.
        optimum: The optimal path cost, drawn as a line.

    Returns:
        The figure; `save` writes it.

    >>> row = PredictionRow(np.array([6.0, 7.0, 7.0]), np.array([11.0, 12.0, np.inf]), 7.0, 12.0, lost=1)
    >>> figure = prediction("Windy four rooms", {"FWRL (exact)": row}, optimum=8.2)
    >>> figure.axes[0].texts[-1].get_text()
    'predicts 7.0 steps, takes 12.0\n1 of 3 runs may never arrive'
    """
    if not rows:
        raise FwrlError("expected at least one agent to draw, got none")
    looks = table_of_colours(rows)
    runs = max(len(row.true) for row in rows.values())
    figure = sheet(11.5, 2.3 + 0.95 * len(looks))
    axes = figure.add_subplot()
    for place, (label, look) in enumerate(looks.items()):
        _draw_row(axes, rows[label], place, look)
    name_rows(axes, looks)
    axes.axvline(optimum, color=BLACK, linestyle=(0, (4, 3)), linewidth=1.8, zorder=2)
    above: Any = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "bottom"}
    axes.text(optimum, 1.01, f"optimum {optimum:.1f}", weight="bold", **above)
    _scale(axes, optimum)
    axes.set_xlabel(
        f"path cost in steps, mean over all trips\n{counted(runs, 'seed')}; large: median over seeds, small: each seed"
    )
    for place, (label, look) in enumerate(looks.items()):
        _write_row(axes, rows[label], place, look)
    _add_legend(figure)
    figure.suptitle(title)
    return figure


def _draw_row(axes: Axes, row: PredictionRow, place: int, look: Look) -> None:
    """Dots of all runs, and a line from the median prediction to the median truth."""
    scatter_row(axes, row.predicted, place, look, size=12)
    scatter_row(axes, row.true, place, look, size=12)
    predicted, true = row.predicted_median, row.true_median
    if np.isfinite(predicted) and np.isfinite(true):
        axes.plot([predicted, true], [place, place], color=INK, linewidth=2.2, zorder=3)
    axes.plot([predicted], [place], color="white", markeredgecolor=look.colour, **RING)
    axes.plot([true], [place], color=look.colour, markeredgecolor=INK, **DISC)


def _scale(axes: Axes, optimum: float) -> None:
    """A logarithmic scale where some agents are many times worse than the optimum."""
    if axes.dataLim.x1 > WIDE * optimum:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x")


def _write_row(axes: Axes, row: PredictionRow, place: int, look: Look) -> None:
    """Write the medians of a row next to it."""
    text = f"predicts {_steps(row.predicted_median)} steps, takes {_steps(row.true_median)}"
    if row.lost:
        text += f"\n{row.lost} of {len(row.true)} runs may never arrive"
    place_at: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
    axes.text(1.02, place, text, color=look.ink, weight="bold", **place_at)


def _add_legend(figure: Figure) -> None:
    figure.legend(
        handles=[
            Line2D([], [], color="white", markeredgecolor=INK, label="what the agent predicts", **RING),
            Line2D([], [], color="#999999", markeredgecolor=INK, label="what its policy really takes", **DISC),
        ],
        loc="outside lower center",
        ncols=2,
        frameon=False,
        borderpad=0.8,
    )


def _steps(value: float) -> str:
    if np.isnan(value):
        return "unknown"
    return f"{value:.1f}" if np.isfinite(value) else "forever"
