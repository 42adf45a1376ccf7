"""The qualitative figure: the values of QLCAT and FWRL in the H-maze, and their trips.

Rows are agents. Columns are the two training trips and the test, which has the start of the second and the goal of the
first. Each move of a trip is an arrow, thicker where it was repeated; the number next to a round arrow counts the steps
into walls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.figures.board import draw_board, draw_goal, draw_start, places
from fwrl.figures.palette import BLACK, INK
from fwrl.figures.style import NOTE, figure_of, sheet
from fwrl.figures.value_map import SHADES, ValueMap, scale, written
from fwrl.worlds import World


class Panel(NamedTuple):
    """One trip of one agent, and the agent's values for the trip's goal after it.

    Attributes:
        title: The first line above the panel; the second says whether the trip arrived.
        values: (S,) values of the states; -inf where no path is known.
        states: (n,) visited states, from the start to the last.
        start: The state where the trip begins.
        goal: The state that it is to reach.
    """

    title: str
    values: NDArray[np.float64]
    states: NDArray[np.int64]
    start: int
    goal: int


@figure_of
def h_maze(world: World, panels: Sequence[Sequence[Panel]], caption: str = "") -> Figure:
    r"""A row of panels for each agent, with one colour scale per row.

    Args:
        panels: For each agent its panels, at least one, from left to right; rows may differ in length.
        caption: Text below the panels, before the explanation of the marks.

    Returns:
        The figure; `save` writes it.

    >>> from fwrl.worlds import load_world
    >>> way = np.array([0, 2, 3, 4, 6])
    >>> panel = Panel("FWRL, test", -np.array([4.0, np.inf, 3.0, 2.0, 1.0, 4.0, 0.0]), way, 0, 6)
    >>> figure = h_maze(load_world("h-maze"), [[panel]])
    >>> figure.axes[0].get_title()
    'FWRL, test\n4 steps to the goal'
    """
    columns = max((len(row) for row in panels), default=0)
    if columns == 0:
        raise FwrlError("expected at least one panel to draw, got none")
    figure = sheet(0.9 + 4.2 * columns, 4.7 * len(panels) + 0.5)
    grid = figure.subplots(len(panels), columns, squeeze=False)
    for axes_row, row in zip(grid, panels, strict=True):
        norm = scale((panel.values, panel.goal) for panel in row)
        for axes, panel in zip(axes_row, row, strict=False):
            draw_board(axes, world, wall=BLACK)
            ValueMap(axes, world, norm, below=-0.08).show(panel.values, panel.goal)
            _draw_panel(axes, world, panel)
        for axes in axes_row[len(row) :]:
            axes.set_axis_off()
        bar = figure.colorbar(ScalarMappable(norm, SHADES), ax=list(axes_row), shrink=0.75, aspect=16, pad=0.02)
        bar.set_label("value of a state")
        ends = [float(norm.vmin or 0.0), float(norm.vmax or 0.0)]
        bar.set_ticks(ends, labels=[written(end) for end in ends])
    figure.supxlabel(
        f"{caption}\n".lstrip()
        + "S start, G goal; arrows: moves made, thicker where repeated; ↻ n: n steps into walls; "
        "hatched: no path known",
        fontsize=NOTE,
    )
    return figure


def _draw_panel(axes: Axes, world: World, panel: Panel) -> None:
    draw_goal(axes, *places(world, [panel.goal])[0])
    draw_start(axes, *places(world, [panel.start])[0])
    _draw_moves(axes, world, panel.states)
    steps = max(len(panel.states) - 1, 0)
    arrived = len(panel.states) > 0 and panel.states[-1] == panel.goal
    outcome = f"{steps} steps to the goal" if arrived else f"goal not reached in {steps} steps"
    axes.set_title(f"{panel.title}\n{outcome}")


def _draw_moves(axes: Axes, world: World, states: NDArray[np.int64]) -> None:
    """Draw each distinct move once, shifted to its right so that opposite moves do not overlap."""
    moves = Counter(zip(states[:-1].tolist(), states[1:].tolist(), strict=True))
    for (source, target), times in moves.items():
        here, there = places(world, [source, target])
        if source == target:
            axes.text(here[0], here[1] + 0.16, f"↻ {times}", ha="center", va="center", fontsize=12, zorder=6)
            continue
        ahead = there - here
        aside = 0.17 * np.array([-ahead[1], ahead[0]])
        axes.annotate(
            "",
            there + aside - 0.3 * ahead,
            here + aside + 0.3 * ahead,
            arrowprops={
                "arrowstyle": "-|>,head_width=0.35,head_length=0.6",
                "color": INK,
                "linewidth": 1.8 + np.log2(times),
                "shrinkA": 0,
                "shrinkB": 0,
                "mutation_scale": 16,
            },
            zorder=5,
        )
