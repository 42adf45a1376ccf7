"""Reward, or regret, over episodes: a curve for each agent, with its interval shaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from fwrl.arrays import Floats
from fwrl.errors import FwrlError
from fwrl.figures.palette import LOOKS, Look, table_of_colours
from fwrl.figures.style import NOTE, figure_of, sheet

GAP = 0.062  # the least distance of two labels, in heights of the axes


class RewardCurve(NamedTuple):
    """The learning curve of an agent over E episodes.

    Attributes:
        center: (E,) the curve, such as the interquartile mean over runs.
        low: (E,) the lower end of its interval.
        high: (E,) the upper end of its interval.
    """

    center: Floats
    low: Floats
    high: Floats


@figure_of
def reward_curves(
    title: str,
    reward: Mapping[str, RewardCurve],
    intervals: str,
    oracle: ArrayLike | None = None,
    of: str = "reward per episode",
) -> Figure:
    """A curve for each agent label, with its interval shaded.

    Args:
        reward: The curve of each agent by its label; at least one.
        intervals: Text below the figure: what curve and shade are, and the number of seeds.
        oracle: The expected reward of the best policy, one number or (E,) one per episode; None draws none.
        of: label of the vertical axis.

    Returns:
        The figure; `save` writes it.

    >>> flat = RewardCurve(np.full(3, 10.0), np.full(3, 9.0), np.full(3, 11.0))
    >>> figure = reward_curves("Four rooms", {"QL": flat}, "mean and 95 % interval, 5 seeds", oracle=50)
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['QL', 'oracle']
    """
    if not reward:
        raise FwrlError("expected the curve of at least one agent, got none")
    looks = table_of_colours(reward)
    figure = sheet(11, 5.6)
    axes = figure.add_subplot()
    ends: dict[str, float] = {}
    for k, (label, look) in enumerate(looks.items()):
        curve = RewardCurve(*(np.asarray(part, dtype=np.float64) for part in reward[label]))
        _draw_curve(axes, curve, look, first_mark=k)
        ends[label] = _last(curve.center)
    episodes = max(len(curve.center) for curve in reward.values())
    if oracle is not None:
        line = np.broadcast_to(np.asarray(oracle, dtype=np.float64), (episodes,))
        look = LOOKS["oracle"]
        axes.plot(np.arange(1, episodes + 1), line, color=look.colour, linestyle=look.line, linewidth=1.6)
        ends["oracle"] = _last(line)
    _frame(axes, episodes, of)
    _name_curves(axes, ends, looks | {"oracle": LOOKS["oracle"]}, episodes)
    figure.suptitle(title)
    figure.supxlabel(intervals, fontsize=NOTE + 1)
    return figure


def spread_apart(positions: Floats, gap: float) -> Floats:
    """(n,) the positions nearest to the ascending `positions`, in least squares, that are at least `gap` apart.

    >>> spread_apart(np.array([0.0, 0.0, 5.0]), 1.0).tolist()
    [-0.5, 0.5, 5.0]
    """
    steps = gap * np.arange(len(positions))
    moved: Floats = isotonic_regression(positions - steps).x + steps
    return moved


def _draw_curve(axes: Axes, curve: RewardCurve, look: Look, first_mark: int) -> None:
    """Draw the curve and its shade; `first_mark` shifts the markers, so that those of agents do not coincide."""
    episode = np.arange(1, len(curve.center) + 1)
    every = max(1, len(episode) // 7)
    axes.fill_between(episode, curve.low, curve.high, color=look.colour, alpha=0.13, linewidth=0)
    axes.plot(
        episode,
        curve.center,
        color=look.colour,
        linestyle=look.line,
        linewidth=look.width,
        marker=look.marker,
        markersize=8,
        markeredgecolor="white",
        markevery=(first_mark % every, every),
        zorder=3 - look.width / 10,  # thin lines over thick ones
    )


def _frame(axes: Axes, episodes: int, of: str) -> None:
    axes.set_xlim(0.5, max(episodes, 2))
    axes.set_ylim(bottom=min(0.0, axes.dataLim.y0))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("episode")
    axes.set_ylabel(of)
    axes.grid(axis="y")


def _name_curves(axes: Axes, ends: dict[str, float], looks: dict[str, Look], episodes: int) -> None:
    """Write each curve's name at its end, moved apart where curves end together."""
    bottom, top = axes.get_ylim()
    named = sorted((label for label in ends if np.isfinite(ends[label])), key=lambda label: ends[label])
    heights = spread_apart(np.array([ends[label] for label in named]), GAP * (top - bottom))
    for label, height in zip(named, heights, strict=True):
        look = looks[label]
        axes.annotate(
            label,
            (max(episodes, 2), ends[label]),
            (1.045, (height - bottom) / (top - bottom)),
            textcoords="axes fraction",
            color=look.ink,
            weight="bold",
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": look.colour,
                "linewidth": 1.2,
                "shrinkA": 1,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
            annotation_clip=False,
        )


def _last(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if len(finite) else np.nan
