"""Observed transitions: one edge e for each (s, a, s'), in the order of first observation.

An edge holds how often it was observed, its summed and its best reward. Two linked lists run through the edges: those
that leave a pair (s, a), and those that enter a state. The newest edge is the head of both its lists.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NONE = -1
EDGES = 0  # of `used`
PAGE = 512  # numbers in a page of memory
LINES_APART = 9


class Edges(NamedTuple):
    """Linked lists over arrays with room for E edges."""

    leaving: Ints  # (S * A,) head of the edges of the pair s * A + a
    entering: Ints  # (S,) head of the edges into a state
    next_leaving: Ints  # (E,)
    next_entering: Ints  # (E,)
    pair: Ints  # (E,) s * A + a
    target: Ints  # (E,) s'
    times: Ints  # (E,) number of observations
    total: Floats  # (E,) summed reward
    best: Floats  # (E,) largest reward
    used: Ints  # (1,) number of edges (EDGES)


class Outgoing(NamedTuple):
    """The edges that leave each pair, in the form that every edge store can give."""

    leaving: NDArray[Any]  # (S * A,) head of the edges of the pair s * A + a
    following: NDArray[Any]  # (E,) the next edge of the same pair
    target: NDArray[Any]  # (E,)
    best: Floats  # (E,) largest reward


SLOTS = ("next_leaving", "next_entering", "pair", "target", "times", "total", "best")


def no_edges(n_states: int, n_actions: int) -> Edges:
    """No edges, and no room for any: see `with_capacity`."""
    pairs = n_states * n_actions
    empty: dict[str, Any] = {name: np.zeros(0, np.int64) for name in SLOTS}
    empty |= {"total": np.zeros(0), "best": np.zeros(0), "used": np.zeros(1, np.int64)}
    return Edges(leaving=np.full(pairs, NONE), entering=np.full(n_states, NONE), **empty)


def with_capacity(edges: Edges, more: int) -> Edges:
    """The same edges with room for `more` new ones; capacity doubles, so the cost of growing is amortised."""
    capacity, needed = len(edges.target), int(edges.used[EDGES]) + more
    if needed <= capacity:
        return edges
    size = max(needed, 2 * capacity)
    # One block, its rows an odd number of cache lines apart. Rows that all began at the start of a page would map to
    # the same few lines of the cache, and a step would take twice as long.
    block = np.zeros((len(SLOTS), size + (LINES_APART * 8 - size) % PAGE), np.int64)
    grown: dict[str, Any] = {}
    for row, name in zip(block, SLOTS, strict=True):
        kept = getattr(edges, name)
        grown[name] = row[:size].view(kept.dtype)
        grown[name][:capacity] = kept
    return edges._replace(**grown)


@compiled
def outgoing(edges: Edges) -> Outgoing:
    """Views of the edges that leave each pair."""
    return Outgoing(edges.leaving, edges.next_leaving, edges.target, edges.best)


@compiled
def find_edge(edges: Edges, pair: int, target: int) -> int:
    """The edge from `pair` to `target`, or NONE."""
    e = edges.leaving[pair]
    while e != NONE and edges.target[e] != target:
        e = edges.next_leaving[e]
    return int(e)


@compiled
def tries_of(edges: Edges, pair: int) -> int:
    """n(s, a): the number of observations of a pair."""
    n = 0
    e = edges.leaving[pair]
    while e != NONE:
        n += edges.times[e]
        e = edges.next_leaving[e]
    return n


@compiled
def add_edge(edges: Edges, pair: int, target: int) -> int:
    """Add an edge from `pair` to `target` without observations; there must be capacity."""
    e = edges.used[EDGES]
    edges.used[EDGES] = e + 1
    edges.pair[e] = pair
    edges.target[e] = target
    edges.times[e] = 0
    edges.total[e] = 0.0
    edges.best[e] = -np.inf
    edges.next_leaving[e] = edges.leaving[pair]
    edges.leaving[pair] = e
    edges.next_entering[e] = edges.entering[target]
    edges.entering[target] = e
    return int(e)


@compiled
def see_edge(edges: Edges, e: int, r: float) -> None:
    """Count one more observation of the edge `e`."""
    edges.times[e] += 1
    edges.total[e] += r
    edges.best[e] = max(edges.best[e], r)


@compiled
def count_edge(edges: Edges, pair: int, target: int, r: float) -> None:
    """Count one step from `pair` to `target`; the edge is added if it is new."""
    e = find_edge(edges, pair, target)
    if e == NONE:
        e = add_edge(edges, pair, target)
    see_edge(edges, e, r)


@compiled
def drop_newest_edge(edges: Edges) -> None:
    """Remove the edge that was added last."""
    e = edges.used[EDGES] - 1
    edges.leaving[edges.pair[e]] = edges.next_leaving[e]
    edges.entering[edges.target[e]] = edges.next_entering[e]
    edges.used[EDGES] = e
