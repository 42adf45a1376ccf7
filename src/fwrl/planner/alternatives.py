"""The K best loopless routes (Yen 1971), for `best` rewards.

Each further route leaves an earlier one at some state, its root up to there kept, by an edge that no route with that
root took yet. V, the column of the goal, makes every edge cost c(x, y) = V(x) - r(x, y) - V(y) >= 0 on top of the best
way, so the search for a way on is Dijkstra's on c: it sees only states about as good as those on the route, and
positive rewards need nothing further.
"""

from __future__ import annotations

import heapq
import math
from typing import Any

import numpy as np

from fwrl.planner.experience import Experience, Floats, Indices

Path = tuple[int, ...]  # edges


class Ways:
    """Ways to one goal over edges of which each costs how much worse it is than the best."""

    def __init__(self, found: Experience, V: Floats, goal: int, avoid: frozenset[int]) -> None:
        # Views, because single elements of arrays are slow to come by.
        self._source, self._target, self._first = map(_view, (found.source, found.target, found.first))
        self._reward, self._V, self._goal, self._avoid = _view(found.best), _view(V), goal, avoid

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
                more = max(0.0, V[x] - self._reward[e] - V[y])
                heapq.heappush(waiting, (cost + more, steps + 1, y, e))
        return None

    def _way(self, came: dict[int, int], start: int) -> Path:
        edges, x = [], self._goal
        while x != start:
            edges.append(came[x])
            x = self._source[came[x]]
        return tuple(reversed(edges))


def _view(array: Floats | Indices) -> Any:
    return memoryview(np.ascontiguousarray(array))  # type: ignore[arg-type]


def best_ways(found: Experience, V: Floats, start: int, goal: int, k: int, avoid: frozenset[int]) -> list[Path]:
    """Up to `k` ways from `start` to `goal` that differ in their states, best first, none through a state twice."""
    ways = Ways(found, V, goal, avoid)
    if V[start] == -np.inf or start == goal:
        return []
    target: Indices = found.target
    first = ways.shortest(start, set(), set(), math.inf)
    chosen: list[tuple[float, Path]] = [] if first is None else [first]
    waiting: list[tuple[float, int, Path]] = []
    seen: set[tuple[int, ...]] = {tuple(target[list(path)].tolist()) for _, path in chosen}
    while chosen and len(chosen) < k:
        _, last = chosen[-1]
        through = [start, *target[list(last)].tolist()]
        spent = 0.0
        for n, e in enumerate(last):
            root, here = through[: n + 1], through[n]
            barred = {t[n] for t in seen if [start, *t[:n]] == root}
            onward = ways.shortest(here, set(root), barred, _limit(waiting, k - len(chosen)) - spent)
            if onward is not None:
                path = (*last[:n], *onward[1])
                states = tuple(target[list(path)].tolist())
                if states not in seen:
                    seen.add(states)
                    heapq.heappush(waiting, (spent + onward[0], len(path), path))
            spent += max(0.0, float(V[here] - found.best[e] - V[int(target[e])]))
        if not waiting:
            break
        cost, _, path = heapq.heappop(waiting)
        chosen.append((cost, path))
    return [path for _, path in chosen]


def _limit(waiting: list[tuple[float, int, Path]], wanted: int) -> float:
    """The most that a further way may cost to be among the best: with as many cheaper ones waiting, it is not."""
    if len(waiting) < wanted:
        return math.inf
    return heapq.nsmallest(wanted, waiting)[-1][0] * (1 + 1e-9) + 1e-12
