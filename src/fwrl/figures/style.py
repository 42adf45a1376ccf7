"""The style of all figures, and saving them as PNG and SVG.

The style starts from matplotlib's defaults, so a user's own settings don't change it. pyplot is not used, so no global
state is left behind. The layout of a finished figure is computed once and frozen: PNG and SVG agree, and the same
input gives the same bytes.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec

import matplotlib.style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Figure  # exported, since only this package imports matplotlib

from fwrl.figures.palette import INK
from fwrl.files import replaced

DOTS_PER_INCH = 200
NOTE = 11  # points: the smallest text that is legible on a slide

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 13,
    "text.color": INK,
    "text.parse_math": False,  # names from logs may have dollars
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.titlesize": 14,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#DDDDDD",
    "figure.titlesize": 16,
    "figure.titleweight": "bold",
    "figure.constrained_layout.h_pad": 0.1,
    "figure.constrained_layout.w_pad": 0.1,
    "figure.dpi": DOTS_PER_INCH,
    "savefig.dpi": "figure",
    "svg.hashsalt": "fwrl",  # otherwise ids in an SVG are random
}

P = ParamSpec("P")


class Saved(NamedTuple):
    """The two files of a figure."""

    png: Path
    svg: Path


def style() -> AbstractContextManager[None]:
    """The style of all figures, as a context manager."""
    return matplotlib.style.context(["default", STYLE])


class Sheet(Figure):
    """A figure that notebooks show without pyplot, at half the resolution of files."""

    def _repr_png_(self) -> bytes:
        written = io.BytesIO()
        with style():
            self.savefig(written, format="png", dpi=DOTS_PER_INCH // 2)
        return written.getvalue()


def sheet(width: float, height: float) -> Figure:
    """An empty white figure of `width` x `height` inches with constrained layout."""
    figure = Sheet(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def figure_of(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Decorate a drawing function: it draws in the style of all figures, and the layout is frozen afterwards."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with style():
            figure = draw(*args, **kwargs)
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        return figure

    return drawn


def save(figure: Figure, folder: str | Path, name: str) -> Saved:
    """Write a figure as PNG and as SVG, each all or nothing.

    Args:
        folder: An existing folder.
        name: The name of the files, without suffix.

    Returns:
        The paths of the two files.
    """
    saved = Saved(Path(folder) / f"{name}.png", Path(folder) / f"{name}.svg")
    with style():
        with replaced(saved.png) as draft:
            figure.savefig(draft, format="png")
        with replaced(saved.svg) as draft:
            figure.savefig(draft, format="svg", metadata={"Date": None})
    return saved
