"""The fixed point of the triangle inequality, updated one edge at a time.

V(i, j) >= V(i, k) + V(k, j) for all i, j, k, and V(i, j) is the reward of some path of observed edges. We don't need to
store F: F(s, a, g) is the best of r + V(s', g) over the edges of (s, a).

When the edge x -> y is new or better, V(i, j) can change only if i reaches x and y reaches j, and then to
V(i, x) + r + V(y, j). A depth-first search from y follows edges that are tight for y (they lie on a best path), and
keeps at each j only the starts i that improve there: if i doesn't improve at k, it doesn't improve at any j whose best
path from y goes through k. This is the QUINCA scheme (Slobbe, Bergamini and Meyerhenke 2016). V is stored goal-major,
so the starts of one j are contiguous.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Field, Floats, Ints
from fwrl.kernels.edges import NONE, Edges
from fwrl.kernels.jit import inner, widened
from fwrl.kernels.ties import improves

StateScratch = Annotated[Ints, Field("S", np.int64, saved=False)]


class ClosureScratch(NamedTuple):
    """Scratch for one search from y."""

    through: Annotated[Floats, Field("S", saved=False)]  # V(i, x) + r for each start i
    starts: StateScratch  # the starts that improve at the top of the stack come first
    seen: StateScratch  # number of the last search that saw a state
    searches: Annotated[Ints, Field("1", np.int64, saved=False)]  # number of the current search
    node: StateScratch  # stack: the state,
    kept: StateScratch  # the number of starts that improve there,
    action: StateScratch  # the action whose edges are being followed,
    edge: StateScratch  # the next edge to follow


@inner
def close_over(
    V: Floats, edges: Edges, closed: NDArray[np.int8], scratch: ClosureScratch, x: int, r: float, y: int
) -> None:
    """Restore the fixed point V after the best reward of x -> y became `r`; nothing follows a closed state."""
    S = V.shape[0]
    A = len(edges.leaving) // S
    kept = _improving_starts(V, scratch, x, r, y)
    if kept == 0 or closed[y] != 0:
        return
    scratch.searches[0] += 1
    scratch.seen[y] = scratch.searches[0]
    top = widened(0)
    _push(scratch, edges, A, top, y, kept)
    while top >= 0:
        e = scratch.edge[top]
        if e == NONE:
            a = scratch.action[top] + 1
            if a == A:
                top -= 1
            else:
                scratch.action[top] = a
                scratch.edge[top] = edges.leaving[scratch.node[top] * A + a]
            continue
        scratch.edge[top] = edges.next_leaving[e]
        j = edges.target[e]
        if scratch.seen[j] == scratch.searches[0]:
            continue
        onward = V[j, y]
        if improves(onward, V[scratch.node[top], y] + edges.best[e]):
            continue  # not tight: the best path from y to j is another one
        scratch.seen[j] = scratch.searches[0]
        kept = _still_improving(V[j], scratch, scratch.kept[top], j, onward)
        if kept > 0 and closed[j] == 0:
            top += 1
            _push(scratch, edges, A, top, j, kept)


@inner
def _push(scratch: ClosureScratch, edges: Edges, A: int, top: int, j: int, kept: int) -> None:
    scratch.node[top] = j
    scratch.kept[top] = kept
    scratch.action[top] = 0
    scratch.edge[top] = edges.leaving[j * A]


@inner
def _improving_starts(V: Floats, scratch: ClosureScratch, x: int, r: float, y: int) -> int:
    """Raise V(i, y) for every start i that improves by the edge x -> y; return how many do."""
    to_x, to_y = V[x], V[y]
    kept = 0
    for i in range(len(to_x)):
        through = to_x[i] + r
        if improves(through, to_y[i]) and i != y:
            to_y[i] = through
            scratch.through[i] = through
            scratch.starts[kept] = i
            kept += 1
    return kept


@inner
def _still_improving(to_j: Floats, scratch: ClosureScratch, kept: int, j: int, onward: float) -> int:
    """Raise V(i, j) for those of the first `kept` starts that improve, and move them to the front; return how many."""
    starts = scratch.starts
    still = 0
    for position in range(kept):
        i = starts[position]
        through = scratch.through[i] + onward
        if improves(through, to_j[i]) and i != j:
            to_j[i] = through
            starts[position] = starts[still]
            starts[still] = i
            still += 1
    return still


@inner
def path_rewards(V: Floats, edges: Edges, closed: NDArray[np.int8], s: int, values: Floats) -> None:
    """Fill `values` with F(s, ., g), given the column V(., g): -inf for actions without a known path to g."""
    A = len(values)
    for a in range(A):
        best = -np.inf
        e = edges.leaving[s * A + a] if closed[s] == 0 else NONE
        while e != NONE:
            best = max(best, edges.best[e] + V[edges.target[e]])
            e = edges.next_leaving[e]
        values[a] = best
