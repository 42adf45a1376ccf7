"""Which of those who wait matter to one state, found from its side: a search forward over the known edges.

V lags only behind states that wait: V(x) >= r(x, y) + V(y) for every edge x -> y but those into one that waits. The
best path from s has a last such state y on it, from which V is exact, so the best of s is V(s), or V(y) less the
cost of the way from s to y. Nobody beyond the highest V that waits, less the best known, can matter, nor anybody
behind a state above all that wait. A walker on new ground often reaches no more than its last few states; how much
waits elsewhere is nothing to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.compact_edges import NEXT_LEAVING, NONE, TARGET, CompactEdges
from fwrl.kernels.graph.heap import Heap, clear, close, pop, push
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import least_tie

Floats = NDArray[np.float64]


@compiled
def look_ahead(V: Floats, edges: CompactEdges, heap: Heap, ahead: Heap, s: int, g: int, most: int) -> bool:
    """Make the actions at `s` that tie for the best exact; False where more than `most` states may matter to it.

    Rewards are <= 0, somebody waits in `heap`, nobody in `ahead`.
    """
    found = _search(V, edges, heap.key[0], ahead, s, g, most)
    while found and _raise_back(V, edges, heap, ahead, g):
        pass
    clear(ahead)
    return found


@compiled
def _search(V: Floats, edges: CompactEdges, ceiling: float, ahead: Heap, s: int, g: int, most: int) -> bool:
    """Finish in `ahead` all states on the way to those who may matter to `s`, nearest first."""
    A = len(edges.leaving) // len(edges.entering)
    best = V[s] if s != g else -np.inf
    push(ahead, s, 0.0)
    while ahead.size[0] > 0 and ceiling + ahead.key[0] >= least_tie(best):
        if ahead.size[1] == most:
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
def _raise_back(V: Floats, edges: CompactEdges, heap: Heap, ahead: Heap, g: int) -> bool:
    """Let V rise over the edges that leave the states found, farthest first; whether any did."""
    A = len(edges.leaving) // len(edges.entering)
    rose = False
    for n in range(ahead.size[1] - 1, -1, -1):
        x = ahead.closed[n]
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
