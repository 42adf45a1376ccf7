"""Share of the oracle, normalised score and regret: an agent's reward beside the best that can be expected.

The oracle's reward of an episode is the exact expectation of the best policy for the episode's goal. A *share* is the
agent's reward over the oracle's, each summed over all runs and episodes. It says something where an episode can hardly
lose anything. Where rewards have any sign, the *normalised score* does: the same ratio with a `floor`, the expected
reward of an agent that acts at random, taken off both. Random play scores 0 and the oracle 1. Run i of all three has
the same goals, so they are resampled together.

*Regret* is what an agent has earned less than the oracle so far. Here its unit is the oracle's lead over the floor in
the same episode: an agent that plays at random loses one a play.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.errors import FwrlError
from fwrl.metrics.bootstrap import Interval, checked_resamples, interval_of


def share_of_oracle(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike = 0.0) -> float:
    """The agent's reward over the oracle's, less the floor, each summed over all runs and episodes.

    Args:
        reward: (runs, episodes) or (runs,) rewards of the agent.
        oracle: The oracle's expected rewards for the same goals, of the same shape.
        floor: What counts as nothing: 0 for a share, expected rewards of random play for a normalised score.

    Returns:
        The share.

    >>> share_of_oracle([[2.0, 4.0], [3.0, 3.0]], [[4.0, 4.0], [4.0, 4.0]])
    0.75
    >>> share_of_oracle([[-50.0]], [[10.0]], floor=[[-90.0]])
    0.4
    """
    earned, possible = _sums_by_run(reward, oracle, floor)
    return float(earned.sum() / possible.sum())


def share_by_run(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike = 0.0) -> Floats:
    """The share of each run by itself.

    Args:
        reward: (runs, episodes) or (runs,) rewards of the agent.
        oracle: The oracle's expected rewards for the same goals, of the same shape.
        floor: What counts as nothing: 0 for a share, expected rewards of random play for a normalised score.

    Returns:
        (runs,) shares.

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
    """The bootstrap interval of `share_of_oracle`; run i of agent and oracle are resampled together.

    Args:
        reward: (runs, episodes) or (runs,) rewards of the agent.
        oracle: The oracle's expected rewards for the same goals, of the same shape.
        floor: What counts as nothing: 0 for a share, expected rewards of random play for a normalised score.
        level: The probability that the interval is to cover, default 0.95.
        resamples: The number of resamples, default 2000.
        seed: The seed of the resampling, default 0.

    Returns:
        The interval.

    >>> share_interval([[2.0, 4.0], [1.0, 2.0]], [[4.0, 8.0], [2.0, 4.0]])
    Interval(low=0.5, high=0.5)
    """
    earned, possible = _sums_by_run(reward, oracle, floor)
    n = len(earned)
    drawn = np.random.default_rng(seed).integers(n, size=(checked_resamples(resamples), n))
    return interval_of(earned[drawn].sum(axis=1) / possible[drawn].sum(axis=1), level, n)


def normalised_regret(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike = 0.0) -> Floats:
    """The regret of each run after each episode, in units of the oracle's lead over the floor.

    Args:
        reward: (runs, episodes) rewards of the agent.
        oracle: The oracle's expected rewards for the same goals, of the same shape.
        floor: What counts as nothing: 0, or expected rewards of random play.

    Returns:
        (runs, episodes) sums over episodes so far.

    >>> normalised_regret([[2.0, 4.0, 5.0]], [[4.0, 4.0, 4.0]]).tolist()
    [[0.5, 0.5, 0.25]]
    """
    earned, best, least = _checked(reward, oracle, floor)
    return np.cumsum((best - earned) / (best - least), axis=1)


def _sums_by_run(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike) -> tuple[Floats, Floats]:
    earned, best, least = _checked(reward, oracle, floor)
    return (earned - least).sum(axis=1), (best - least).sum(axis=1)


def _checked(reward: ArrayLike, oracle: ArrayLike, floor: ArrayLike) -> tuple[Floats, Floats, Floats]:
    """All three as (runs, episodes)."""
    earned, best = np.asarray(reward, dtype=np.float64), np.asarray(oracle, dtype=np.float64)
    least = np.asarray(floor, dtype=np.float64)
    if earned.shape != best.shape or least.shape not in ((), best.shape) or earned.ndim not in (1, 2) or not best.size:
        raise FwrlError(
            f"expected reward and oracle to have one shape (runs, episodes), got {earned.shape} and {best.shape}"
        )
    by_run = [np.broadcast_to(part, best.shape).reshape(len(best), -1) for part in (earned, best, least)]
    if not (all(np.isfinite(part).all() for part in by_run) and np.all((by_run[1] - by_run[2]).sum(axis=1) > 0)):
        raise FwrlError(
            "expected finite rewards and a positive total reward of the oracle above the floor in every run; if it is "
            "not positive, give the episodes more steps, or take random play as the floor"
        )
    return by_run[0], by_run[1], by_run[2]
