"""A column V(., g) and a potential h, kept current by improvements only as edges turn out new or better.

When the edge u -> v comes to pay r, V(u) may rise to r + V(v), and then only states with an edge to one that rose
can rise in turn. They wait in the order of V, highest first (Ramalingam and Reps 1996): with rewards <= 0 a turn
raises nothing above the state whose turn it is. So once all those above some value had their turn, every V above
it is exact, and a question about a state need not wait for states farther from the goal.

Where some rewards are positive, the order is that of V - h, with the potential of Johnson's reweighting (see
`potential`): the same search on reduced rewards r(x, y) + h(y) - h(x) <= 0. h is kept current likewise: an edge
with r + h(v) > h(u) raises h(u), the largest raise first. Raises only shrink on the way back, and one that comes
round to v is the gain of the cycle that the edge closes.

With rewards <= 0 any rise counts, and V is the very column that a fresh search would give, to the last bit. With
positive ones only rises beyond a tie do, and each state has one turn at a time, lest cycles that gain by rounding
alone never end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.compact_edges import NEXT_ENTERING, NEXT_LEAVING, NONE, TARGET, CompactEdges, source_of
from fwrl.kernels.graph.heap import CLOSED, Heap, clear, close, pop, push
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN, improves

Floats = NDArray[np.float64]


@compiled
def offer_changes(V: Floats, h: Floats, edges: CompactEdges, heap: Heap, g: int, since: int, gains: bool) -> None:
    """Let the states that gain by the changes from number `since` on wait; all changes are still in the ring.

    `gains` tells that some rewards are positive.
    """
    A = len(edges.leaving) // len(edges.entering)
    for n in range(since, edges.changes[0]):
        e = edges.lately[n % len(edges.lately)]
        through = edges.best[e] + V[edges.link[e, TARGET]]
        _offer(V, h, heap, g, source_of(edges, e, A), through, gains)


@compiled
def settle(V: Floats, h: Floats, edges: CompactEdges, heap: Heap, g: int, least: float, turns: int) -> int:
    """Give `turns` turns, or as many as there are down to the key `least`; how many. Rewards are <= 0."""
    given = 0
    while given < turns and heap.size[0] > 0 and heap.key[0] >= least:
        _turn(V, h, edges, heap, g, pop(heap), False)
        given += 1
    return given


@compiled
def settle_once(V: Floats, h: Floats, edges: CompactEdges, heap: Heap, g: int) -> None:
    """Give every state that waits, and whoever rises by that, one turn; rewards may be positive."""
    while heap.size[0] > 0:
        key = heap.key[0]
        y = pop(heap)
        close(heap, y, key)
        _turn(V, h, edges, heap, g, y, True)
    clear(heap)


@compiled
def _turn(V: Floats, h: Floats, edges: CompactEdges, heap: Heap, g: int, y: int, gains: bool) -> None:
    """Let V rise over every edge into y."""
    A = len(edges.leaving) // len(edges.entering)
    here = V[y]
    first, source, reward = edges.sorted
    for k in range(first[y], first[y + 1]):
        _offer(V, h, heap, g, source[k], reward[k] + here, gains)
    e = edges.entering[y]
    while e != NONE:
        _offer(V, h, heap, g, source_of(edges, e, A), edges.best[e] + here, gains)
        e = edges.link[e, NEXT_ENTERING]


@compiled
def _offer(V: Floats, h: Floats, heap: Heap, g: int, x: int, through: float, gains: bool) -> None:
    """Let V(x) rise to `through` if that is better, and x wait its turn."""
    if through > V[x] and x != g and heap.place[x] != CLOSED and (not gains or improves(through, V[x])):
        V[x] = through
        push(heap, x, through - h[x] if gains else through)


@compiled
def fits_potential(h: Floats, u: int, r: float, v: int) -> bool:
    """Whether h is a potential for the edge u -> v too."""
    return bool(r + h[v] - h[u] <= _least_rise(h))


@compiled
def _least_rise(h: Floats) -> float:
    """The profit that counts, shared over the longest cycle there could be: less is taken for rounding."""
    return LEAST_GAIN / (2 * len(h))


@compiled
def raise_potential(h: Floats, edges: CompactEdges, heap: Heap, u: int, r: float, v: int) -> bool:
    """Make h a potential for the edge u -> v too; False, and h unchanged, where it closes a positive cycle.

    Nobody else may be waiting.
    """
    A = len(edges.leaving) // len(edges.entering)
    push(heap, u, r + h[v] - h[u])
    positive = False
    while heap.size[0] > 0 and not positive:
        rise = heap.key[0]
        y = pop(heap)
        close(heap, y, rise)
        if y == v:
            positive = rise > LEAST_GAIN
            continue
        first, source, reward = edges.sorted
        for k in range(first[y], first[y + 1]):
            _raise(h, heap, source[k], rise + (reward[k] + h[y] - h[source[k]]))
        e = edges.entering[y]
        while e != NONE:
            x = source_of(edges, e, A)
            _raise(h, heap, x, rise + (edges.best[e] + h[y] - h[x]))
            e = edges.link[e, NEXT_ENTERING]
    if not positive:
        for n in range(heap.size[1]):
            if heap.closed[n] != v:
                h[heap.closed[n]] += heap.closed_key[n]
    clear(heap)
    return not positive


@compiled
def _raise(h: Floats, heap: Heap, x: int, rise: float) -> None:
    """Let x wait to rise, if it is by more than rounding."""
    if rise > _least_rise(h):
        push(heap, x, rise)


@compiled
def path_rewards(V: Floats, edges: CompactEdges, s: int, values: Floats) -> None:
    """F(s, ., g): for each action the best of r + V(s', g) over its edges; -inf where none leads to g."""
    A = len(values)
    for a in range(A):
        best = -np.inf
        e = edges.leaving[s * A + a]
        while e != NONE:
            best = max(best, edges.best[e] + V[edges.link[e, TARGET]])
            e = edges.link[e, NEXT_LEAVING]
        values[a] = best
