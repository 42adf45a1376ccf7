"""Hope: what is not yet known counts as if it led straight to the goal.

Of an action tried n times, the next try may show an outcome never seen there. That outcome is hoped to be the goal, for
the reward of the best step seen anywhere. Its probability q(n) is 1 before the first try; after that it is learned from
all actions together: of m_j tries made after 2^j to 2^(j+1) - 1 earlier ones, u_j showed something new, and

    q_j = (H / 2^j + u_j) / (1 + m_j)

with H the hope before there is any evidence. Where outcomes are certain nothing new ever shows, q falls like 1 / m, and
one try is enough; in the wind about one second try in ten is a surprise, and actions are tried again in proportion.
After 2^LEVELS tries an action is known: traps must not be hoped out of for ever. Nor is a share below FAINT worth its
while: to a plan that puts arriving first, bumping into a safe wall a million times in faint hope would be arriving.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.kernels.graph.edges import Edges
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVELS = 6
FAINT = 1e-3


class Optimism(NamedTuple):
    """The evidence, and the shares in use, which follow it from time to time."""

    on: Ints  # (1,) 1 while hoping
    reward: Floats  # (1,) of the hoped-for step: the best seen anywhere
    prior: Floats  # (1,) H
    share: Floats  # (LEVELS,) q_j in use
    tries: Floats  # (LEVELS,) m_j
    news: Floats  # (LEVELS,) u_j


def no_optimism(prior: float = 0.0) -> Optimism:
    """Not hoping; no evidence."""
    ones = np.zeros(1), np.array([prior])
    return Optimism(np.zeros(1, np.int64), *ones, *(np.zeros(LEVELS) for _ in range(3)))


def check_optimism(optimism: Optimism) -> None:
    """Refuse a hope read from a file that would lead compiled code astray."""
    sound = [len(part) for part in optimism] == [1, 1, 1, LEVELS, LEVELS, LEVELS]
    sound = sound and optimism.on[0] in (0, 1) and all(bool(np.isfinite(part).all()) for part in optimism)
    sound = sound and bool(np.all((optimism.share >= 0) & (optimism.share <= 1)) and 0 <= optimism.prior[0] <= 1)
    sound = sound and bool(
        np.all((optimism.news >= 0) & (optimism.news <= optimism.tries)) and optimism.tries.max() < 2**53
    )
    if not sound:
        raise FileError("expected shares of hope from 0 to 1 and no more news than tries; the file is damaged")


@compiled
def level_of(n: int) -> int:
    """The largest j with 2^j <= n, for n of 1 or more."""
    j = 0
    while n > 1:
        n >>= 1
        j += 1
    return j


@compiled
def unseen_probability(optimism: Optimism, n: int) -> float:
    """q(n): the probability of the hoped-for outcome after n tries."""
    if optimism.on[0] == 0:
        return 0.0
    if n == 0:
        return 1.0
    j = level_of(n)
    return float(optimism.share[j]) if j < LEVELS else 0.0


@compiled
def optimism_ends(optimism: Optimism, n: int) -> bool:
    """Whether one more try after n leaves no hope where there was some."""
    return unseen_probability(optimism, n + 1) == 0.0 and unseen_probability(optimism, n) > 0.0


@compiled
def count_try(optimism: Optimism, n: int, new: bool) -> bool:
    """Count a try made after n earlier ones; whether the shares deserve to follow the evidence now."""
    if n == 0:
        return False
    j = level_of(n)
    if j >= LEVELS:
        return False
    optimism.tries[j] += 1.0
    if new:
        optimism.news[j] += 1.0
    m = int(optimism.tries[j])
    return (m & (m - 1)) == 0


@compiled
def uncount_try(optimism: Optimism, n: int, new: bool) -> None:
    """Take back a try that was refused."""
    if n > 0 and level_of(n) < LEVELS:
        optimism.tries[level_of(n)] -= 1.0
        if new:
            optimism.news[level_of(n)] -= 1.0


@compiled
def see_reward(reward: Floats, edges: Edges, r: float) -> bool:
    """Keep the reward of the best step, after `edges` has counted one for `r`; whether it changed."""
    first = edges.used[0] == 1 and edges.times[0] == 1
    if first or r > reward[0]:
        reward[0] = r
        return True
    return False


@compiled
def refresh(optimism: Optimism) -> None:
    """Set the shares to what the evidence says."""
    for j in range(LEVELS):
        q = (optimism.prior[0] / (1 << j) + optimism.news[j]) / (1.0 + optimism.tries[j])
        optimism.share[j] = q if q >= FAINT else 0.0
