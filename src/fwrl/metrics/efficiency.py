"""Sample efficiency: the number of episodes until a run comes close to the optimum.

Let rho_e be the reward of episode e divided by the oracle's expected reward for that episode's goal, after subtracting
a floor from both (see `fwrl.metrics.share`). A run has learned at the first episode e for which the mean of `window`
consecutive ratios, rho_e ... rho_(e + window - 1), is at least `level`. This number doesn't depend on the length of the
run. (The first episode after which *every* such mean is good does: the longer the run, the later.) A run that never
reaches the level is censored: its number is infinite, so medians still count it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.errors import FwrlError, OptionError

ROUNDING = 1e-9  # a mean this close below the level counts as reaching it


def sample_efficiency(
    reward: ArrayLike, expected: ArrayLike, floor: ArrayLike = 0.0, *, window: int = 5, level: float = 0.9
) -> Floats:
    """Return the first episode at which each run reaches `level` of the oracle's expected reward.

    Args:
        reward: (runs, episodes) rewards.
        expected: (runs, episodes) the oracle's expected rewards for the same goals, all above the floor.
        floor: Reward that scores 0: the number 0, or (runs, episodes) expected rewards of random play.
        window: Number of consecutive episodes to average.
        level: Share of the expected reward to reach.

    Returns:
        (runs,) episode numbers, from 1; inf if a run never reaches the level.

    >>> reward = [[0, 5, 10, 9, 10], [9, 9, 9, 9, 0]]
    >>> sample_efficiency(reward, np.full((2, 5), 10.0), window=2).tolist()
    [3.0, 1.0]
    """
    earned, optimum, least = (np.asarray(part, dtype=np.float64) for part in (reward, expected, floor))
    if least.shape not in ((), optimum.shape):
        raise FwrlError(f"floor must have the shape of expected, {optimum.shape}, got {least.shape}")
    earned, optimum = earned - least, optimum - least
    if earned.ndim != 2 or earned.shape != optimum.shape:
        raise FwrlError(
            f"reward and expected must have the same shape (runs, episodes), got {earned.shape} and {optimum.shape}"
        )
    if not (np.isfinite(earned).all() and np.isfinite(optimum).all() and np.all(optimum > 0)):
        raise FwrlError("rewards must be finite, and expected rewards finite and positive (above the floor)")
    episodes = earned.shape[1]
    if not 1 <= window <= episodes:
        raise OptionError(f"expected a window of 1 to {episodes} episodes, got {window}")
    means = np.lib.stride_tricks.sliding_window_view(earned / optimum, window, axis=1).mean(axis=-1)
    good = means >= level - ROUNDING
    return np.where(good.any(axis=1), good.argmax(axis=1) + 1.0, np.inf)


def censored(episodes: ArrayLike) -> int:
    """Count the runs that never reach the level; report the number next to any summary of the others.

    Args:
        episodes: (runs,) the result of `sample_efficiency`.

    >>> censored([3.0, float("inf")])
    1
    """
    return int(np.isposinf(np.asarray(episodes, dtype=np.float64)).sum())
