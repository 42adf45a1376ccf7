"""Share of the oracle: what part of the reward within reach was earned.

The oracle's player follows the optimal policy from the first step, in the same task and with the same seeds; an
agent's share is its reward over the player's, each summed over all runs and episodes. Run i of both met the same
goals and starts, so the two are resampled as a pair.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.errors import FwrlError
from fwrl.metrics.bootstrap import Interval, checked_resamples, interval_of

Floats = NDArray[np.float64]


def share_of_oracle(reward: ArrayLike, oracle: ArrayLike) -> float:
    """The agent's summed `reward` over the oracle's, both (runs, episodes) or (runs,) with the same seeds.

    >>> share_of_oracle([[2.0, 4.0], [3.0, 3.0]], [[4.0, 4.0], [4.0, 4.0]])
    0.75
    """
    earned, possible = _sums_by_run(reward, oracle)
    return float(earned.sum() / possible.sum())


def share_interval(
    reward: ArrayLike, oracle: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Its bootstrap interval: whole runs are resampled, the agent's and the oracle's together.

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
            f"expected reward and oracle of one shape (runs, episodes), got {earned.shape} and {possible.shape}"
        )
    sums = earned.reshape(len(earned), -1).sum(axis=1), possible.reshape(len(possible), -1).sum(axis=1)
    if not (np.isfinite(sums[0]).all() and np.isfinite(sums[1]).all() and np.all(sums[1] > 0)):
        raise FwrlError(
            "expected finite rewards and an oracle that earns more than nothing in every run; where it does not, "
            "give the episodes more steps"
        )
    return sums
