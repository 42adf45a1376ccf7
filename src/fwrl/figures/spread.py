"""Rows of raw points: one agent a row, every value a dot, so that nothing hides behind a summary."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from fwrl.figures.palette import Look

Floats = NDArray[np.float64]

GOLDEN = (5**0.5 - 1) / 2  # multiples of it, modulo 1, fill a band evenly without chance
HALF = 0.36  # of a row: how far dots stray from its middle


def scatter_row(axes: Axes, values: Floats, row: float, look: Look, *, size: float = 9.0) -> None:
    """The finite ones of `values` along x, spread over the height of the row; many dots are fainter dots.

    Rasterised: thousands of dots would make an SVG unbearably slow.
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
    """One row a label, the first on top, each in its colour."""
    axes.set_yticks(range(len(looks)), list(looks))
    axes.set_ylim(len(looks) - 0.45, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    for text, look in zip(axes.get_yticklabels(), looks.values(), strict=True):
        text.set_color(look.ink)
        text.set_fontweight("bold")
