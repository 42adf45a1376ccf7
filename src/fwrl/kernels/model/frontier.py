"""The exploration frontier: states with an untried action, and the best paths to them.

An untried action counts as if it led straight to the goal, with the reward r of the best step seen anywhere. Then

    W(s) = max over frontier states j of V(s, j) + r

is the optimistic value of s by way of the frontier, for every goal. The optimistic value of an action is the best of
r(s, a, s') + max{V(s', g), W(s')} over its edges.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]


@compiled
def reach_frontiers(V: Floats, edges: Edges, r: float, W: Floats) -> None:
    """Fill W (S,); `r` is the reward of the best step."""
    S = len(W)
    A = len(edges.leaving) // S
    W[:] = -np.inf
    for j in range(S):
        for a in range(A):
            if edges.leaving[j * A + a] == NONE:
                to_j = V[j]
                for s in range(S):
                    W[s] = max(W[s], to_j[s] + r)
                break


@compiled
def optimistic_rewards(V: Floats, edges: Edges, W: Floats, r: float, s: int, g: int, values: Floats) -> None:
    """Fill `values` (A,) with the optimistic value of each action at s."""
    A = len(values)
    to_g = V[g]
    for a in range(A):
        e = edges.leaving[s * A + a]
        best = r if e == NONE else -np.inf
        while e != NONE:
            y = edges.target[e]
            best = max(best, edges.best[e] + max(to_g[y], W[y]))
            e = edges.next_leaving[e]
        values[a] = best
