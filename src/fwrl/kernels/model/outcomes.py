"""Counted outcomes of every (state, action): the model that planning under uncertainty works on.

Pair k is one action at one state; a state may have any number of actions. Outcome e of a pair is one observed next state,
how often it was seen and its mean reward:

    P(s' | s, a) = times[e] / sum of times over the outcomes of (s, a)

The outcomes are stored by pair, and indexed by the state they lead to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]


class Outcomes(NamedTuple):
    """E outcomes of K pairs of S states."""

    first_pair: Ints  # (S + 1,) the pairs of s are first_pair[s] .. first_pair[s + 1]
    first: Ints  # (K + 1,) the outcomes of pair k are first[k] .. first[k + 1]
    target: Indices  # (E,)
    times: Floats  # (E,) how often it was seen: positive
    reward: Floats  # (E,) mean reward
    source: Indices  # (K,) the state of a pair
    pair: Indices  # (E,) the pair of an outcome
    first_in: Ints  # (S + 1,) the outcomes that lead to s are edge_in[first_in[s]] .. edge_in[first_in[s + 1]]
    edge_in: Indices  # (E,)

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.first_pair) - 1


def outcomes_of(
    n_states: int, source: ArrayLike, pair: ArrayLike, target: ArrayLike, times: ArrayLike, reward: ArrayLike
) -> Outcomes:
    """The model of E outcomes, given pair by pair; pairs are numbered state by state.

    Args:
        n_states: S.
        source: (K,) the state of each pair, not falling.
        pair: (E,) the pair of each outcome, not falling.
        target: (E,) next states, different within a pair.
        times: (E,) positive.
        reward: (E,) mean rewards.
    """
    sources, pairs = np.asarray(source, np.int32), np.asarray(pair, np.int32)
    targets = np.ascontiguousarray(target, np.int32)
    first_pair = np.searchsorted(sources, np.arange(n_states + 1))
    first = np.searchsorted(pairs, np.arange(len(sources) + 1))
    first_in, edge_in = np.zeros(n_states + 1, np.int64), np.empty(len(targets), np.int32)
    index_by_target(targets, first_in, edge_in)
    return Outcomes(
        first_pair,
        first,
        targets,
        np.ascontiguousarray(times, np.float64),
        np.ascontiguousarray(reward, np.float64),
        np.ascontiguousarray(sources),
        np.ascontiguousarray(pairs),
        first_in,
        edge_in,
    )


@compiled
def index_by_target(target: Indices, first_in: Ints, edge_in: Indices) -> None:
    """Counting sort of the outcomes by target; `first_in` comes in zero."""
    S = len(first_in) - 1
    for e in range(len(target)):
        first_in[target[e] + 1] += 1
    for y in range(S):
        first_in[y + 1] += first_in[y]
    # first_in[y] moves to the end of its group as the group fills, and is moved back after.
    for e in range(len(target)):
        edge_in[first_in[target[e]]] = e
        first_in[target[e]] += 1
    for y in range(S, 0, -1):
        first_in[y] = first_in[y - 1]
    first_in[0] = 0
