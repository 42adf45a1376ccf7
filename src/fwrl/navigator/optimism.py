"""Optimism for exploration: every heading at every cell might go straight to the goal.

To the outcomes of each pair, tried or not, we add one visit that ends in the goal cell, at the cost of the straight
line there: k steps for every width of distance. Its weight among n observed visits is 1 / (1 + n), so it fades as a
heading is tried. Untried headings cost the same in every direction, even away from the goal. A visit counts as k
windows, because k windows share its steps.
"""

from __future__ import annotations

import numpy as np

from fwrl.arrays import Floats
from fwrl.kernels.mdp.counts import outcomes_of
from fwrl.navigator.transitions import Model, Weighted, joined


def optimistic(model: Model, n_labels: int, idle: int, goal: int, steps: Floats, weight: float) -> Model:
    """Add one more outcome to every pair.

    Args:
        n_labels: L.
        idle: the label to leave out; -1 for none.
        steps: (S,) steps of the straight line from each cell to the goal.
        weight: of the added outcome, in windows.

    Returns:
        A model with S * L pairs, without those of the idle label.
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
