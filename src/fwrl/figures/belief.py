"""What an agent believes against what its policy really earns.

FWRL's maximum books one lucky gust as certain: the value it believes is better than any policy can do, and the
policy that follows from it worse. Both are counted in steps; the optimum lies between them.
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

from fwrl.errors import FwrlError
from fwrl.figures.canvas import counted, figure_of, sheet
from fwrl.figures.palette import BLACK, INK, Look, table_of_colours
from fwrl.figures.spread import Floats, name_rows, scatter_row

# The promise is a wide ring and the truth a disc that fits into it, so that both show where they agree.
RING: dict[str, Any] = {"marker": "o", "markersize": 19, "markeredgewidth": 3, "linestyle": "", "zorder": 4}
DISC: dict[str, Any] = {"marker": "o", "markersize": 12, "markeredgewidth": 1.5, "linestyle": "", "zorder": 5}
WIDE = 12.0  # times the optimum: steps beyond this are drawn on a logarithmic scale


class Belief(NamedTuple):
    """(runs,) steps to the goal, mean over trips: what the agent believes and what its policy truly takes.

    In `true`, inf is a policy that need not arrive; in `believed`, inf and NaN are trips without a known way.
    """

    believed: NDArray[np.float64]
    true: NDArray[np.float64]


@figure_of
def belief(title: str, rows: Mapping[str, Belief], optimum: float) -> Figure:
    r"""Promise and truth of each agent label beside the `optimum`, all in steps.

    >>> lucky = Belief(np.array([6.0, 7.0, 7.0]), np.array([11.0, 12.0, np.inf]))
    >>> figure = belief("Windy four rooms", {"FWRL (exact)": lucky}, optimum=8.2)
    >>> figure.axes[0].texts[-1].get_text()
    'promises 7.0 steps, takes 12.0\n1 of 3 runs may never arrive'
    """
    if not rows:
        raise FwrlError("expected what at least one agent believes, got none")
    looks = table_of_colours(rows)
    runs = max(len(pair.true) for pair in rows.values())
    figure = sheet(11.5, 2.3 + 0.95 * len(looks))
    axes = figure.add_subplot()
    for row, (label, look) in enumerate(looks.items()):
        believed, true = (np.asarray(values, dtype=np.float64) for values in rows[label])
        _draw_pair(axes, believed, true, row, look)
    name_rows(axes, looks)
    axes.axvline(optimum, color=BLACK, linestyle=(0, (4, 3)), linewidth=1.8, zorder=2)
    above: Any = {"transform": axes.get_xaxis_transform(), "ha": "center", "va": "bottom"}
    axes.text(optimum, 1.01, f"optimum {optimum:.1f}", weight="bold", **above)
    _scale(axes, optimum)
    axes.set_xlabel(
        f"path cost in steps, mean over all trips\n{counted(runs, 'seed')}; large: median over seeds, small: each seed"
    )
    for row, (label, look) in enumerate(looks.items()):
        _say(axes, rows[label], row, look)
    _explain(figure)
    figure.suptitle(title)
    return figure


def _draw_pair(axes: Axes, believed: Floats, true: Floats, row: int, look: Look) -> None:
    """Dots of all runs, and from the median belief to the median truth an arrow."""
    scatter_row(axes, believed, row, look, size=12)
    scatter_row(axes, true, row, look, size=12)
    promise, fact = _medians(believed, true)
    if np.isfinite(promise) and np.isfinite(fact):
        axes.plot([promise, fact], [row, row], color=INK, linewidth=2.2, zorder=3)
    axes.plot([promise], [row], color="white", markeredgecolor=look.colour, **RING)
    axes.plot([fact], [row], color=look.colour, markeredgecolor=INK, **DISC)


def _scale(axes: Axes, optimum: float) -> None:
    """Linear where all agents are about as good, logarithmic where some are many times worse."""
    if axes.dataLim.x1 > WIDE * optimum:
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(axis="x")


def _say(axes: Axes, pair: Belief, row: int, look: Look) -> None:
    """The message of a row in words."""
    promise, fact = _medians(*pair)
    text = f"promises {_steps(promise)} steps, takes {_steps(fact)}"
    lost = int(np.count_nonzero(~np.isfinite(pair.true)))
    if lost:
        text += f"\n{lost} of {len(pair.true)} runs may never arrive"
    beside: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
    axes.text(1.02, row, text, color=look.ink, weight="bold", **beside)


def _explain(figure: Figure) -> None:
    figure.legend(
        handles=[
            Line2D([], [], color="white", markeredgecolor=INK, label="what the agent believes", **RING),
            Line2D([], [], color="#999999", markeredgecolor=INK, label="what its policy really takes", **DISC),
        ],
        loc="outside lower center",
        ncols=2,
        frameon=False,
        borderpad=0.8,
    )


def _medians(believed: Floats, true: Floats) -> tuple[float, float]:
    """The median of the beliefs there are, and of the truth, in which never arriving counts as longest."""
    known, lasting = believed[np.isfinite(believed)], np.sort(true[~np.isnan(true)])
    promise = float(np.median(known)) if len(known) else np.nan
    middle = lasting[(len(lasting) - 1) // 2 : len(lasting) // 2 + 1]
    return promise, float(middle.sum() / len(middle)) if len(middle) else np.nan


def _steps(value: float) -> str:
    if np.isnan(value):
        return "unknown"
    return f"{value:.1f}" if np.isfinite(value) else "forever"
