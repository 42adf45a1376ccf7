"""Bounded look-ahead: the pending updates that matter to one state, found by a search forward from it.

V(x) >= r(x, y) + V(y) holds for every edge x -> y except those into a state y with a pending update. The best path from
s has a last such state y on it, from which V is exact. So the best value of s is V(s), or V(y) plus the reward of the
path from s to y. A state is pruned once its path reward plus the largest pending V is below the best value known, and
so is everything behind a state whose V is above all pending ones. In newly explored parts of a world this search often
ends after a few states, however many updates are pending elsewhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.compact_edges import NEXT_LEAVING, NONE, TARGET, CompactEdges
from fwrl.kernels.graph.heap import CLOSED, OPEN, Heap, clear, close, pop, push
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import least_tie

Floats = NDArray[np.float64]


@compiled
def look_ahead(V: Floats, edges: CompactEdges, heap: Heap, ahead: Heap, s: int, g: int, most: int) -> bool:
    """Make the actions at `s` that tie for the best exact; False where more than `most` states may matter.

    Rewards must be <= 0. `heap` holds the pending updates, at least one; `ahead` is scratch, empty before and after.
    """
    found = _search(V, edges, heap.key[0], ahead, s, g, most)
    while found and _propagate_back(V, edges, heap, ahead, g):
        pass
    clear(ahead)
    return found


@compiled
def _search(V: Floats, edges: CompactEdges, ceiling: float, ahead: Heap, s: int, g: int, most: int) -> bool:
    """Close in `ahead` all states on paths to pending updates that may matter to `s`, nearest first."""
    A = len(edges.leaving) // len(edges.entering)
    best = V[s] if s != g else -np.inf
    push(ahead, s, 0.0)
    while ahead.size[OPEN] > 0 and ceiling + ahead.key[0] >= least_tie(best):
        if ahead.size[CLOSED] == most:
            return False
        so_far = ahead.key[0]
        x = pop(ahead)
        close(ahead, x, so_far)
        if x != s and (x == g or V[x] >= ceiling):
            continue
        for pair in range(x * A, x * A + A):
            e = edges.leaving[pair]
            while e != NONE:
                y = edges.link[e, TARGET]
                best = max(best, so_far + edges.best[e] + V[y])
                push(ahead, y, so_far + edges.best[e])
                e = edges.link[e, NEXT_LEAVING]
    return True


@compiled
def _propagate_back(V: Floats, edges: CompactEdges, heap: Heap, ahead: Heap, g: int) -> bool:
    """Relax the edges that leave the closed states, farthest first; whether any V rose."""
    A = len(edges.leaving) // len(edges.entering)
    rose = False
    for i in range(ahead.size[CLOSED] - 1, -1, -1):
        x = ahead.closed[i]
        before = V[x]
        for pair in range(x * A, x * A + A):
            e = edges.leaving[pair]
            while e != NONE and x != g:
                V[x] = max(V[x], edges.best[e] + V[edges.link[e, TARGET]])
                e = edges.link[e, NEXT_LEAVING]
        if V[x] > before:
            push(heap, x, V[x])
            rose = True
    return rose
