"""Incremental shortest paths: a column V(., g) and a potential h, updated when an edge is new or better.

When the edge x -> y comes to pay r, V(x) may rise to r + V(y), and then only states with an edge to one that rose can
rise in turn. They are kept in a heap, highest V first (Ramalingam and Reps 1996). With rewards <= 0, expanding a state
raises nothing above it. So once all states above some value are expanded, every V above it is exact, and a query about
a state does not depend on states farther from the goal.

Where some rewards are positive, the key is V - h, with the potential of Johnson's reweighting (see `potential`): the
same search on reduced rewards r(x, y) + h(y) - h(x) <= 0. h is updated likewise: an edge with r + h(y) > h(x) raises
h(x), and the largest rise is propagated first. Rises only shrink along a path, and one that comes back to y is the
reward of the cycle that the edge closes.

With rewards <= 0 every rise counts, and V equals the column of a new search to the last bit. With positive rewards only
rises beyond a tie count, and each state is expanded once per update; otherwise a cycle that is positive by rounding
alone would never end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.compact_edges import NEXT_ENTERING, NONE, TARGET, CompactEdges, source_of
from fwrl.kernels.graph.heap import CLOSED, OPEN, Heap, clear, close, is_closed, pop, push
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN, improves

Floats = NDArray[np.float64]


@compiled
def relax_changes(V: Floats, h: Floats, edges: CompactEdges, heap: Heap, g: int, since: int, positive: bool) -> None:
    """Relax the edges that changed from change number `since` on, all of them still in the ring.

    `positive` tells whether there are positive rewards.
    """
    A = len(edges.leaving) // len(edges.entering)
    for change in range(since, edges.changes[0]):
        e = edges.lately[change % len(edges.lately)]
        through = edges.best[e] + V[edges.link[e, TARGET]]
        _relax(V, h, heap, g, source_of(edges, e, A), through, positive)


@compiled
def settle(V: Floats, h: Floats, edges: CompactEdges, heap: Heap, g: int, least: float, most: int) -> int:
    """Expand up to `most` states with keys of at least `least`; how many. Rewards must be <= 0."""
    expanded = 0
    while expanded < most and heap.size[OPEN] > 0 and heap.key[0] >= least:
        _expand(V, h, edges, heap, g, pop(heap), False)
        expanded += 1
    return expanded


@compiled
def settle_once(V: Floats, h: Floats, edges: CompactEdges, heap: Heap, g: int) -> None:
    """Expand every state in the heap, and every state that rises by that, once; rewards may be positive."""
    while heap.size[OPEN] > 0:
        key = heap.key[0]
        y = pop(heap)
        close(heap, y, key)
        _expand(V, h, edges, heap, g, y, True)
    clear(heap)


@compiled
def _expand(V: Floats, h: Floats, edges: CompactEdges, heap: Heap, g: int, y: int, positive: bool) -> None:
    """Relax every edge into y."""
    A = len(edges.leaving) // len(edges.entering)
    here = V[y]
    first, source, reward = edges.sorted
    for i in range(first[y], first[y + 1]):
        _relax(V, h, heap, g, source[i], reward[i] + here, positive)
    e = edges.entering[y]
    while e != NONE:
        _relax(V, h, heap, g, source_of(edges, e, A), edges.best[e] + here, positive)
        e = edges.link[e, NEXT_ENTERING]


@compiled
def _relax(V: Floats, h: Floats, heap: Heap, g: int, x: int, through: float, positive: bool) -> None:
    """Raise V(x) to `through` if that is better, and push x."""
    if through > V[x] and x != g and not is_closed(heap, x) and (not positive or improves(through, V[x])):
        V[x] = through
        push(heap, x, through - h[x] if positive else through)


@compiled
def fits_potential(h: Floats, x: int, r: float, y: int) -> bool:
    """Whether h is a potential for the edge x -> y too."""
    return bool(r + h[y] - h[x] <= _least_rise(h))


@compiled
def _least_rise(h: Floats) -> float:
    """LEAST_GAIN divided by twice the longest possible cycle: smaller rises are rounding."""
    return LEAST_GAIN / (2 * len(h))


@compiled
def raise_potential(h: Floats, edges: CompactEdges, heap: Heap, x: int, r: float, y: int) -> bool:
    """Make h a potential for the edge x -> y too; False, and h unchanged, where it closes a positive cycle.

    `heap` is empty before and after.
    """
    A = len(edges.leaving) // len(edges.entering)
    push(heap, x, r + h[y] - h[x])
    positive = False
    while heap.size[OPEN] > 0 and not positive:
        rise = heap.key[0]
        s = pop(heap)
        close(heap, s, rise)
        if s == y:
            positive = rise > LEAST_GAIN
            continue
        first, source, reward = edges.sorted
        for i in range(first[s], first[s + 1]):
            _raise(h, heap, source[i], rise + (reward[i] + h[s] - h[source[i]]))
        e = edges.entering[s]
        while e != NONE:
            before = source_of(edges, e, A)
            _raise(h, heap, before, rise + (edges.best[e] + h[s] - h[before]))
            e = edges.link[e, NEXT_ENTERING]
    if not positive:
        for i in range(heap.size[CLOSED]):
            if heap.closed[i] != y:
                h[heap.closed[i]] += heap.closed_key[i]
    clear(heap)
    return not positive


@compiled
def _raise(h: Floats, heap: Heap, x: int, rise: float) -> None:
    """Push x with its rise, if that is more than rounding."""
    if rise > _least_rise(h):
        push(heap, x, rise)
