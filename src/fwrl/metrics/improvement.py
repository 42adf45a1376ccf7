"""Probability of improvement: how likely a run of one agent is to score higher than a run of another.

    P(X > Y) + P(X = Y) / 2

for independent runs X and Y of the same task: the Mann-Whitney U statistic of the two samples divided by n m. With
several tasks, take the mean over them. It measures how often one is better, not by how much.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.errors import FwrlError
from fwrl.metrics.bootstrap import Interval, checked_resamples, interval_of


def probability_of_improvement(x: ArrayLike, y: ArrayLike) -> float:
    """Return the probability that a run of `x` scores higher than one of `y`; ties count half.

    Args:
        x: (runs,) or (runs, tasks) scores of one agent; infinite scores are allowed, NaN is not.
        y: The scores of the other agent on the same tasks; the number of runs may differ.

    >>> probability_of_improvement([3.0, 4.0], [1.0, 3.0, 5.0])
    0.5833333333333334
    """
    return float(_wins(x, y).mean())


def improvement_interval(
    x: ArrayLike, y: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the bootstrap interval of `probability_of_improvement`.

    The runs of each agent and task are resampled separately.

    Args:
        x: (runs,) or (runs, tasks) scores of one agent.
        y: The scores of the other agent on the same tasks.
        level: Coverage of the interval.

    >>> improvement_interval([3.0, 4.0, 5.0], [1.0, 2.0])
    Interval(low=1.0, high=1.0)
    """
    wins = _wins(x, y)
    _, n, m = wins.shape
    rng = np.random.default_rng(seed)
    size = checked_resamples(resamples)
    estimates = np.zeros(size)
    for task in wins:
        # How often each run is drawn; the wins of a resample are a weighted sum over pairs of runs.
        times_x = rng.multinomial(n, np.full(n, 1 / n), size=size).astype(np.float64)
        times_y = rng.multinomial(m, np.full(m, 1 / m), size=size)
        estimates += np.sum((times_x @ task) * times_y, axis=1)
    return interval_of(estimates / wins.size, level, min(n, m))


def _wins(x: ArrayLike, y: ArrayLike) -> Floats:
    """(tasks, n, m): 1 if the run of x is better, 1/2 if they are equal, else 0."""
    a, b = _by_task("x", x), _by_task("y", y)
    if len(a) != len(b):
        raise FwrlError(f"x and y must have the same tasks, got {len(a)} and {len(b)} of them")
    mine, theirs = a[:, :, None], b[:, None, :]
    return np.where(mine == theirs, 0.5, mine > theirs)


def _by_task(name: str, scores: ArrayLike) -> Floats:
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim not in (1, 2) or not array.size:
        raise FwrlError(f"expected {name} of shape (runs,) or (runs, tasks), got {array.shape}")
    if missing := int(np.isnan(array).sum()):
        raise FwrlError(
            f"{missing} of {array.size} scores in {name} are NaN; leave those runs out of both agents and say so, or "
            "give them the worst possible score"
        )
    return array.reshape(len(array), -1).T
