"""Observed transitions: one edge e for each (s, a, s'), in the order of first observation.

An edge stores its number of observations, its summed reward and its best reward. Two linked lists run through the
edges: those that leave a pair (s, a), and those that enter a state. The newest edge is the head of both its lists.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np

from fwrl.arrays import Field, Floats, Ints
from fwrl.kernels.jit import compiled, inner

NONE = -1
EDGES = 0  # of `used`
PAGE = 512  # numbers in a page of memory
LINES_APART = 9


class Edges(NamedTuple):
    """Linked lists over arrays with room for E edges."""

    leaving: Annotated[Ints, Field("P", np.int64, fill=-1, least=-1)]  # head of the edges of the pair s * A + a
    entering: Annotated[Ints, Field("S", np.int64, fill=-1, least=-1)]  # head of the edges into a state
    next_leaving: Annotated[Ints, Field("E", np.int64, least=-1)]
    next_entering: Annotated[Ints, Field("E", np.int64, least=-1)]
    pair: Annotated[Ints, Field("E", np.int64, least=0, most="P")]  # s * A + a
    target: Annotated[Ints, Field("E", np.int64, least=0, most="S")]  # s'
    times: Annotated[Ints, Field("E", np.int64, least=1)]  # number of observations
    total: Annotated[Floats, Field("E", least=-1e300, most=1e300)]  # summed reward
    best: Annotated[Floats, Field("E", least=-1e300, most=1e300)]  # largest reward
    used: Annotated[Ints, Field("1", np.int64, least=0)]  # number of edges (EDGES)

    def sound(self) -> bool:
        """Check that each list, from its head, contains its edges, newest first, without spare room."""
        E = len(self.pair)
        same = self.used.tolist() == [E] and all(len(getattr(self, name)) == E for name in SLOTS)
        return same and all(
            _linked(head, following, keys)
            for head, following, keys in (
                (self.leaving, self.next_leaving, self.pair),
                (self.entering, self.next_entering, self.target),
            )
        )


SLOTS = ("next_leaving", "next_entering", "pair", "target", "times", "total", "best")


def _linked(head: Ints, following: Ints, keys: Ints) -> bool:
    """Check that each list, from its head, is the edges of one key from newest to oldest."""
    newest, older = np.full(len(head), NONE), np.full(len(keys), NONE)
    np.maximum.at(newest, keys, np.arange(len(keys)))
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    older[order[same + 1]] = order[same]
    return np.array_equal(head, newest) and np.array_equal(following, older)


def with_capacity(edges: Edges, more: int) -> Edges:
    """Return the same edges with room for `more` new ones; capacity doubles, so the cost of growing is amortised."""
    capacity, needed = len(edges.target), int(edges.used[EDGES]) + more
    if needed <= capacity:
        return edges
    size = max(needed, 2 * capacity)
    # One block, with rows an odd number of cache lines apart. If all rows began at the start of a page, they would map
    # to the same few cache lines, and a step would take twice as long.
    block = np.zeros((len(SLOTS), size + (LINES_APART * 8 - size) % PAGE), np.int64)
    grown: dict[str, Any] = {}
    for row, name in zip(block, SLOTS, strict=True):
        kept = getattr(edges, name)
        grown[name] = row[:size].view(kept.dtype)
        grown[name][:capacity] = kept
    return edges._replace(**grown)


def without_spare(edges: Edges) -> Edges:
    """Return the same edges without spare room."""
    used = int(edges.used[EDGES])
    return edges._replace(**{name: getattr(edges, name)[:used] for name in SLOTS})


@inner
def find_edge(edges: Edges, pair: int, target: int) -> int:
    """Return the edge from `pair` to `target`, or NONE."""
    e = edges.leaving[pair]
    while e != NONE and edges.target[e] != target:
        e = edges.next_leaving[e]
    return int(e)


@inner
def tries_of(edges: Edges, pair: int) -> int:
    """n(s, a): the number of observations of a pair."""
    n = 0
    e = edges.leaving[pair]
    while e != NONE:
        n += edges.times[e]
        e = edges.next_leaving[e]
    return n


@inner
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


@inner
def see_edge(edges: Edges, e: int, r: float) -> None:
    """Count one more observation of the edge `e`."""
    edges.times[e] += 1
    edges.total[e] += r
    edges.best[e] = max(edges.best[e], r)


@compiled
def count_edge(edges: Edges, pair: int, target: int, r: float) -> None:
    """Count one step from `pair` to `target`; add the edge if it's new."""
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
