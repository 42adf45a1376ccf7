"""A cache of the best actions at each state for the goal in use.

On a known map values rarely change, and an agent visits the same states again and again. An entry is valid while the
count of changes equals the one it was made at; a new goal counts as a change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import largest, least_tie

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Greedy(NamedTuple):
    """The best actions of each state, and when they were found."""

    best: Ints  # (S, A) the actions that tie for the best come first
    ties: Ints  # (S,) how many tie
    made: Ints  # (S,) the count of changes when the entry was made
    changes: Ints  # (1,) count of changes


def empty_greedy(n_states: int, n_actions: int) -> Greedy:
    """No valid entry."""
    best, ties = np.zeros((n_states, n_actions), np.int64), np.ones(n_states, np.int64)
    return Greedy(best, ties, np.full(n_states, -1), np.zeros(1, np.int64))


@compiled
def cache_greedy(greedy: Greedy, s: int, values: Floats) -> None:
    """Store the actions at `s` that tie for the best of `values` (A,)."""
    least = least_tie(largest(values))
    ties = 0
    for a in range(len(values)):
        if values[a] >= least:
            greedy.best[s, ties] = a
            ties += 1
    greedy.ties[s] = ties
    greedy.made[s] = greedy.changes[0]
