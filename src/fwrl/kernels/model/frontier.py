"""Frontiers: states where some action was never tried, and the way to them by F itself.

An action never tried counts as if it led straight to the goal, for the reward of the best step seen anywhere. Then

    W(s) = max over frontier states x of V(s, x) + r

is what the unknown promises from s, whatever the goal, and an action is worth the best of r + max{V(s', g), W(s')}.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]


@compiled
def reach_frontiers(V: Floats, edges: Edges, r: float, W: Floats) -> None:
    """Fill W (S,)."""
    S = len(W)
    A = len(edges.leaving) // S
    W[:] = -np.inf
    for x in range(S):
        for a in range(A):
            if edges.leaving[x * A + a] == NONE:
                to_x = V[x]
                for s in range(S):
                    W[s] = max(W[s], to_x[s] + r)
                break


@compiled
def optimistic_rewards(V: Floats, edges: Edges, W: Floats, r: float, s: int, g: int, values: Floats) -> None:
    """What each action at s is worth with the unknown counted in."""
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
