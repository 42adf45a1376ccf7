"""What was observed: one edge e for each (s, a, s'), in the order of first sight.

An edge keeps how often it was seen, its summed and its best reward. Two linked lists run through the edges:
those that leave a pair (s, a), and those that enter a state. The newest edge is the head of both its lists.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.kernels.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

NONE = -1
PAGE = 512  # numbers in a page of memory
LINES_APART = 9


class Edges(NamedTuple):
    """Linked lists over arrays; `used[0]` of the slots are taken."""

    leaving: Ints  # (S * A,) head of the edges of the pair s * A + a
    entering: Ints  # (S,) head of the edges into a state
    next_leaving: Ints  # (E,)
    next_entering: Ints  # (E,)
    pair: Ints  # (E,) s * A + a
    target: Ints  # (E,) s'
    times: Ints  # (E,) how often it was seen
    total: Floats  # (E,) summed reward
    best: Floats  # (E,) largest reward
    used: Ints  # (1,)


SLOTS = ("next_leaving", "next_entering", "pair", "target", "times", "total", "best")


def no_edges(n_states: int, n_actions: int) -> Edges:
    """No edges yet, and no room for any: see `with_room`."""
    pairs = n_states * n_actions
    empty: dict[str, Any] = {name: np.zeros(0, np.int64) for name in SLOTS}
    empty |= {"total": np.zeros(0), "best": np.zeros(0), "used": np.zeros(1, np.int64)}
    return Edges(leaving=np.full(pairs, NONE), entering=np.full(n_states, NONE), **empty)


def with_room(edges: Edges, more: int) -> Edges:
    """The same edges with room for `more` new ones; capacity doubles, so growing is cheap on the whole."""
    capacity, needed = len(edges.target), int(edges.used[0]) + more
    if needed <= capacity:
        return edges
    size = max(needed, 2 * capacity)
    # One block, its rows an odd number of cache lines apart: rows that all began at the start of a page would
    # fight for the same few lines of the cache, and a step would take twice as long.
    block = np.zeros((len(SLOTS), size + (LINES_APART * 8 - size) % PAGE), np.int64)
    grown: dict[str, Any] = {}
    for row, name in zip(block, SLOTS, strict=True):
        kept = getattr(edges, name)
        grown[name] = row[:size].view(kept.dtype)
        grown[name][:capacity] = kept
    return edges._replace(**grown)


def check_edges(edges: Edges, n_states: int, n_actions: int) -> None:
    """Refuse edges read from a file whose indices would lead compiled code astray."""
    used, capacity = int(edges.used.sum()), len(edges.target)
    links = ("leaving", "entering", "next_leaving", "next_entering")
    sound = (
        len(edges.used) == 1
        and len(edges.leaving) == n_states * n_actions
        and len(edges.entering) == n_states
        and all(len(getattr(edges, name)) == capacity for name in SLOTS)
        and 0 <= used <= capacity
        and _within(edges.pair[:used], 0, n_states * n_actions)
        and _within(edges.target[:used], 0, n_states)
        and all(_within(getattr(edges, name), NONE, used) for name in links[:2])
        and bool(np.all(edges.times[:used] > 0))
        and bool(np.isfinite(edges.total[:used]).all() and np.isfinite(edges.best[:used]).all())
    )
    # A list runs from newer to older edges, so it ends; every link must point that way.
    order = np.arange(used)
    sound = sound and all(
        bool(np.all(getattr(edges, name)[:used] < order) and np.all(getattr(edges, name)[:used] >= NONE))
        for name in links[2:]
    )
    if not sound:
        raise FileError("expected a consistent list of edges, got indices out of range; the file is damaged")


def _within(values: Ints, low: int, high: int) -> bool:
    return bool(np.all(values >= low) and np.all(values < max(high, low + 1)))


@compiled
def find_edge(edges: Edges, pair: int, target: int) -> int:
    """The edge from `pair` to `target`, or -1."""
    e = edges.leaving[pair]
    while e != NONE and edges.target[e] != target:
        e = edges.next_leaving[e]
    return int(e)


@compiled
def add_edge(edges: Edges, pair: int, target: int) -> int:
    """A new edge from `pair` to `target`, never seen yet; there must be room."""
    e = edges.used[0]
    edges.used[0] = e + 1
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
    """Count one step from `pair` to `target`, seen before or not."""
    e = find_edge(edges, pair, target)
    if e == NONE:
        e = add_edge(edges, pair, target)
    see_edge(edges, e, r)


@compiled
def drop_newest_edge(edges: Edges) -> None:
    """Forget the edge that was added last: it heads both its lists."""
    e = edges.used[0] - 1
    edges.leaving[edges.pair[e]] = edges.next_leaving[e]
    edges.entering[edges.target[e]] = edges.next_entering[e]
    edges.used[0] = e
