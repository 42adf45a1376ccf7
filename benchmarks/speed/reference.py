"""What the solver is held to in benchmarks: SciPy's sparse matrices alone, none of fwrl's kernels.

Value iteration to a standstill: first the probability of arriving, then the reward given arrival over the pairs that
attain it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, diags_array
from scipy.sparse.linalg import splu

from fwrl.kernels.model.outcomes import Outcomes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STANDSTILL = 1e-15
TIE = 1e-9  # relative difference in arrival up to which pairs are alike


def probabilities(model: Outcomes) -> Any:
    """(K, S) the probability of each next state."""
    tries = np.bincount(model.pair, model.times)
    return csr_array(
        (model.times / tries[model.pair], (model.pair, model.target)), shape=(len(model.source), model.n_states)
    )


def best_values(model: Outcomes, goal: int) -> tuple[Floats, Floats]:
    """Arrival and reward of every state of a model whose states all have actions, all of reward -1.

    Only states that do not arrive at all have arrival 0, and -inf as reward.
    """
    P, first = probabilities(model), model.first_pair[:-1]
    p = np.zeros(model.n_states)
    p[goal] = 1.0
    while True:
        better = np.maximum.reduceat(P @ p, first)
        better[goal] = 1.0
        if np.all(np.abs(better - p) <= STANDSTILL * better):
            break
        p = better
    through = P @ p
    usable = (through >= (1.0 - TIE) * p[model.source]) & (through > 0)
    W = diags_array(np.where(usable, 1.0 / np.where(through > 0, through, 1.0), 0.0)) @ P @ diags_array(p)
    v = np.where(p > 0, 0.0, -np.inf)
    finite = np.zeros(model.n_states)
    while True:
        worth = np.where(usable, -1.0 + W @ finite, -np.inf)
        better = np.maximum.reduceat(worth, first)
        better[goal] = 0.0
        better[p == 0] = 0.0
        if np.all(np.abs(better - finite) <= STANDSTILL * np.maximum(np.abs(better), 1e-300)):
            break
        finite = better
    return p, np.where(p > 0, finite, v)


def policy_equations(model: Outcomes, goal: int, pair: Ints) -> tuple[Any, Floats]:
    """The equations (I - P) x = -1 of the policy `pair` (S,) at the states where it acts."""
    acts = np.flatnonzero(pair >= 0)
    place = np.full(model.n_states, -1)
    place[acts] = np.arange(len(acts))
    chosen = probabilities(model)[pair[acts]].tocoo()
    row, column = chosen.coords
    inside = place[column] >= 0
    n = len(acts)
    W = csc_array((chosen.data[inside], (row[inside], place[column[inside]])), shape=(n, n))
    return csc_array(diags_array(np.ones(n)) - W), np.full(n, -1.0)


def factorised(matrix: Any, right: Floats) -> Floats:
    """One factorisation by SuperLU, and one solve."""
    x: Floats = splu(matrix).solve(right)
    return x
