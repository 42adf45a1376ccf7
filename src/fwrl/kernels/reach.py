"""Which states a state reaches, which of them no single trip joins, and which edges have no detour.

An edge x -> y without another path from x to y is a bridge. We look for another path with two breadth-first searches,
forward from x and backward from y, that take turns expanding one state. They end when they meet, or when either runs
out of states: a closed pocket on one side of a bridge ends both soon, regardless of the other side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Indices
from fwrl.kernels.jit import compiled

Bits = NDArray[np.uint8]

NONE = -1
CONNECTED, STITCHED = 0, 1  # of counts of connections


class ReachScratch(NamedTuple):
    """Scratch for searches over S states and trips with M moves in total."""

    seen: Indices  # (S,) number of the last search that saw a state
    searches: Indices  # (1,)
    queue: Indices  # (S,)
    head: Indices  # (S,) last move of a trip that leaves a state, -1 if none does
    following: Indices  # (M,) the move before it that leaves the same state


def reach_scratch(n_states: int, moves: int) -> ReachScratch:
    """Make scratch for `n_states` states and trips with `moves` moves in total."""
    seen, queue = np.zeros(n_states, np.int32), np.zeros(n_states, np.int32)
    head = np.full(n_states, NONE, np.int32)
    return ReachScratch(seen, np.zeros(1, np.int32), queue, head, np.zeros(moves, np.int32))


@compiled
def reach(first: Indices, neighbour: Indices, scratch: ReachScratch, start: int) -> int:
    """Put the states that `start` reaches, itself first, at the front of `scratch.queue`; return how many."""
    scratch.searches[0] += 1
    number = scratch.searches[0]
    scratch.seen[start] = number
    scratch.queue[0] = start
    done = 0
    found = 1
    while done < found:
        x = scratch.queue[done]
        done += 1
        for k in range(first[x], first[x + 1]):
            y = neighbour[k]
            if scratch.seen[y] != number:
                scratch.seen[y] = number
                scratch.queue[found] = y
                found += 1
    return found


@compiled
def join_trips(
    begin: Indices, source: Indices, target: Indices, row: Indices, scratch: ReachScratch, joined: Bits
) -> None:
    """Set bit y of `joined[row[x]]` if the moves of one trip go from x to y, in any order.

    Trip i has the moves from begin[i] up to begin[i + 1]. States x with row[x] = -1 are left out.
    """
    for trip in range(len(begin) - 1):
        for move in range(begin[trip], begin[trip + 1]):
            scratch.following[move] = scratch.head[source[move]]
            scratch.head[source[move]] = move
        for move in range(begin[trip], begin[trip + 1]):
            x = source[move]
            if row[x] != NONE and scratch.following[move] == NONE:  # once for each source in the trip
                _join_from(x, target, scratch, joined[row[x]])
        for move in range(begin[trip], begin[trip + 1]):
            scratch.head[source[move]] = NONE


@compiled
def _join_from(x: int, target: Indices, scratch: ReachScratch, reached: Bits) -> None:
    scratch.searches[0] += 1
    number = scratch.searches[0]
    scratch.seen[x] = number
    scratch.queue[0] = x
    done = 0
    found = 1
    while done < found:
        move = scratch.head[scratch.queue[done]]
        done += 1
        while move != NONE:
            y = target[move]
            if scratch.seen[y] != number:
                scratch.seen[y] = number
                scratch.queue[found] = y
                found += 1
                reached[y >> 3] |= np.uint8(1 << (y & 7))
            move = scratch.following[move]


@compiled
def count_connections(
    first: Indices, neighbour: Indices, sample: Indices, joined: Bits, scratch: ReachScratch, counts: NDArray[np.int64]
) -> None:
    """Add to `counts` (2,) the pairs of a sampled state and another that it reaches (CONNECTED), and those of them that
    no single trip joins (STITCHED); `joined` has a row for each sampled state.
    """
    for k in range(len(sample)):
        found = reach(first, neighbour, scratch, sample[k])
        counts[CONNECTED] += found - 1
        for i in range(1, found):
            y = scratch.queue[i]
            if joined[k, y >> 3] & np.uint8(1 << (y & 7)) == 0:
                counts[STITCHED] += 1


MET = -1  # result of `_expand`: the other search has seen a neighbour


class Neighbours(NamedTuple):
    """The neighbours of x are those from `first[x]` up to `first[x + 1]`."""

    first: Indices  # (S + 1,)
    neighbour: Indices  # (E,)


@compiled
def find_detours(
    after: Neighbours,
    before: Neighbours,
    x: Indices,
    y: Indices,
    ahead: ReachScratch,
    behind: ReachScratch,
    detour: NDArray[np.bool_],
) -> None:
    """Fill `detour` (n,): whether another path goes from x[k] to y[k] besides the edge between them.

    `after` has the states that edges go to, `before` those that edges come from.
    """
    for k in range(len(x)):
        detour[k] = _has_detour(after, before, x[k], y[k], ahead, behind)


@compiled
def _has_detour(
    after: Neighbours, before: Neighbours, x: int, y: int, ahead: ReachScratch, behind: ReachScratch
) -> bool:
    _begin(ahead, x)
    _begin(behind, y)
    done = 0
    found_ahead = 1
    found_behind = 1
    while done < found_ahead and done < found_behind:
        found_ahead = _expand(after, ahead, behind, done, found_ahead, x, y)
        if found_ahead == MET:
            return True
        found_behind = _expand(before, behind, ahead, done, found_behind, y, x)
        if found_behind == MET:
            return True
        done += 1
    return False


@compiled
def _begin(search: ReachScratch, start: int) -> None:
    search.searches[0] += 1
    search.seen[start] = search.searches[0]
    search.queue[0] = start


@compiled
def _expand(
    edges: Neighbours, search: ReachScratch, other: ReachScratch, at: int, found: int, begin: int, end: int
) -> int:
    """Queue the unseen neighbours of the state at `at`, without the edge from `begin` to `end`.

    Return the number of states found, or MET.
    """
    u = search.queue[at]
    for k in range(edges.first[u], edges.first[u + 1]):
        v = edges.neighbour[k]
        if u == begin and v == end:
            continue
        if other.seen[v] == other.searches[0]:
            return MET
        if search.seen[v] != search.searches[0]:
            search.seen[v] = search.searches[0]
            search.queue[found] = v
            found += 1
    return found
