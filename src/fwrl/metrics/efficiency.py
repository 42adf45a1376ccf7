"""Sample efficiency: the number of episodes until a run stays close to the optimum.

Let rho_e be the reward of episode e over the oracle's expected reward for that episode's goal. A run has learned at
the first episode e from which on every mean of `window` consecutive ratios, rho_e' ... rho_(e' + window - 1) with
e' >= e, is at or above `level`. A run that never reaches the level is censored: its number is infinite, so medians
still count it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.errors import FwrlError, OptionError

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # a mean this close below the level counts as at it


def sample_efficiency(reward: ArrayLike, expected: ArrayLike, *, window: int = 5, level: float = 0.9) -> Floats:
    """The first episode from which on each run stays at `level` of the oracle's expected reward.

    Args:
        reward: (runs, episodes) rewards.
        expected: (runs, episodes) the oracle's expected rewards for the same goals, all positive.
        window: The number of consecutive episodes averaged, default 5.
        level: The share of the expected reward to reach, default 0.9.

    Returns:
        (runs,) episode numbers, from 1; inf where a run never reaches the level.

    >>> reward = [[0, 5, 10, 9, 10], [9, 9, 9, 9, 0]]
    >>> sample_efficiency(reward, np.full((2, 5), 10.0), window=2).tolist()
    [3.0, inf]
    """
    earned, optimum = np.asarray(reward, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if earned.ndim != 2 or earned.shape != optimum.shape:
        raise FwrlError(
            f"expected reward and expected to have one shape (runs, episodes), got {earned.shape} and {optimum.shape}"
        )
    if not (np.isfinite(earned).all() and np.isfinite(optimum).all() and np.all(optimum > 0)):
        raise FwrlError("expected finite rewards and positive, finite expected rewards")
    episodes = earned.shape[1]
    if not 1 <= window <= episodes:
        raise OptionError(f"expected a window of 1 to {episodes} episodes, got {window}")
    means = np.lib.stride_tricks.sliding_window_view(earned / optimum, window, axis=1).mean(axis=-1)
    good = means >= level - ROUNDING
    good_to_the_end = np.logical_and.accumulate(good[:, ::-1], axis=1).sum(axis=1)
    first = good.shape[1] - good_to_the_end + 1
    return np.where(good_to_the_end > 0, first, np.inf)


def censored(episodes: ArrayLike) -> int:
    """The number of runs that never reach the level; report it beside any summary of the others.

    Args:
        episodes: (runs,) what `sample_efficiency` returned.

    Returns:
        The number of infinite entries.

    >>> censored([3.0, float("inf")])
    1
    """
    return int(np.isposinf(np.asarray(episodes, dtype=np.float64)).sum())
