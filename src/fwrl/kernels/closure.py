"""The fixed point of the triangle inequality, kept current one edge at a time.

V(i, j) >= V(i, k) + V(k, j) for all i, j, k, with equality reached by some path of observed edges. F need not
be stored: F(s, a, g) is the best of r + V(s', g) over the edges of (s, a).

When the edge u -> v is new or better, V(i, j) can change only where i reaches u and j is reached from v, and
then to V(i, u) + r + V(v, j). ClosureScratch outward from v over edges that are tight for v (they lie on a best path),
and at each j keep only the starts i that still improve: if i gains nothing at k, it gains nothing at any j whose
best path from v leads over k. This is the QUINCA scheme (Slobbe, Bergamini and Meyerhenke, 2016). V is stored
goal-major, so that the starts of one j lie side by side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import improves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ClosureScratch(NamedTuple):
    """Scratch for one outward walk."""

    through: Floats  # (S,) V(i, u) + r for each start i
    starts: Ints  # (S,) those that improve at the top of the stack come first
    seen: Ints  # (S,) number of the last walk that saw a state
    walks: Ints  # (1,)
    node: Ints  # (S,) the stack: state,
    kept: Ints  # (S,) how many starts it keeps,
    action: Ints  # (S,) the action whose edges are being followed,
    edge: Ints  # (S,) and the next of them


def closure_scratch(n_states: int) -> ClosureScratch:
    """Scratch for walks over `n_states` states."""
    ints = [np.zeros(n_states, np.int64) for _ in range(6)]
    return ClosureScratch(np.zeros(n_states), ints[0], ints[1], np.zeros(1, np.int64), *ints[2:])


def nothing_known(n_states: int) -> Floats:
    """V before any step: 0 on the diagonal, -inf elsewhere."""
    V = np.full((n_states, n_states), -np.inf)
    np.fill_diagonal(V, 0.0)
    return V


@compiled
def close_over(V: Floats, edges: Edges, walk: ClosureScratch, u: int, r: float, v: int) -> None:
    """Make V the fixed point again after the edge u -> v came to pay `r`, the best now known."""
    S = V.shape[0]
    A = len(edges.leaving) // S
    kept = _improving_starts(V, walk, u, r, v)
    if kept == 0:
        return
    walk.walks[0] += 1
    walk.seen[v] = walk.walks[0]
    top = 0
    _push(walk, edges, A, top, v, kept)
    while top >= 0:
        e = walk.edge[top]
        if e == NONE:
            a = walk.action[top] + 1
            if a == A:
                top -= 1
            else:
                walk.action[top] = a
                walk.edge[top] = edges.leaving[walk.node[top] * A + a]
            continue
        walk.edge[top] = edges.next_leaving[e]
        j = edges.target[e]
        if walk.seen[j] == walk.walks[0]:
            continue
        onward = V[j, v]
        if improves(onward, V[walk.node[top], v] + edges.best[e]):
            continue  # not tight: the best path from v to j leads elsewhere
        walk.seen[j] = walk.walks[0]
        kept = _still_improving(V[j], walk, walk.kept[top], j, onward)
        if kept > 0:
            top += 1
            _push(walk, edges, A, top, j, kept)


@compiled
def _push(walk: ClosureScratch, edges: Edges, A: int, top: int, j: int, kept: int) -> None:
    walk.node[top] = j
    walk.kept[top] = kept
    walk.action[top] = 0
    walk.edge[top] = edges.leaving[j * A]


@compiled
def _improving_starts(V: Floats, walk: ClosureScratch, u: int, r: float, v: int) -> int:
    """Raise V(i, v) for every start i that gains by the edge u -> v; the number of them."""
    to_u, to_v = V[u], V[v]
    kept = 0
    for i in range(len(to_u)):
        through = to_u[i] + r
        if improves(through, to_v[i]) and i != v:
            to_v[i] = through
            walk.through[i] = through
            walk.starts[kept] = i
            kept += 1
    return kept


@compiled
def _still_improving(to_j: Floats, walk: ClosureScratch, kept: int, j: int, onward: float) -> int:
    """Raise V(i, j) for those of the first `kept` starts that gain; they come first now. Their number."""
    starts = walk.starts
    still = 0
    for n in range(kept):
        i = starts[n]
        through = walk.through[i] + onward
        if improves(through, to_j[i]) and i != j:
            to_j[i] = through
            starts[n] = starts[still]
            starts[still] = i
            still += 1
    return still


@compiled
def path_rewards(V: Floats, edges: Edges, s: int, g: int, values: Floats) -> None:
    """F(s, ., g): for each action the best of r + V(s', g) over its edges; -inf where none leads to g."""
    A = len(values)
    to_g = V[g]
    for a in range(A):
        best = -np.inf
        e = edges.leaving[s * A + a]
        while e != NONE:
            best = max(best, edges.best[e] + to_g[edges.target[e]])
            e = edges.next_leaving[e]
        values[a] = best
