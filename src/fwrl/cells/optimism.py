"""Optimism for exploration: every heading at every cell might lead straight to the goal.

To the outcomes of each pair, tried or not, one visit is added that ends in the goal cell, at the cost of the straight
way there: k steps for every width of distance. The weight of that visit among n real ones is 1 / (1 + n), so it fades
where the heading was tried, and untried headings that point nowhere near the goal's direction cost as much as those
that do. A visit is k windows, since as many windows share its steps.
"""

from __future__ import annotations

import numpy as np

from fwrl.arrays import Floats
from fwrl.cells.transitions import Model, Weighted, joined
from fwrl.kernels.mdp.counts import outcomes_of


def optimistic(model: Model, n_labels: int, idle: int, goal: int, steps: Floats, weight: float) -> Model:
    """A model with one more outcome for every pair.

    Args:
        model: What was counted.
        n_labels: L.
        idle: The label that stays out; -1 for none.
        goal: The goal cell.
        steps: (S,) steps of the straight way from each cell to the goal.
        weight: Of the added outcome, in windows.

    Returns:
        A model with S * L pairs, less those of the idle label.
    """
    o = model.outcomes
    S = o.n_states
    pair = o.source.astype(np.int64) * n_labels + model.label
    counted = Weighted(pair[o.pair], o.target.astype(np.int64), o.times, -o.reward)
    every = np.arange(S * n_labels)
    every = every[every % n_labels != idle]
    added = Weighted(every, np.full(len(every), goal), np.full(len(every), weight), steps[every // n_labels])
    both = joined([counted, added], S)
    pairs, place = np.unique(both.pair, return_inverse=True)
    return Model(outcomes_of(S, pairs // n_labels, place, both.target, both.times, -both.steps), pairs % n_labels)
