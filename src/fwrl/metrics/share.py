"""Share of the oracle: an agent's reward over the optimal policy's.

The oracle player follows the optimal policy from the first step, in the same task with the same seeds. An agent's
share is its reward over the player's, each summed over all runs and episodes. Run i of both has the same goals and
starts, so the two are resampled as a pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.errors import FwrlError
from fwrl.metrics.bootstrap import Interval, checked_resamples, interval_of

Floats = NDArray[np.float64]


def share_of_oracle(reward: ArrayLike, oracle: ArrayLike) -> float:
    """The agent's reward over the oracle's, each summed over all runs and episodes.

    Args:
        reward: (runs, episodes) or (runs,) rewards of the agent.
        oracle: Rewards of the oracle player with the same seeds, of the same shape.

    Returns:
        The share.

    >>> share_of_oracle([[2.0, 4.0], [3.0, 3.0]], [[4.0, 4.0], [4.0, 4.0]])
    0.75
    """
    earned, possible = _sums_by_run(reward, oracle)
    return float(earned.sum() / possible.sum())


def share_by_run(reward: ArrayLike, oracle: ArrayLike) -> Floats:
    """The share of each run by itself.

    Args:
        reward: (runs, episodes) or (runs,) rewards of the agent.
        oracle: Rewards of the oracle player with the same seeds, of the same shape.

    Returns:
        (runs,) shares.

    >>> share_by_run([[2.0, 4.0], [3.0, 1.0]], [[4.0, 4.0], [4.0, 4.0]]).tolist()
    [0.75, 0.5]
    """
    earned, possible = _sums_by_run(reward, oracle)
    return earned / possible


def share_interval(
    reward: ArrayLike, oracle: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """The bootstrap interval of `share_of_oracle`; run i of agent and oracle are resampled together.

    Args:
        reward: (runs, episodes) or (runs,) rewards of the agent.
        oracle: Rewards of the oracle player with the same seeds, of the same shape.
        level: The probability that the interval is to cover, default 0.95.
        resamples: The number of resamples, default 2000.
        seed: The seed of the resampling, default 0.

    Returns:
        The interval.

    >>> share_interval([[2.0, 4.0], [1.0, 2.0]], [[4.0, 8.0], [2.0, 4.0]])
    Interval(low=0.5, high=0.5)
    """
    earned, possible = _sums_by_run(reward, oracle)
    n = len(earned)
    drawn = np.random.default_rng(seed).integers(n, size=(checked_resamples(resamples), n))
    return interval_of(earned[drawn].sum(axis=1) / possible[drawn].sum(axis=1), level, n)


def _sums_by_run(reward: ArrayLike, oracle: ArrayLike) -> tuple[Floats, Floats]:
    earned, possible = np.asarray(reward, dtype=np.float64), np.asarray(oracle, dtype=np.float64)
    if earned.shape != possible.shape or earned.ndim not in (1, 2) or not earned.size:
        raise FwrlError(
            f"expected reward and oracle to have one shape (runs, episodes), got {earned.shape} and {possible.shape}"
        )
    sums = earned.reshape(len(earned), -1).sum(axis=1), possible.reshape(len(possible), -1).sum(axis=1)
    if not (np.isfinite(sums[0]).all() and np.isfinite(sums[1]).all() and np.all(sums[1] > 0)):
        raise FwrlError(
            "expected finite rewards and a positive total reward of the oracle in every run; if it is not positive, "
            "give the episodes more steps"
        )
    return sums
