"""Percentile bootstrap intervals of a statistic over runs.

Runs (seeds) are the random sample, so we resample runs, with replacement. The interval lies between the
(1 - level) / 2 and (1 + level) / 2 quantiles of the statistic over the resamples.

- Episodes of a run aren't independent: `bootstrap_runs` and `bootstrap_curve` resample whole runs.
- Tasks are fixed and their runs independent: `bootstrap_tasks` resamples each task's runs separately (stratified).

Quantiles are resampled values, rounded outward and never interpolated, so infinite (censored) scores have intervals
too. A resample without a value (NaN) counts as -inf for the lower end and +inf for the upper. The interval of a single
run is (-inf, inf).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.errors import FwrlError, OptionError

Statistic: TypeAlias = Callable[[Floats, int], Floats]  # takes an array and the axis to reduce, like np.mean

BLOCK = 2**18  # scores resampled at a time, few enough for the processor's cache


class Interval(NamedTuple):
    """The bootstrap interval of a number."""

    low: float
    high: float


class Band(NamedTuple):
    """The bootstrap intervals of a curve of E points: the (E,) lower and (E,) upper ends."""

    low: Floats
    high: Floats


def bootstrap_runs(
    scores: ArrayLike, statistic: Statistic, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the interval of a statistic over all entries of `scores`; resample whole runs.

    Args:
        scores: (runs,) or (runs, episodes).
        statistic: Takes an array and the axis to reduce, like np.mean.
        level: Coverage of the interval.

    >>> from fwrl.metrics import median
    >>> bootstrap_runs([3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 7.0], median)
    Interval(low=2.0, high=6.0)
    """
    runs = _scores(scores)
    estimates = [statistic(block.reshape(len(block), -1), -1) for block in _whole_runs(runs, resamples, seed)]
    return interval_of(np.concatenate(estimates), level, len(runs))


def bootstrap_curve(
    scores: ArrayLike, statistic: Statistic, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Band:
    """Return the interval of a statistic for each episode separately, not for the curve jointly.

    Args:
        scores: (runs, episodes).
        statistic: Takes an array and the axis to reduce, like np.mean.
        level: Coverage of each interval, episode by episode.

    Returns:
        The lower and upper ends, each (episodes,).

    >>> low, high = bootstrap_curve([[0.0, 4.0], [0.0, 6.0], [0.0, 8.0]], np.mean)
    >>> low.tolist(), high.tolist()
    ([0.0, 4.0], [0.0, 8.0])
    """
    runs = _scores(scores)
    estimates = [statistic(block, 1) for block in _whole_runs(runs, resamples, seed)]
    return _band(np.concatenate(estimates), level, len(runs))


def bootstrap_tasks(
    scores: ArrayLike, statistic: Statistic, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the interval of a statistic over all entries of `scores`; resample the runs of each task separately.

    Args:
        scores: (runs, tasks); with one task this is `bootstrap_runs`.
        statistic: Takes an array and the axis to reduce, like np.mean.
        level: Coverage of the interval.

    >>> from fwrl.metrics import iqm
    >>> low, high = bootstrap_tasks([[0.1, 0.8], [0.3, 0.9], [0.2, 0.7], [0.3, 0.9]], iqm)
    >>> low < iqm([0.1, 0.8, 0.3, 0.9, 0.2, 0.7, 0.3, 0.9]) < high
    True
    """
    runs = _scores(scores)
    estimates = [statistic(block.reshape(len(block), -1), -1) for block in _runs_by_task(runs, resamples, seed)]
    return interval_of(np.concatenate(estimates), level, len(runs))


def interval_of(estimates: Floats, level: float, runs: int) -> Interval:
    """Return the percentile interval of `estimates`, the statistic in every resample of `runs` runs."""
    low, high = _band(estimates, level, runs)
    return Interval(float(low), float(high))


def checked_resamples(resamples: int) -> int:
    """Return `resamples`; raise if it's less than 1."""
    if resamples < 1:
        raise OptionError(f"expected at least one resample, got {resamples}; 2000 are usual")
    return resamples


def _band(estimates: Floats, level: float, runs: int) -> Band:
    if not 0 < level < 1:
        raise OptionError(f"expected a level between 0 and 1, got {level}; 0.95 is usual")
    unknown = np.isnan(estimates) if runs > 1 else np.ones(estimates.shape, dtype=np.bool_)
    tail = (1 - level) / 2
    return Band(
        np.quantile(np.where(unknown, -np.inf, estimates), tail, axis=0, method="lower"),
        np.quantile(np.where(unknown, np.inf, estimates), 1 - tail, axis=0, method="higher"),
    )


def _scores(scores: ArrayLike) -> Floats:
    """The scores as (runs, columns)."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim not in (1, 2) or not array.size:
        raise FwrlError(
            f"expected at least one score, in an array of shape (runs,) or (runs, columns), got shape {array.shape}"
        )
    return array.reshape(len(array), -1)


def _whole_runs(runs: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks of resamples, (resamples, runs, columns)."""
    rng = np.random.default_rng(seed)
    for size in _block_sizes(resamples, runs.size):
        yield runs[rng.integers(len(runs), size=(size, len(runs)))]


def _runs_by_task(runs: Floats, resamples: int, seed: int) -> Iterator[Floats]:
    """Blocks of resamples, (resamples, runs, columns), with runs drawn separately for every column."""
    rng = np.random.default_rng(seed)
    for size in _block_sizes(resamples, runs.size):
        yield runs[rng.integers(len(runs), size=(size, *runs.shape)), np.arange(runs.shape[1])]


def _block_sizes(resamples: int, scores: int) -> Iterator[int]:
    size = max(1, BLOCK // scores)
    for done in range(0, checked_resamples(resamples), size):
        yield min(size, resamples - done)


def bootstrap_pairs(
    x: ArrayLike,
    y: ArrayLike,
    statistic: Statistic,
    combine: Callable[[Floats, Floats], Floats],
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return the interval of `combine(statistic(x), statistic(y))`, where run i of both has the same seed.

    Args:
        x: (runs,) or (runs, episodes); run i is resampled together with run i of y.
        y: The same number of runs as x.
        statistic: Takes an array and the axis to reduce, like np.mean.
        combine: A function of the two statistics, such as np.subtract or np.divide.
        level: Coverage of the interval.

    >>> from fwrl.metrics import median
    >>> bootstrap_pairs([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], median, np.divide)
    Interval(low=2.0, high=2.0)
    """
    a, b = _scores(x), _scores(y)
    if len(a) != len(b):
        raise FwrlError(f"x and y must have the same number of runs, got {len(a)} and {len(b)}")
    width = max(a.shape[1], b.shape[1])
    rng = np.random.default_rng(seed)
    estimates = []
    for size in _block_sizes(resamples, len(a) * width):
        drawn = rng.integers(len(a), size=(size, len(a)))
        of_x, of_y = (statistic(runs[drawn].reshape(size, -1), -1) for runs in (a, b))
        estimates.append(combine(of_x, of_y))
    return interval_of(np.concatenate(estimates), level, len(a))
