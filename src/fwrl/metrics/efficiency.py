"""Sample efficiency: how many episodes it takes to play nearly as well as the optimum, for good.

With rho_e the reward of episode e over the oracle's expected reward for that episode's goal, a run has learned
at the first episode e from which every mean of `window` consecutive ratios, rho_e' ... rho_(e' + window - 1) with
e' >= e, is at or above `level`. A run that never gets there is censored: its number is infinite, so medians still
count it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.errors import FwrlError, OptionError

Floats = NDArray[np.float64]

ROUNDING = 1e-9  # a mean this close to the level is at it


def sample_efficiency(reward: ArrayLike, expected: ArrayLike, *, window: int = 5, level: float = 0.9) -> Floats:
    """(runs,) the number of the episode, from 1, at which each run has learned; inf where it never has.

    `reward` and `expected` are (runs, episodes).

    >>> reward = [[0, 5, 10, 9, 10], [9, 9, 9, 9, 0]]
    >>> sample_efficiency(reward, np.full((2, 5), 10.0), window=2).tolist()
    [3.0, inf]
    """
    earned, optimum = np.asarray(reward, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    if earned.ndim != 2 or earned.shape != optimum.shape:
        raise FwrlError(
            f"expected reward and expected of one shape (runs, episodes), got {earned.shape} and {optimum.shape}"
        )
    if not (np.isfinite(earned).all() and np.isfinite(optimum).all() and np.all(optimum > 0)):
        raise FwrlError("expected finite rewards and positive expected ones; ratios of others mean nothing")
    episodes = earned.shape[1]
    if not 1 <= window <= episodes:
        raise OptionError(f"expected a window of 1 to {episodes} episodes, as many as there are, got {window}")
    means = np.lib.stride_tricks.sliding_window_view(earned / optimum, window, axis=1).mean(axis=-1)
    good = means >= level - ROUNDING
    good_to_the_end = np.logical_and.accumulate(good[:, ::-1], axis=1).sum(axis=1)
    first = good.shape[1] - good_to_the_end + 1
    return np.where(good_to_the_end > 0, first, np.inf)


def censored(episodes: ArrayLike) -> int:
    """How many runs never learned: to be reported beside any number made of the others.

    >>> censored([3.0, float("inf")])
    1
    """
    return int(np.isposinf(np.asarray(episodes, dtype=np.float64)).sum())
