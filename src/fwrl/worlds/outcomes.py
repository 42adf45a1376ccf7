"""Outcomes: `P(s' | s, a)` and `r(s, a, s')` as one flat table.

The outcomes of the pair (s, a) are the slots first[s * A + a] .. first[s * A + a + 1] - 1. Within a pair they are
sorted by next state, then reward, and no two share both. So the table is unique: the order in which outcomes were
listed doesn't matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError

ROUNDING = 1e-9  # how far from 1 the sum of listed probabilities may be


class Outcome(NamedTuple):
    """One possible outcome of a step.

    Attributes:
        probability: P(s' | s, a), above 0.
        next_state: s'.
        reward: r(s, a, s').
    """

    probability: float
    next_state: int
    reward: float


class OutcomeTables(NamedTuple):
    """The outcomes of every (state, action) in flat arrays, for compiled code."""

    first: Ints  # (S * A + 1,) where the outcomes of (s, a) begin
    probability: Floats  # (K,)
    cumulative: Floats  # (K,) summed within each (s, a); the last one is exactly 1
    next_state: Ints  # (K,)
    reward: Floats  # (K,)
    length: Floats  # (K,) distance travelled by this step


class Listed(NamedTuple):
    """Outcomes as given: in any order, with repetitions and probability 0 allowed.

    Attributes:
        state: (L,) where the step begins.
        action: (L,) the action taken there.
        probability: (L,) of the outcome; those of a state and action sum to 1.
        next_state: (L,) where the step ends.
        reward: (L,) of the step.
    """

    state: Ints
    action: Ints
    probability: Floats
    next_state: Ints
    reward: Floats

    def where(self, chosen: NDArray[np.bool_]) -> Listed:
        """Select the outcomes where `chosen` (L,) is true."""
        return Listed(
            self.state[chosen],
            self.action[chosen],
            self.probability[chosen],
            self.next_state[chosen],
            self.reward[chosen],
        )

    def joined(self, more: Listed) -> Listed:
        """Append more outcomes."""
        return Listed(
            np.concatenate([self.state, more.state]),
            np.concatenate([self.action, more.action]),
            np.concatenate([self.probability, more.probability]),
            np.concatenate([self.next_state, more.next_state]),
            np.concatenate([self.reward, more.reward]),
        )


def check_listed(listed: Listed, S: int, A: int, name: str) -> None:
    """Raise an error for the first entry with a state, action, probability or reward out of range."""
    s, a, p, t, r = listed
    for wrong, expected in (
        ((s < 0) | (s >= S), f"states from 0 to {S - 1}"),
        ((a < 0) | (a >= A), f"actions from 0 to {A - 1}"),
        ((t < 0) | (t >= S), f"next states from 0 to {S - 1}"),
        (~(np.isfinite(p) & (p >= 0)), "finite probabilities of at least 0"),
        (~np.isfinite(r), "finite rewards"),
    ):
        if wrong.any():
            k = int(np.argmax(wrong))
            came = f"probability {p[k]:g}, next state {t[k]}, reward {r[k]:g}"
            raise FwrlError(f"expected {expected}, but state {s[k]}, action {a[k]} of {name!r} has {came}")


def merge(listed: Listed, S: int, A: int, name: str) -> OutcomeTables:
    """Build the tables of `listed`, and merge outcomes that share next state and reward; lengths are 0.

    >>> once = np.zeros(3, dtype=np.int64)
    >>> listed = Listed(once, once, np.array([0.5, 0.25, 0.25]), once, np.array([0.0, -1.0, 0.0]))
    >>> merge(listed, 1, 1, "still").probability
    array([0.25, 0.75])
    """
    if not listed.probability.all():
        listed = listed.where(listed.probability > 0)
    pair = listed.state * A + listed.action
    probability, next_state = listed.probability, listed.next_state
    reward = listed.reward + 0.0  # make -0.0 and 0.0 the same reward
    if np.any(pair[1:] <= pair[:-1]):
        order = np.lexsort((reward, next_state, pair))
        pair, next_state, reward = pair[order], next_state[order], reward[order]
        slots = np.flatnonzero(_differ(pair) | _differ(next_state) | _differ(reward))
        probability = np.add.reduceat(probability[order], slots)
        pair, next_state, reward = pair[slots], next_state[slots], reward[slots]
    first = np.zeros(S * A + 1, dtype=np.int64)
    np.cumsum(np.bincount(pair, minlength=S * A), out=first[1:])
    cumulative = _cumulative(probability, first, A, name)
    return OutcomeTables(first, probability, cumulative, next_state, reward, np.zeros(len(reward)))


def _differ(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """(K,) whether a value differs from the previous one; true for the first."""
    return np.concatenate(([True], values[1:] != values[:-1]))


def _cumulative(probability: Floats, first: Ints, A: int, name: str) -> Floats:
    """Sum probabilities within each pair; one pass per rank keeps rounding errors within a pair."""
    counts = np.diff(first)
    if not counts.all():
        k = int(np.argmin(counts))
        raise FwrlError(f"every action needs an outcome, but {_where(k, A, name)} has none")
    cumulative = probability.copy()
    for rank in range(1, int(counts.max())):
        slots = first[:-1][counts > rank] + rank
        cumulative[slots] += cumulative[slots - 1]
    last = first[1:] - 1
    total = cumulative[last]
    wrong = np.abs(total - 1) > ROUNDING
    if wrong.any():
        k = int(np.argmax(wrong))
        raise FwrlError(f"probabilities must sum to 1, but those of {_where(k, A, name)} sum to {total[k]:g}")
    np.minimum(cumulative, 1.0, out=cumulative)
    cumulative[last] = 1.0
    return cumulative


def _where(pair: int, A: int, name: str) -> str:
    return f"state {pair // A}, action {pair % A} of {name!r}"
