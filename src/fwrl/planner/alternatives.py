"""The k best loopless paths (Yen 1971, Lawler 1972), for `best` rewards.

Each further path follows an earlier one up to some state, its root, and leaves it by an edge that no path with the
same root has taken. An earlier path is branched only after the state where it left its own parent; the roots before
were branched with the parent. V, the value of each state for the goal, gives every edge the cost
c(x, y) = V(x) - r(x, y) - V(y) >= 0, how much worse it is than the best path. The search for the rest of a path is
Dijkstra's on c: it visits only states nearly as good as those on the path, and rewards may have either sign.
"""

from __future__ import annotations

import bisect
import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from fwrl.arrays import Floats, Indices
from fwrl.planner.transition_counts import TransitionCounts

Path = tuple[int, ...]  # edges
Branches = dict[int, "Branches"]  # the next states of the paths taken so far, and their branches


class PathSearch:
    """Dijkstra's search to one goal, over edges whose cost is how much worse they are than the best path."""

    def __init__(
        self,
        experience: TransitionCounts,
        V: Floats,
        goal: int,
        avoid: frozenset[int],
        roads: frozenset[tuple[int, int]],
    ) -> None:
        # Views, because reading single elements of arrays is slow.
        self._source, self._target = _view(experience.source), _view(experience.target)
        self._first, self._reward, self._V = _view(experience.first), _view(experience.best), _view(V)
        self._goal, self._avoid, self._roads = goal, avoid, roads

    def shortest(self, start: int, closed: set[int], barred: set[int], limit: float) -> tuple[float, Path] | None:
        """The least cost from `start` and its edges; not through states of `closed`, not first to one of `barred`.

        None if no such path costs at most `limit`.
        """
        goal, V = self._goal, self._V
        heap: list[tuple[float, int, int, int]] = [(0.0, 0, start, -1)]
        entered: dict[int, int] = {}  # the edge by which each finished state was reached
        while heap:
            cost, steps, x, by = heapq.heappop(heap)
            if cost > limit:
                return None
            if x in entered:
                continue
            entered[x] = by
            if x == goal:
                return cost, self._path(entered, start)
            for e in range(self._first[x], self._first[x + 1]):
                y = self._target[e]
                if y in entered or y in closed or V[y] == -math.inf or (x == start and y in barred):
                    continue
                if (y in self._avoid and y != goal) or (x, y) in self._roads:
                    continue
                heapq.heappush(heap, (cost + self.cost(e), steps + 1, y, e))
        return None

    def cost(self, e: int) -> float:
        """How much worse than the best path the edge `e` is."""
        V = self._V
        return max(0.0, float(V[self._source[e]] - self._reward[e] - V[self._target[e]]))

    def _path(self, entered: dict[int, int], start: int) -> Path:
        edges, x = [], self._goal
        while x != start:
            edges.append(entered[x])
            x = self._source[entered[x]]
        return tuple(reversed(edges))


def _view(array: Floats | Indices) -> Any:
    return memoryview(np.ascontiguousarray(array))  # type: ignore[arg-type]


class CandidatePath(NamedTuple):
    """A path that may be among the best; candidates are compared by these fields in order."""

    cost: float  # how much worse than the best path it is
    steps: int  # its number of edges
    path: Path  # its edges
    branch: int  # the number of edges after which it leaves the path it was made from


def best_paths(
    experience: TransitionCounts,
    V: Floats,
    start: int,
    goal: int,
    k: int,
    avoid: frozenset[int],
    roads: frozenset[tuple[int, int]] = frozenset(),
) -> list[Path]:
    """Up to `k` paths from `start` to `goal` that differ in their states, best first, none through a state twice."""
    search = PathSearch(experience, V, goal, avoid, roads)
    if V[start] == -np.inf or start == goal:
        return []
    best = search.shortest(start, set(), set(), math.inf)
    candidates = [] if best is None else [CandidatePath(best[0], len(best[1]), best[1], 0)]
    chosen: list[Path] = []
    taken: Branches = {}
    while candidates:
        candidate = candidates.pop(0)
        chosen.append(candidate.path)
        wanted = k - len(chosen)
        del candidates[wanted:]
        states = [start, *experience.target[list(candidate.path)].tolist()]
        _branch(search, candidate, states, taken, candidates, wanted)
    return chosen


def _branch(
    search: PathSearch,
    parent: CandidatePath,
    states: list[int],
    taken: Branches,
    candidates: list[CandidatePath],
    wanted: int,
) -> None:
    """Add `parent` to the paths `taken`, and the paths that leave it to the `wanted` best candidates."""
    closed: set[int] = set()
    spent = 0.0
    for n, e in enumerate(parent.path):
        closed.add(states[n])
        barred = taken.keys() | {states[n + 1]}
        if n >= parent.branch and wanted:
            limit = candidates[-1].cost * (1 + 1e-9) + 1e-12 if len(candidates) == wanted else math.inf
            rest = search.shortest(states[n], closed, barred, limit - spent)
            if rest is not None:
                path = (*parent.path[:n], *rest[1])
                bisect.insort(candidates, CandidatePath(spent + rest[0], len(path), path, n))
                del candidates[wanted:]
        spent += search.cost(e)
        taken = taken.setdefault(states[n + 1], {})
