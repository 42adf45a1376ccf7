"""Share of the oracle, normalised score and regret: an agent's reward compared with the best possible expectation.

The oracle's reward for an episode is the exact expected reward of the best policy for the episode's goal. A *share* is
the agent's reward divided by the oracle's, each summed over all runs and episodes. It's meaningful when episodes can
hardly lose anything. If rewards can have either sign, use the *normalised score*: the same ratio after subtracting a
`floor` from both, the expected reward of random actions. Random play then scores 0 and the oracle 1. Run i of all three
has the same goals, so they are resampled together.

*Regret* is how much less than the oracle an agent has earned so far. We count it in units of the oracle's lead over the
floor in the same episode, so an agent that plays at random loses 1 per episode.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.errors import FwrlError
from fwrl.metrics.bootstrap import Interval, checked_resamples, interval_of


def share_of_oracle(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike = 0.0) -> float:
    """Divide the agent's reward by the oracle's, each above the floor and summed over all runs and episodes.

    Args:
        reward: (runs, episodes) or (runs,) rewards of the agent.
        oracle: The oracle's expected rewards for the same goals, of the same shape.
        floor: Reward that scores 0: 0 for a share, expected rewards of random play for a normalised score.

    >>> share_of_oracle([[2.0, 4.0], [3.0, 3.0]], [[4.0, 4.0], [4.0, 4.0]])
    0.75
    >>> share_of_oracle([[-50.0]], [[10.0]], floor=[[-90.0]])
    0.4
    """
    earned, possible = _sums_by_run(reward, oracle, floor)
    return float(earned.sum() / possible.sum())


def share_by_run(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike = 0.0) -> Floats:
    """Return the share of each run.

    Args:
        reward: (runs, episodes) or (runs,) rewards of the agent.
        oracle: The oracle's expected rewards for the same goals, of the same shape.
        floor: Reward that scores 0: 0 for a share, expected rewards of random play for a normalised score.

    >>> share_by_run([[2.0, 4.0], [3.0, 1.0]], [[4.0, 4.0], [4.0, 4.0]]).tolist()
    [0.75, 0.5]
    """
    earned, possible = _sums_by_run(reward, oracle, floor)
    return earned / possible


def share_interval(
    reward: ArrayLike,
    oracle: ArrayLike,
    floor: ArrayLike = 0.0,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Return the bootstrap interval of `share_of_oracle`; resample run i of agent and oracle together.

    Args:
        reward: (runs, episodes) or (runs,) rewards of the agent.
        oracle: The oracle's expected rewards for the same goals, of the same shape.
        floor: Reward that scores 0: 0 for a share, expected rewards of random play for a normalised score.
        level: Coverage of the interval.

    >>> share_interval([[2.0, 4.0], [1.0, 2.0]], [[4.0, 8.0], [2.0, 4.0]])
    Interval(low=0.5, high=0.5)
    """
    earned, possible = _sums_by_run(reward, oracle, floor)
    n = len(earned)
    drawn = np.random.default_rng(seed).integers(n, size=(checked_resamples(resamples), n))
    return interval_of(earned[drawn].sum(axis=1) / possible[drawn].sum(axis=1), level, n)


def normalised_regret(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike = 0.0) -> Floats:
    """Return the regret of each run after each episode, in units of the oracle's lead over the floor.

    Args:
        reward: (runs, episodes) rewards of the agent.
        oracle: The oracle's expected rewards for the same goals, of the same shape.
        floor: Reward that scores 0: the number 0, or expected rewards of random play.

    Returns:
        (runs, episodes) cumulative regret.

    >>> normalised_regret([[2.0, 4.0, 5.0]], [[4.0, 4.0, 4.0]]).tolist()
    [[0.5, 0.5, 0.25]]
    """
    earned, best, least = _checked(reward, oracle, floor)
    return np.cumsum((best - earned) / (best - least), axis=1)


def _sums_by_run(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike) -> tuple[Floats, Floats]:
    earned, best, least = _checked(reward, oracle, floor)
    return (earned - least).sum(axis=1), (best - least).sum(axis=1)


def _checked(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """Return all three as (runs, episodes)."""
    earned, best = np.asarray(reward, dtype=np.float64), np.asarray(oracle, dtype=np.float64)
    least = np.asarray(floor, dtype=np.float64)
    if earned.shape != best.shape or least.shape not in ((), best.shape) or earned.ndim not in (1, 2) or not best.size:
        raise FwrlError(
            f"reward and oracle must have the same shape (runs, episodes), got {earned.shape} and {best.shape}"
        )
    by_run = [np.broadcast_to(part, best.shape).reshape(len(best), -1) for part in (earned, best, least)]
    if not (all(np.isfinite(part).all() for part in by_run) and np.all((by_run[1] - by_run[2]).sum(axis=1) > 0)):
        raise FwrlError(
            "rewards must be finite, and the oracle's total must exceed the floor in every run; if it doesn't, give "
            "the episodes more steps, or pass the rewards of random play as the floor"
        )
    return by_run[0], by_run[1], by_run[2]
