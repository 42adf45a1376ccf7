"""Known edges of a large world: the best reward of each observed (s, a, s'), in little memory.

Like `edges`, linked lists run through them, the newest edge at the head: one of those that leave a pair (s, a), and
several of those that enter a state, so that a search need not wait for one edge to learn where the next is; only
the last of them grows beyond one edge. What a walk reads together lies together, in 32 bits each; counts and sums
are not kept, 24 bytes an edge instead of 56.

A ring remembers which edges were lately new or better, for whoever comes back to catch up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError, OptionError
from fwrl.kernels.compiled import compiled
from fwrl.kernels.incoming import MOST, Incoming

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

NONE = -1
PAIR, TARGET, NEXT_LEAVING, NEXT_ENTERING = 0, 1, 2, 3  # of a link
LISTS = 4  # of edges into a state
RING = 1 << 16  # changes remembered
SPARE = 1 << 20  # slots beyond one for each pair


class Links(NamedTuple):
    """Linked lists over arrays; `used[0]` of the slots are taken."""

    leaving: Indices  # (S * A,) head of the edges of the pair s * A + a
    entering: Indices  # (S, LISTS) heads of the edges into a state
    link: Indices  # (E, 4) pair, target, and the next edges of the lists it is in
    best: Floats  # (E,) largest reward
    used: Ints  # (1,)
    lately: Indices  # (RING,) edges that changed; change number n is at n modulo RING
    changes: Ints  # (1,) how often an edge was new or better


def no_links(n_states: int, n_actions: int) -> Links:
    """No edges yet, and room for one of each pair: memory is taken only as it fills."""
    pairs = n_states * n_actions
    if pairs + SPARE > MOST:
        raise OptionError(
            f"expected at most {MOST - SPARE:,} pairs of state and action, got {n_states:,} x {n_actions:,}"
        )
    size = pairs + min(pairs, SPARE)
    return Links(
        np.full(pairs, NONE, np.int32),
        np.full((n_states, LISTS), NONE, np.int32),
        np.zeros((size, 4), np.int32),
        np.zeros(size),
        np.zeros(1, np.int64),
        np.zeros(RING, np.int32),
        np.zeros(1, np.int64),
    )


def with_room(links: Links, more: int) -> Links:
    """The same edges with room for `more` new ones; capacity doubles, so growing is cheap on the whole."""
    capacity, used = len(links.best), int(links.used[0])
    if used + more <= capacity:
        return links
    size = max(used + more, 2 * capacity)
    if size > MOST:
        raise OptionError(f"expected at most {MOST:,} edges, these would be {size:,}")
    link, best = np.zeros((size, 4), np.int32), np.zeros(size)
    link[:used], best[:used] = links.link[:used], links.best[:used]
    return links._replace(link=link, best=best)


def check_links(links: Links, n_states: int, n_actions: int) -> None:
    """Refuse links read from a file, without any room, that would lead compiled code astray."""
    pairs, E = n_states * n_actions, len(links.best)
    sound = links.link.shape == (E, 4) and links.used.tolist() == [E] and bool(np.isfinite(links.best).all())
    sound = sound and len(links.leaving) == pairs and links.entering.shape == (n_states, LISTS)
    for name, most in ((PAIR, pairs), (TARGET, n_states)):
        sound = sound and bool(np.all((links.link[:, name] >= 0) & (links.link[:, name] < most)))
    if sound:
        lists = links.leaving.copy(), links.entering.copy(), links.link.copy()
        enlist_all(links)
        rebuilt = links.leaving, links.entering, links.link
        sound = all(np.array_equal(*pair) for pair in zip(lists, rebuilt, strict=True))
    if not sound:
        raise FileError(f"expected linked edges over {n_states} states and {n_actions} actions; the file is damaged")


def incoming(links: Links) -> Incoming:
    """The edges listed by the state they lead to."""
    S, E = len(links.entering), int(links.used[0])
    edges = Incoming(np.zeros(S + 1, np.int32), np.empty(E, np.int32), np.empty(E))
    group_links(links, edges)
    return edges


@compiled
def group_links(links: Links, edges: Incoming) -> None:
    """A counting sort into `edges`, whose `first` comes in zero."""
    first = edges.first
    S = len(links.entering)
    A = len(links.leaving) // S
    E = links.used[0]
    for e in range(E):
        first[links.link[e, TARGET] + 1] += 1
    for y in range(S):
        first[y + 1] += first[y]
    # first[y] moves to the end of its group as the group fills, and is moved back after.
    for e in range(E):
        y = links.link[e, TARGET]
        place = first[y]
        first[y] = place + 1
        edges.source[place] = source_of(links, e, A)
        edges.reward[place] = links.best[e]
    for y in range(S, 0, -1):
        first[y] = first[y - 1]
    first[0] = 0


@compiled
def source_of(links: Links, e: int, A: int) -> int:
    """The state that an edge leaves; A actions a state. Short numbers without sign are divided fastest."""
    return int(np.uint32(links.link[e, PAIR]) // np.uint32(A))


@compiled
def find_link(links: Links, pair: int, target: int) -> int:
    """The edge from `pair` to `target`, or -1."""
    e = links.leaving[pair]
    while e != NONE and links.link[e, TARGET] != target:
        e = links.link[e, NEXT_LEAVING]
    return int(e)


@compiled
def add_link(links: Links, pair: int, target: int) -> int:
    """A new edge from `pair` to `target`; there must be room."""
    e = links.used[0]
    links.used[0] = e + 1
    links.link[e, PAIR] = pair
    links.link[e, TARGET] = target
    _enlist(links, e)
    return int(e)


@compiled
def _enlist(links: Links, e: int) -> None:
    pair, target = links.link[e, PAIR], links.link[e, TARGET]
    links.link[e, NEXT_LEAVING] = links.leaving[pair]
    links.leaving[pair] = e
    n = 0
    while n < LISTS - 1 and links.entering[target, n] != NONE:
        n += 1
    links.link[e, NEXT_ENTERING] = links.entering[target, n]
    links.entering[target, n] = e


@compiled
def enlist_all(links: Links) -> None:
    """Make both lists anew from pairs and targets."""
    links.leaving[:] = NONE
    links.entering[:] = NONE
    for e in range(links.used[0]):
        _enlist(links, e)


@compiled
def set_best(links: Links, e: int, r: float) -> None:
    """Let `r` be the best reward of the edge `e`, and remember the change."""
    links.best[e] = r
    links.lately[links.changes[0] % len(links.lately)] = e
    links.changes[0] += 1
