"""Known edges of a large world: the best reward of each observed (s, a, s'), in little memory.

Like `edges`, linked lists run through them, the newest edge at the head: those that leave a pair (s, a), and those
that enter a state. What a walk reads together lies together, in 32 bits each; counts and sums are not kept, 24 bytes
an edge instead of 56. Whoever follows the edges into a state again and again reads them all over memory, so now and
then, when a column is made, they are sorted by where they lead, as in `incoming`; the lists of edges that enter then
begin anew, and hold what came since.

A ring remembers which edges were lately new or better, for whoever comes back to catch up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError, OptionError
from fwrl.kernels.graph.incoming_csr import MOST, IncomingCsr
from fwrl.kernels.graph.shortest_paths import reward_range
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

NONE = -1
PAIR, TARGET, NEXT_LEAVING, NEXT_ENTERING = 0, 1, 2, 3  # of a link
RING = 1 << 16  # changes remembered
SPARE = 1 << 20  # slots beyond one for each pair


class CompactEdges(NamedTuple):
    """Linked lists over arrays; `used[0]` of the slots are taken, the first `used[1]` of these are sorted."""

    leaving: Indices  # (S * A,) head of the edges of the pair s * A + a
    entering: Indices  # (S,) head of the edges into a state that are not sorted
    link: Indices  # (E, 4) pair, target, and the next edge of both lists
    best: Floats  # (E,) largest reward
    used: Ints  # (2,)
    lately: Indices  # (RING,) edges that changed; change number n is at n modulo RING
    changes: Ints  # (1,) how often an edge was new or better
    sorted: IncomingCsr  # `sorted.first[-1]` edges, with room for E
    place: Indices  # (E,) where an edge is among them
    extremes: Floats  # (2,) no less and no more is paid between two states by those sorted


def no_compact_edges(n_states: int, n_actions: int) -> CompactEdges:
    """No edges yet, and room for one of each pair: memory is taken only as it fills."""
    pairs = n_states * n_actions
    if pairs + SPARE > MOST:
        raise OptionError(
            f"expected at most {MOST - SPARE:,} pairs of state and action, got {n_states:,} x {n_actions:,}"
        )
    size = _slots(pairs)
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


def _slots(pairs: int) -> int:
    """One for each pair, and some more."""
    return pairs + min(pairs, SPARE)


def with_capacity(edges: CompactEdges, more: int) -> CompactEdges:
    """The same edges with room for `more` new ones; capacity doubles, so growing is cheap on the whole."""
    capacity, used = len(edges.best), int(edges.used[0])
    if used + more <= capacity:
        return edges
    size = max(used + more, 2 * capacity)
    if size > MOST:
        raise OptionError(f"expected at most {MOST:,} edges, these would be {size:,}")
    first, source, reward = edges.sorted
    return edges._replace(
        link=_longer(edges.link, size),
        best=_longer(edges.best, size),
        sorted=IncomingCsr(first, _longer(source, size), _longer(reward, size)),
        place=_longer(edges.place, size),
    )


def _longer(some: NDArray[Any], size: int) -> NDArray[Any]:
    """As much of it as fits, and zeros."""
    longer: NDArray[Any] = np.zeros((size, *some.shape[1:]), some.dtype)
    longer[: len(some)] = some[:size]
    return longer


def without_spare(edges: CompactEdges) -> CompactEdges:
    """What a file holds: nothing of how the edges that enter a state are found."""
    used = int(edges.used[0])
    link = edges.link[:used].copy()
    link[:, NEXT_ENTERING] = NONE
    return edges._replace(link=link, best=edges.best[:used], used=edges.used[:1])


def restored(edges: CompactEdges, n_states: int, n_actions: int) -> CompactEdges:
    """Edges read from a file, with all that is not in it; those that would lead compiled code astray are refused."""
    pairs, E = n_states * n_actions, len(edges.best)
    sound = edges.link.shape == (E, 4) and edges.used.tolist() == [E] and bool(np.isfinite(edges.best).all())
    sound = sound and len(edges.leaving) == pairs
    for name, most in ((PAIR, pairs), (TARGET, n_states)):
        sound = sound and bool(np.all((edges.link[:, name] >= 0) & (edges.link[:, name] < most)))
    if sound:
        lists = edges.leaving.copy(), edges.link[:, :NEXT_ENTERING].copy()
        edges = with_capacity(edges._replace(used=np.array([E, 0])), max(1, _slots(pairs) - E))
        enlist_all(edges)
        rebuilt = edges.leaving, edges.link[:E, :NEXT_ENTERING]
        sound = all(np.array_equal(*pair) for pair in zip(lists, rebuilt, strict=True))
    if not sound:
        raise FileError(f"expected linked edges over {n_states} states and {n_actions} actions; the file is damaged")
    return edges


def incoming(edges: CompactEdges) -> IncomingCsr:
    """The edges by the state they lead to: the very ones that are kept sorted."""
    sort(edges)
    E, (first, source, reward) = int(edges.used[0]), edges.sorted
    return IncomingCsr(first, source[:E], reward[:E])


@compiled
def sort(edges: CompactEdges) -> None:
    """Sort all edges by where they lead, by counting; the lists of those that enter a state begin anew."""
    E = edges.used[0]
    if edges.used[1] == E:
        return
    edges.used[1] = E
    edges.entering[:] = NONE
    first, source, reward = edges.sorted
    S = len(edges.entering)
    A = len(edges.leaving) // S
    first[:] = 0
    for e in range(E):
        first[edges.link[e, TARGET] + 1] += 1
    for y in range(S):
        first[y + 1] += first[y]
    # first[y] moves to the end of its group as the group fills, and is moved back after.
    for e in range(E):
        y = edges.link[e, TARGET]
        place = first[y]
        first[y] = place + 1
        source[place] = source_of(edges, e, A)
        reward[place] = edges.best[e]
        edges.place[e] = place
    for y in range(S, 0, -1):
        first[y] = first[y - 1]
    first[0] = 0
    reward_range(edges.sorted, reward, edges.extremes)


@compiled
def source_of(edges: CompactEdges, e: int, A: int) -> int:
    """The state that an edge leaves; A actions a state. Short numbers without sign are divided fastest."""
    return int(np.uint32(edges.link[e, PAIR]) // np.uint32(A))


@compiled
def find_edge(edges: CompactEdges, pair: int, target: int) -> int:
    """The edge from `pair` to `target`, or -1."""
    e = edges.leaving[pair]
    while e != NONE and edges.link[e, TARGET] != target:
        e = edges.link[e, NEXT_LEAVING]
    return int(e)


@compiled
def add_edge(edges: CompactEdges, pair: int, target: int) -> int:
    """A new edge from `pair` to `target`; there must be scratch."""
    e = edges.used[0]
    edges.used[0] = e + 1
    edges.link[e, PAIR] = pair
    edges.link[e, TARGET] = target
    _enlist(edges, e)
    return int(e)


@compiled
def _enlist(edges: CompactEdges, e: int) -> None:
    pair, target = edges.link[e, PAIR], edges.link[e, TARGET]
    edges.link[e, NEXT_LEAVING] = edges.leaving[pair]
    edges.leaving[pair] = e
    edges.link[e, NEXT_ENTERING] = edges.entering[target]
    edges.entering[target] = e


@compiled
def enlist_all(edges: CompactEdges) -> None:
    """Make both lists anew from pairs and targets."""
    edges.leaving[:] = NONE
    edges.entering[:] = NONE
    for e in range(edges.used[0]):
        _enlist(edges, e)


@compiled
def set_best(edges: CompactEdges, e: int, r: float) -> None:
    """Let `r` be the best reward of the edge `e`, and remember the change."""
    edges.best[e] = r
    edges.lately[edges.changes[0] % len(edges.lately)] = e
    edges.changes[0] += 1
    if e < edges.used[1]:
        place = edges.place[e]
        edges.sorted.reward[place] = r
        if r > edges.extremes[1] and edges.sorted.source[place] != edges.link[e, TARGET]:
            edges.extremes[1] = r
