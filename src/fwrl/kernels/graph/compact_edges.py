"""Known edges of a large world: the best reward of each observed (s, a, s'), in 24 bytes an edge instead of 56.

Two linked lists run through the edges, the newest at the head: those that leave a pair (s, a), and those that enter a
state. Pair, target and both links of an edge lie side by side, in 32 bits each; counts and sums are not kept. Following
a list of entering edges reads all over memory, so the edges are sorted by target (`incoming_csr`) whenever a column is
made from scratch. The lists of entering edges are then empty, and hold only edges added since.

A ring holds the edges that were new or better most recently, so that a column made earlier can be updated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import OptionError
from fwrl.kernels.graph.edges import Outgoing
from fwrl.kernels.graph.incoming_csr import HIGHEST, INDEX_LIMIT, IncomingCsr, counting_sort, reward_range
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

NONE = -1
PAIR, TARGET, NEXT_LEAVING, NEXT_ENTERING = 0, 1, 2, 3  # of `link`
EDGES, SORTED = 0, 1  # of `used`
RING = 1 << 16  # changes kept
SPARE = 1 << 20  # slots beyond one for each pair


class CompactEdges(NamedTuple):
    """Linked lists over arrays with room for E edges."""

    leaving: Indices  # (S * A,) head of the edges of the pair s * A + a
    entering: Indices  # (S,) head of the edges into a state that are not sorted
    link: Indices  # (E, 4) PAIR, TARGET, and the next edge of both lists
    best: Floats  # (E,) largest reward
    used: Ints  # (2,) number of edges (EDGES), and how many of them, from the first on, are sorted (SORTED)
    lately: Indices  # (RING,) edges that changed; change number i is at i modulo RING
    changes: Ints  # (1,) how often an edge was new or better
    sorted: IncomingCsr  # the first used[SORTED] edges, with room for E
    place: Indices  # (E,) position of an edge in `sorted`
    extremes: Floats  # (2,) bounds on the rewards of sorted edges between two states (LOWEST, HIGHEST)


def no_compact_edges(n_states: int, n_actions: int) -> CompactEdges:
    """No edges, and room for at least one of each pair; the system allocates memory as it fills."""
    pairs = n_states * n_actions
    if pairs + SPARE > INDEX_LIMIT:
        raise OptionError(
            f"expected at most {INDEX_LIMIT - SPARE:,} pairs of state and action, got {n_states:,} x {n_actions:,}"
        )
    size = first_capacity(pairs)
    return CompactEdges(
        np.full(pairs, NONE, np.int32),
        np.full(n_states, NONE, np.int32),
        np.zeros((size, 4), np.int32),
        np.zeros(size),
        np.zeros(2, np.int64),
        np.zeros(RING, np.int32),
        np.zeros(1, np.int64),
        IncomingCsr(np.zeros(n_states + 1, np.int32), np.zeros(size, np.int32), np.zeros(size)),
        np.zeros(size, np.int32),
        np.zeros(2),
    )


def first_capacity(pairs: int) -> int:
    """The number of edges there is room for at first."""
    return pairs + min(pairs, SPARE)


def with_capacity(edges: CompactEdges, more: int) -> CompactEdges:
    """The same edges with room for `more` new ones; capacity doubles, so the cost of growing is amortised."""
    capacity, used = len(edges.best), int(edges.used[EDGES])
    if used + more <= capacity:
        return edges
    size = max(used + more, 2 * capacity)
    if size > INDEX_LIMIT:
        raise OptionError(f"expected at most {INDEX_LIMIT:,} edges, got {size:,}")
    first, source, reward = edges.sorted
    return edges._replace(
        link=_resized(edges.link, size),
        best=_resized(edges.best, size),
        sorted=IncomingCsr(first, _resized(source, size), _resized(reward, size)),
        place=_resized(edges.place, size),
    )


def _resized(array: NDArray[Any], size: int) -> NDArray[Any]:
    """A copy of `size` rows: those of `array` that fit, then zeros."""
    resized: NDArray[Any] = np.zeros((size, *array.shape[1:]), array.dtype)
    resized[: len(array)] = array[:size]
    return resized


def without_spare(edges: CompactEdges) -> CompactEdges:
    """The part that a file holds: no spare room, and no lists of entering edges."""
    used = int(edges.used[EDGES])
    link = edges.link[:used].copy()
    link[:, NEXT_ENTERING] = NONE
    return edges._replace(link=link, best=edges.best[:used], used=edges.used[: EDGES + 1])


def relinked(edges: CompactEdges) -> CompactEdges:
    """The edges of `without_spare` with room for more, and with all lists made from pairs and targets."""
    used = len(edges.best)
    edges = edges._replace(used=np.array([used, 0]))
    edges = with_capacity(edges, max(1, first_capacity(len(edges.leaving)) - used))
    _link_all(edges)
    return edges


def incoming(edges: CompactEdges) -> IncomingCsr:
    """All edges by target; a view of those kept sorted."""
    sort(edges)
    E, (first, source, reward) = int(edges.used[EDGES]), edges.sorted
    return IncomingCsr(first, source[:E], reward[:E])


@compiled
def sort(edges: CompactEdges) -> None:
    """Sort all edges by target, and empty the lists of entering edges."""
    E = edges.used[EDGES]
    if edges.used[SORTED] == E:
        return
    edges.used[SORTED] = E
    edges.entering[:] = NONE
    first, source, reward = edges.sorted
    A = len(edges.leaving) // len(edges.entering)
    counting_sort(edges.link[:E, TARGET], first, edges.place)
    for e in range(E):
        i = edges.place[e]
        source[i] = source_of(edges, e, A)
        reward[i] = edges.best[e]
    reward_range(edges.sorted, reward, edges.extremes)


@compiled
def outgoing(edges: CompactEdges) -> Outgoing:
    """Views of the edges that leave each pair."""
    return Outgoing(edges.leaving, edges.link[:, NEXT_LEAVING], edges.link[:, TARGET], edges.best)


@compiled
def source_of(edges: CompactEdges, e: int, A: int) -> int:
    """The state that an edge leaves, with A actions a state. Unsigned 32-bit division is the fastest."""
    return int(np.uint32(edges.link[e, PAIR]) // np.uint32(A))


@compiled
def find_edge(edges: CompactEdges, pair: int, target: int) -> int:
    """The edge from `pair` to `target`, or NONE."""
    e = edges.leaving[pair]
    while e != NONE and edges.link[e, TARGET] != target:
        e = edges.link[e, NEXT_LEAVING]
    return int(e)


@compiled
def add_edge(edges: CompactEdges, pair: int, target: int) -> int:
    """Add an edge from `pair` to `target`; there must be capacity."""
    e = edges.used[EDGES]
    edges.used[EDGES] = e + 1
    edges.link[e, PAIR] = pair
    edges.link[e, TARGET] = target
    _link(edges, e)
    return int(e)


@compiled
def _link(edges: CompactEdges, e: int) -> None:
    """Make e the head of both its lists."""
    pair, target = edges.link[e, PAIR], edges.link[e, TARGET]
    edges.link[e, NEXT_LEAVING] = edges.leaving[pair]
    edges.leaving[pair] = e
    edges.link[e, NEXT_ENTERING] = edges.entering[target]
    edges.entering[target] = e


@compiled
def _link_all(edges: CompactEdges) -> None:
    edges.leaving[:] = NONE
    edges.entering[:] = NONE
    for e in range(edges.used[EDGES]):
        _link(edges, e)


@compiled
def set_best(edges: CompactEdges, e: int, r: float) -> None:
    """Set the best reward of the edge `e`, and put the change into the ring."""
    edges.best[e] = r
    edges.lately[edges.changes[0] % len(edges.lately)] = e
    edges.changes[0] += 1
    if e < edges.used[SORTED]:
        i = edges.place[e]
        edges.sorted.reward[i] = r
        if r > edges.extremes[HIGHEST] and edges.sorted.source[i] != edges.link[e, TARGET]:
            edges.extremes[HIGHEST] = r
