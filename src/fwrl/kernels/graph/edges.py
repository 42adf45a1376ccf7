"""What was observed: one edge e for each (s, a, s'), in the order of first sight.

An edge keeps how often it was seen, its summed and its best reward. Two linked lists run through the edges:
those that leave a pair (s, a), and those that enter a state. The newest edge is the head of both its lists.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.kernels.runtime.compiled import compiled

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
    """No edges yet, and no room for any: see `with_capacity`."""
    pairs = n_states * n_actions
    empty: dict[str, Any] = {name: np.zeros(0, np.int64) for name in SLOTS}
    empty |= {"total": np.zeros(0), "best": np.zeros(0), "used": np.zeros(1, np.int64)}
    return Edges(leaving=np.full(pairs, NONE), entering=np.full(n_states, NONE), **empty)


def with_capacity(edges: Edges, more: int) -> Edges:
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
    """Refuse edges read from a file that would lead compiled code astray: indices out of range, lists that loop."""
    used, capacity, pairs = int(edges.used.sum()), len(edges.target), n_states * n_actions
    sound = len(edges.used) == 1 and 0 <= used <= capacity
    sound = sound and all(len(getattr(edges, name)) == capacity for name in SLOTS)
    if sound:
        pair, target, times = edges.pair[:used], edges.target[:used], edges.times[:used]
        sound = bool(np.all((pair >= 0) & (pair < pairs) & (target >= 0) & (target < n_states) & (times > 0)))
        sound = sound and bool(np.isfinite(edges.total[:used]).all() and np.isfinite(edges.best[:used]).all())
        sound = sound and _linked(edges.leaving, edges.next_leaving[:used], pair, pairs)
        sound = sound and _linked(edges.entering, edges.next_entering[:used], target, n_states)
    if not sound:
        raise FileError("expected a consistent list of edges; the file is damaged")


def _linked(head: Ints, following: Ints, keys: Ints, n: int) -> bool:
    """Whether each list, from its head on, is the edges of one key from the newest to the oldest."""
    newest, older = np.full(n, NONE), np.full(len(keys), NONE)
    np.maximum.at(newest, keys, np.arange(len(keys)))
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    older[order[same + 1]] = order[same]
    return np.array_equal(head, newest) and np.array_equal(following, older)


@compiled
def find_edge(edges: Edges, pair: int, target: int) -> int:
    """The edge from `pair` to `target`, or -1."""
    e = edges.leaving[pair]
    while e != NONE and edges.target[e] != target:
        e = edges.next_leaving[e]
    return int(e)


@compiled
def add_edge(edges: Edges, pair: int, target: int) -> int:
    """A new edge from `pair` to `target`, never seen yet; there must be scratch."""
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
