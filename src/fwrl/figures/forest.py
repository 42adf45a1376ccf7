"""A forest plot: an effect and its interval against every baseline, one panel per world."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fwrl.errors import FwrlError
from fwrl.figures.palette import GREEN, GREY, INK, VERMILLION
from fwrl.figures.style import NOTE, figure_of, sheet

Effect = tuple[float, float, float]  # a number and the two ends of its interval


@figure_of
def forest(effects: Mapping[str, Mapping[str, Effect]], tie: float, of: str, digits: int = 2) -> Figure:
    """An interval for each baseline, in a panel for each world.

    An interval to the right of the tie is green: FWRL is better. To the left it is red, across it grey.

    Args:
        effects: by world and baseline, the effect and the ends of its interval; the same baselines in every world.
        tie: effect of a baseline that is as good as FWRL, drawn as a line.
        of: name of the effect, written below the panels.
        digits: decimal places of the numbers.

    Returns:
        The figure; `save` writes it.

    >>> figure = forest({"Four rooms": {"QL": (5.0, 4.0, 6.0)}}, 0.0, "reward")
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['5.00', '[4.00, 6.00]']
    """
    if not effects or not all(effects.values()):
        raise FwrlError("expected the effects of at least one world, got none")
    labels = list(next(iter(effects.values())))
    figure = sheet(11.5, 1.5 + 0.62 * len(labels))
    panels = figure.subplots(1, len(effects), sharey=True, sharex=True, squeeze=False)[0]
    for axes, (world, by_label) in zip(panels, effects.items(), strict=True):
        axes.axvline(tie, color=INK, linewidth=1.2)
        for row, label in enumerate(labels):
            _draw_effect(axes, by_label[label], row, tie, digits)
        axes.set_title(world, loc="left", weight="bold")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.margins(x=0.06)
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].set_ylim(len(labels) - 0.45, -0.6)
    figure.supxlabel(of, fontsize=NOTE + 1)
    return figure


def _draw_effect(axes: Axes, effect: Effect, row: int, tie: float, digits: int) -> None:
    value, low, high = effect
    shown = [f"{round(number, digits) + 0.0:.{digits}f}" for number in effect]  # + 0.0: no minus before zero
    colour = GREEN if low > tie else VERMILLION if high < tie else GREY
    axes.plot([low, high], [row, row], color=colour, linewidth=7, alpha=0.35, solid_capstyle="round")
    axes.plot([value], [row], "o", color=colour, markersize=11, markeredgecolor="white", markeredgewidth=1.5)
    for text, points, size, weight in (
        (shown[0], 58, 13, "bold"),
        (f"[{shown[1]}, {shown[2]}]", 146, NOTE, "normal"),
    ):
        axes.annotate(
            text,
            (1, row),
            (points, 0),
            xycoords=axes.get_yaxis_transform(),
            textcoords="offset points",
            ha="right",
            va="center",
            fontsize=size,
            weight=weight,
        )
