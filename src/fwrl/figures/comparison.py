"""A comparison at a glance: the score of every agent in every world."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from fwrl.errors import FwrlError
from fwrl.figures.palette import table_of_colours
from fwrl.figures.style import NOTE, figure_of, sheet

LOWEST = -0.2  # lower scores are drawn here
LEGEND_LINE = 0.28  # inches


@figure_of
def comparison_scores(scores: Mapping[str, Mapping[str, tuple[float, float, float]]], note: str) -> Figure:
    """A row for each world, with a mark and an interval for each agent.

    Args:
        scores: For each world by name, for each agent by label: its score and the two ends of the interval of the
            score. Random play scores 0, the oracle 1. An agent may lack worlds.
        note: Text below the figure, such as the number of seeds.

    Returns:
        The figure; `save` writes it.

    >>> figure = comparison_scores({"h-maze": {"QL": (0.5, 0.4, 0.6)}}, "2 seeds")
    >>> [label.get_text() for label in figure.axes[0].get_yticklabels()]
    ['h-maze']
    """
    if not scores:
        raise FwrlError("expected the scores of at least one world, got none")
    looks = table_of_colours({label for by_agent in scores.values() for label in by_agent})
    figure = sheet(11, 1.6 + max(0.5 * len(scores), LEGEND_LINE * len(looks)))
    axes = figure.add_subplot()
    apart = 0.8 / max(1, len(looks))
    for k, (label, look) in enumerate(looks.items()):
        rows = [row for row, by_agent in enumerate(scores.values()) if label in by_agent]
        values = np.array([scores[world][label] for world in scores if label in scores[world]])
        heights = np.array(rows) + (k - (len(looks) - 1) / 2) * apart
        shown = np.clip(values, LOWEST, None)
        axes.hlines(heights, shown[:, 1], shown[:, 2], color=look.colour, linewidth=1.2)
        axes.plot(shown[:, 0], heights, look.marker, color=look.colour, markersize=5, label=label)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(scores)), list(scores))
    axes.set_ylim(len(scores) - 0.5, -0.5)
    axes.set_xlim(LOWEST - 0.02, 1.05)
    axes.set_xlabel(f"score: random play 0, oracle 1 (below {LOWEST:g} drawn there)")
    axes.grid(axis="x")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    figure.supxlabel(note, fontsize=NOTE + 1)
    return figure
