"""The K best loopless routes (Yen 1971, Lawler 1972), for `best` rewards.

Each further route leaves an earlier one at some state, its root up to there kept, by an edge that no route with that
root took yet; states before the one where the earlier route left its own parent were looked at then. V, the column of
the goal, makes every edge cost c(x, y) = V(x) - r(x, y) - V(y) >= 0 on top of the best way, so the search for a way on
is Dijkstra's on c: it sees only states about as good as those on the route, and positive rewards need nothing further.
"""

from __future__ import annotations

import bisect
import heapq
import math
from typing import Any, NamedTuple

import numpy as np

from fwrl.planner.experience import Experience, Floats, Indices

Path = tuple[int, ...]  # edges
Branches = dict[int, "Branches"]  # the states that ways taken go on to, and how they go on from there


class Ways:
    """Ways to one goal over edges of which each costs how much worse it is than the best."""

    def __init__(self, experience: Experience, V: Floats, goal: int, avoid: frozenset[int]) -> None:
        # Views, because single elements of arrays are slow to come by.
        self._source, self._target, self._first = map(_view, (experience.source, experience.target, experience.first))
        self._reward, self._V, self._goal, self._avoid = _view(experience.best), _view(V), goal, avoid

    def shortest(self, start: int, shut: set[int], barred: set[int], limit: float) -> tuple[float, Path] | None:
        """The least extra cost from `start`, and its edges: not into the states `shut`, not to `barred` first.

        None where there is no way, or none that costs at most `limit`.
        """
        goal, V = self._goal, self._V
        waiting: list[tuple[float, int, int, int]] = [(0.0, 0, start, -1)]
        came: dict[int, int] = {}
        while waiting:
            cost, steps, x, by = heapq.heappop(waiting)
            if cost > limit:
                return None
            if x in came:
                continue
            came[x] = by
            if x == goal:
                return cost, self._way(came, start)
            for e in range(self._first[x], self._first[x + 1]):
                y = self._target[e]
                if y in came or y in shut or V[y] == -math.inf or (x == start and y in barred):
                    continue
                if y in self._avoid and y != goal:
                    continue
                heapq.heappush(waiting, (cost + self.extra(e), steps + 1, y, e))
        return None

    def extra(self, e: int) -> float:
        """How much worse than the best way the edge `e` is."""
        V = self._V
        return max(0.0, float(V[self._source[e]] - self._reward[e] - V[self._target[e]]))

    def _way(self, came: dict[int, int], start: int) -> Path:
        edges, x = [], self._goal
        while x != start:
            edges.append(came[x])
            x = self._source[came[x]]
        return tuple(reversed(edges))


def _view(array: Floats | Indices) -> Any:
    return memoryview(np.ascontiguousarray(array))  # type: ignore[arg-type]


class Way(NamedTuple):
    """A way that may be among the best; ways are compared in this order."""

    cost: float  # on top of the best way
    steps: int
    path: Path
    leaves: int  # after how many steps it leaves the one it was made from


def best_ways(experience: Experience, V: Floats, start: int, goal: int, k: int, avoid: frozenset[int]) -> list[Path]:
    """Up to `k` ways from `start` to `goal` that differ in their states, best first, none through a state twice."""
    ways = Ways(experience, V, goal, avoid)
    if V[start] == -np.inf or start == goal:
        return []
    first = ways.shortest(start, set(), set(), math.inf)
    waiting = [] if first is None else [Way(first[0], len(first[1]), first[1], 0)]
    chosen: list[Path] = []
    taken: Branches = {}
    while waiting:
        way = waiting.pop(0)
        chosen.append(way.path)
        del waiting[k - len(chosen) :]
        _branch_off(ways, way, [start, *experience.target[list(way.path)].tolist()], taken, waiting, k - len(chosen))
    return chosen


def _branch_off(ways: Ways, way: Way, states: list[int], taken: Branches, waiting: list[Way], wanted: int) -> None:
    """Add `way` to those taken, and to the `wanted` best ways in waiting those that leave it where it is its own.

    Ways that leave it before were found when the way that it left was looked at.
    """
    shut: set[int] = set()
    spent = 0.0
    for n, e in enumerate(way.path):
        shut.add(states[n])
        barred = taken.keys() | {states[n + 1]}
        if n >= way.leaves and wanted:
            most = waiting[-1].cost * (1 + 1e-9) + 1e-12 if len(waiting) == wanted else math.inf
            onward = ways.shortest(states[n], shut, barred, most - spent)
            if onward is not None:
                path = (*way.path[:n], *onward[1])
                bisect.insort(waiting, Way(spent + onward[0], len(path), path, n))
                del waiting[wanted:]
        spent += ways.extra(e)
        taken = taken.setdefault(states[n + 1], {})
