"""Value map: the value of every cell as colour; light is far from the goal, dark is close, hatched is unknown.

The colour scale leaves the goal out. Its value (R_goal for Q-learning, the value of coming back for FWRL) would hide
the differences between all other cells.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from fwrl.arrays import Floats
from fwrl.figures.board import LINE, grid_of
from fwrl.figures.palette import INK
from fwrl.worlds import World

# Light enough for black text, and distinct from the blue of starts, the green of goals and the grey of unknown cells.
SHADES = LinearSegmentedColormap.from_list("value", colormaps["YlOrBr"](np.linspace(0.04, 0.58, 64)))
UNKNOWN = "#E4E4E4"


def scale(values: Iterable[tuple[Floats, int]]) -> Normalize:
    """One colour scale for several pairs of values (S,) and their goal.

    >>> scale([(np.array([-3.0, -np.inf, 10.0]), 2), (np.array([-1.0, 0.0, -2.0]), 1)]).vmin
    -3.0
    """
    known = np.concatenate([np.delete(v, goal)[np.isfinite(np.delete(v, goal))] for v, goal in values])
    if not len(known):
        return Normalize(-1.0, 0.0)
    low, high = float(known.min()), float(known.max())
    return Normalize(low, high) if low < high else Normalize(low - max(abs(low), 1e-6), high)


class ValueMap:
    """The coloured cells of one board, each with its value written in the middle, or `below` the middle.

    `show` may be called again with other values.
    """

    def __init__(self, axes: Axes, world: World, norm: Normalize, *, below: float = 0.0) -> None:
        self._norm = norm
        y, x = grid_of(world).cells
        self._cells = [
            axes.add_patch(Rectangle((c - 0.5, r - 0.5), 1, 1, edgecolor=LINE, linewidth=0.8, zorder=1))
            for r, c in zip(y, x, strict=True)
        ]
        self._texts: list[Text] = [
            axes.text(c, r + below, "", ha="center", va="center", fontsize=11, color=INK, zorder=6)
            for r, c in zip(y, x, strict=True)
        ]

    def show(self, values: Floats, goal: int) -> None:
        """Colour every cell by `values` (S,) and write the value into it, except at the goal."""
        for state, (cell, text) in enumerate(zip(self._cells, self._texts, strict=True)):
            known = bool(np.isfinite(values[state]))
            cell.set_facecolor(SHADES(self._norm(values[state])) if known else UNKNOWN)
            cell.set_hatch("" if known else "///")
            cell.set_edgecolor(LINE if known else "#BBBBBB")
            text.set_text("" if state == goal else written(values[state]))


def written(value: float) -> str:
    """A value with five significant digits.

    >>> written(-0.00075) == '\N{MINUS SIGN}0.00075', written(9.99925), written(1.0), written(-np.inf)
    (True, '9.9992', '1', 'unknown')
    """
    if not np.isfinite(value):
        return "unknown"
    return f"{value:.5g}".replace("-", "\N{MINUS SIGN}")
