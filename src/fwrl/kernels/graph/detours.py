"""Detours: whether a path leads from x to y beside the edge x -> y; an edge without one is a bridge.

Two breadth-first searches, forward from x and backward from y, expand one state each in turn. They end when they meet,
or when either has no state left: a closed pocket on one side of a bridge ends both soon, whatever is on the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.reach import ReachScratch
from fwrl.kernels.runtime.compiled import compiled

Indices = NDArray[np.int32]

MET = -1  # of `_expand`: the other search has seen a neighbour


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
    """Fill `detour` (n,): whether a path leads from x[k] to y[k] beside the edge between them.

    `after` has the states that an edge leads to, `before` those that one leads from.
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
    """Queue the unseen neighbours of the state at `at`; the edge from `begin` to `end` is left out.

    Returns the number of states found, or MET.
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
