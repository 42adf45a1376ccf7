"""Optimism in the face of uncertainty: an unseen outcome of an action counts as if it led straight to the goal.

Of an action tried n times, the next try may show an outcome never seen there. That outcome is assumed to be the goal,
for a promised reward of 0, or of the best step seen anywhere if that paid more. The best step seen alone would be too
little while the cheapest step is still unseen. Its probability q(n) is 1 before the first try. After that it is
estimated from all actions together: of m_j tries made after 2^j to 2^(j+1) - 1 earlier ones, c_j showed something new,
and

    q_j = (H / 2^j + c_j) / (1 + m_j)

with the prior H. Where outcomes are certain nothing new ever shows, q falls like 1 / m, and one try is enough; in the
windy worlds about one second try in ten shows something new, and actions are tried again in proportion. After 2^LEVELS
tries an action counts as known, or a trap would look like a way to the goal for ever. A probability below NEGLIGIBLE
counts as 0: to a plan that puts arriving first, a million bumps into a safe wall would be the surest way to arrive.
What this gives up too soon on trips that repeat is the concern of `model.doubt`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LEVELS = 6
NEGLIGIBLE = 1e-3


class Optimism(NamedTuple):
    """The evidence, and the probabilities in use, which `refresh` computes from it."""

    on: Ints  # (1,) 1 while optimism is on
    reward: Floats  # (1,) of an unseen outcome: 0, or the best seen anywhere
    prior: Floats  # (1,) H
    unseen: Floats  # (LEVELS,) q_j, the probabilities in use
    tries: Floats  # (LEVELS,) m_j
    new_outcomes: Floats  # (LEVELS,) c_j


def first_promise(*, counts_steps: bool) -> Floats:
    """(1,) the reward of a step that was not yet seen: 0, or -1 where every step counts as -1."""
    return np.array([-1.0 if counts_steps else 0.0])


def no_optimism(prior: float = 0.0, *, counts_steps: bool = False) -> Optimism:
    """Optimism switched off, without evidence."""
    ones = first_promise(counts_steps=counts_steps), np.array([prior])
    return Optimism(np.zeros(1, np.int64), *ones, *(np.zeros(LEVELS) for _ in range(3)))


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
    """q(n): the probability of an unseen outcome after n tries; 0 while optimism is off."""
    if optimism.on[0] == 0:
        return 0.0
    if n == 0:
        return 1.0
    j = level_of(n)
    return float(optimism.unseen[j]) if j < LEVELS else 0.0


@compiled
def optimism_ends(optimism: Optimism, n: int) -> bool:
    """Whether one more try after n makes q fall to 0."""
    return unseen_probability(optimism, n + 1) == 0.0 and unseen_probability(optimism, n) > 0.0


@compiled
def count_try(optimism: Optimism, n: int, new: bool) -> bool:
    """Count a try made after n earlier ones; whether to `refresh` now, at powers of two of m_j."""
    if n == 0:
        return False
    j = level_of(n)
    if j >= LEVELS:
        return False
    optimism.tries[j] += 1.0
    if new:
        optimism.new_outcomes[j] += 1.0
    tries = int(optimism.tries[j])
    return (tries & (tries - 1)) == 0


@compiled
def uncount_try(optimism: Optimism, n: int, new: bool) -> None:
    """Undo `count_try` for a transition that was refused."""
    if n > 0 and level_of(n) < LEVELS:
        optimism.tries[level_of(n)] -= 1.0
        if new:
            optimism.new_outcomes[level_of(n)] -= 1.0


@compiled
def see_reward(promise: Floats, r: float) -> bool:
    """Update the promise (1,) after a step with the reward r; whether it changed."""
    if r > promise[0]:
        promise[0] = r
        return True
    return False


@compiled
def refresh(optimism: Optimism) -> bool:
    """Set q_j from the evidence; whether one of them has become 0, or ceased to be."""
    ends = False
    for j in range(LEVELS):
        q = (optimism.prior[0] / (1 << j) + optimism.new_outcomes[j]) / (1.0 + optimism.tries[j])
        if q < NEGLIGIBLE:
            q = 0.0
        ends = ends or (q == 0.0) != (optimism.unseen[j] == 0.0)
        optimism.unseen[j] = q
    return ends
