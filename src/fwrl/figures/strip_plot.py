"""Strip plots: one row per agent, one dot per value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from fwrl.arrays import Floats
from fwrl.figures.palette import Look
from fwrl.metrics import BoxPlot

GOLDEN = (5**0.5 - 1) / 2  # its multiples modulo 1 are evenly spread (a low-discrepancy sequence)
HALF = 0.36  # half the height of the band of dots, in rows


class Strip(NamedTuple):
    """The scores of one agent and their box plot.

    Attributes:
        scores: (runs, episodes) scores; those that are NaN or infinite are not drawn.
    """

    scores: Floats
    box: BoxPlot


def scatter_row(axes: Axes, values: Floats, row: float, look: Look, *, size: float = 9.0) -> None:
    """Draw the finite `values` along x, spread over the height of the row; the more dots, the fainter.

    The dots are rasterised: thousands of them would make an SVG slow to show.
    """
    shown = values[np.isfinite(values)]
    band = (np.arange(1, len(shown) + 1) * GOLDEN) % 1 * 2 - 1
    axes.scatter(
        shown,
        row + HALF * band,
        s=size,
        color=look.colour,
        alpha=float(np.clip(120 / max(len(shown), 1), 0.1, 0.5)),
        linewidths=0,
        rasterized=True,
    )


def name_rows(axes: Axes, looks: dict[str, Look]) -> None:
    """Label the rows, the first on top, each in its agent's colour."""
    axes.set_yticks(range(len(looks)), list(looks))
    axes.set_ylim(len(looks) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    for text, look in zip(axes.get_yticklabels(), looks.values(), strict=True):
        text.set_color(look.ink)
        text.set_fontweight("bold")
