"""Counted outcomes of every (state, action): the model for planning under uncertainty.

Pair k is one action at one state; a state may have any number of actions. Outcome e of a pair is one observed next
state, with its number of observations and its mean reward:

    P(s' | s, a) = times[e] / sum of times over the outcomes of (s, a)

The outcomes are stored by pair, and indexed by their next state.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats, Indices, Ints
from fwrl.kernels.shortest_paths import sorted_by


class Outcomes(NamedTuple):
    """E outcomes of K pairs of S states."""

    first_pair: Ints  # (S + 1,) the pairs of s are first_pair[s] .. first_pair[s + 1]
    first: Ints  # (K + 1,) the outcomes of pair k are first[k] .. first[k + 1]
    target: Indices  # (E,)
    times: Floats  # (E,) how often it was seen; positive
    reward: Floats  # (E,) mean reward
    source: Indices  # (K,) the state of a pair
    pair: Indices  # (E,) the pair of an outcome
    first_in: Indices  # (S + 1,) the outcomes that go to s are edge_in[first_in[s]] .. edge_in[first_in[s + 1]]
    edge_in: Indices  # (E,)

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.first_pair) - 1


def outcomes_of(
    n_states: int, source: ArrayLike, pair: ArrayLike, target: ArrayLike, times: ArrayLike, reward: ArrayLike
) -> Outcomes:
    """Build the model of E outcomes, given pair by pair; pairs are numbered state by state.

    Args:
        source: (K,) the state of each pair, in ascending order.
        pair: (E,) the pair of each outcome, in ascending order.
        target: (E,) next states.
        times: (E,) positive counts or weights.
        reward: (E,) mean rewards.
    """
    sources, pairs = np.asarray(source, np.int32), np.asarray(pair, np.int32)
    targets = np.ascontiguousarray(target, np.int32)
    first_pair = np.searchsorted(sources, np.arange(n_states + 1))
    first = np.searchsorted(pairs, np.arange(len(sources) + 1))
    first_in, edge_in = sorted_by(targets, n_states)
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
