"""Explain what one step taught an agent, number by number.

FWRL's update after the step s, a -> s' with reward r is Floyd-Warshall's, for one new edge. With V(i, j) the best known
path reward from i to j:

    V(s, s') <- max{ V(s, s'), r }
    V(s, j)  <- max{ V(s, j), r + V(s', j) }               for all j: the triangles through k = s'
    V(i, j)  <- max{ V(i, j), V(i, s) + V(s, j) }          for all i, j: the triangles through k = s

Algorithm 1 to the letter leaves out the second line, and makes up for it one step later. Both are computed here from
the values before the step and compared with those after it: triangles are shown only for an agent that did just that.
Other agents are shown by the numbers that changed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fwrl.agents.agent import Agent
from fwrl.arrays import Floats, Ints
from fwrl.web.play.runner import LastStep, Runner

LARGEST = 1200  # floor cells up to which all pairs are compared
LARGEST_MATRIX = 100  # floor cells up to which the matrix is drawn
TOLERANCE = 1e-9


class Before(NamedTuple):
    """The values of one agent before a step."""

    V: Floats | None  # (n, n) over floor cells; None if the world is large or the agent keeps no values of pairs
    table: Floats  # (S, A) action values for the goal in use


class Triangle(NamedTuple):
    """Whether the way from i to j through k is better than the one known: old against first + second."""

    i: int
    k: int
    j: int
    first: float
    second: float
    old: float

    @property
    def new(self) -> float:
        return self.first + self.second

    @property
    def improves(self) -> bool:
        return self.new > self.old + TOLERANCE * max(1e-3, abs(self.new))


class Update:
    """One step of one agent, and the triangles that it went through."""

    def __init__(self, cells: Ints, before: Before, runner: Runner) -> None:
        assert runner.last is not None
        self.last: LastStep = runner.last
        self._cells = cells
        self._before = before
        self._after = values_before(runner.agent, runner.settings.goal, cells)
        self.triangles: list[Triangle] = []
        if before.V is not None and self._after.V is not None and not self.last.arrived:
            self._follow(before.V, self._after.V, -1.0 if runner.agent.value_kind == "steps" else None)
        self.shown = 0  # triangles shown so far

    def _follow(self, V: Floats, after: Floats, step: float | None) -> None:
        """Find the rule by which the agent got from `V` to `after`, and list its triangles."""
        s, _, r, next_s = self.last.observed
        u, v = np.searchsorted(self._cells, [s, next_s]).tolist()
        for closed in (True, False):
            W, triangles = relaxed(V, u, v, r if step is None else step, closed)
            if np.array_equal(np.isfinite(W), np.isfinite(after)) and np.allclose(W, after, rtol=0, atol=1e-9):
                cells = self._cells.tolist()
                self.triangles = [t._replace(i=cells[t.i], k=cells[t.k], j=cells[t.j]) for t in triangles]
                return

    @property
    def improved(self) -> int:
        return sum(triangle.improves for triangle in self.triangles)

    def to_json(self) -> dict[str, Any]:
        """The step, what changed, and how many triangles there are."""
        s, a, r, next_s = self.last.observed
        before, after = self._before, self._after
        with np.errstate(invalid="ignore"):
            changed = int(np.count_nonzero(~(before.table == after.table)))
        old, new = float(before.table[s, a]), float(after.table[s, a])
        ahead = float(before.table[next_s].max())
        return {
            "from": s,
            "action": a,
            "to": next_s,
            "reward": r,
            "arrived": self.last.arrived,
            "changed": changed,
            "old": _finite(old),
            "new": _finite(new),
            "ahead": _finite(ahead) if abs(r + ahead - new) <= 1e-9 * max(1e-3, abs(new)) else None,
            "tried": len(self.triangles),
            "improved": self.improved,
            "pairs": None if after.V is None or before.V is None else [_known(before.V), _known(after.V)],
        }

    def matrix(self) -> list[list[float | None]] | None:
        """V before the step as JSON, by floor cells; None for large worlds and agents without triangles."""
        V = self._before.V
        if V is None or not self.triangles or len(V) > LARGEST_MATRIX:
            return None
        return [[_finite(value) for value in row] for row in V.tolist()]

    def show(self, move: str) -> dict[str, Any]:
        """Go to the next triangle, to the next improvement, or to the end; what is shown then, as JSON."""
        begun = self.shown
        self.shown = min(self.shown + 1, len(self.triangles)) if move != "finish" else len(self.triangles)
        if move == "improvement":
            while self.shown < len(self.triangles) and not self.triangles[self.shown - 1].improves:
                self.shown += 1
        passed = self.triangles[begun : self.shown]
        current = self.triangles[self.shown - 1] if self.shown and move != "finish" else None
        return {
            "shown": self.shown,
            "tried": len(self.triangles),
            "improved": sum(triangle.improves for triangle in self.triangles[: self.shown]),
            "set": [[t.i, t.j, t.new] for t in passed if t.improves],
            "triangle": None if current is None else _json(current),
        }


def values_before(agent: Agent, goal: int, cells: Ints) -> Before:
    """The values of an agent now: of all pairs of cells if there are few, and of all actions for the goal."""
    pairs = agent.value_kind in ("path reward", "steps") and len(cells) <= LARGEST
    V = None
    if pairs:
        V = np.stack([agent.values(int(g))[cells] for g in cells], axis=1)
        np.fill_diagonal(V, 0.0)
    return Before(V, agent.action_table(goal))


def relaxed(V: Floats, u: int, v: int, r: float, closed: bool) -> tuple[Floats, list[Triangle]]:
    """V after one step from u to v with reward r, and the triangles tried; `closed` by all three lines above.

    >>> V = np.array([[0.0, -1.0, -np.inf], [-np.inf, 0.0, -np.inf], [-np.inf, -np.inf, 0.0]])
    >>> W, triangles = relaxed(V, 1, 2, -1.0, closed=True)
    >>> W[0].tolist(), [(t.i, t.k, t.j, t.new) for t in triangles]
    ([0.0, -1.0, -2.0], [(0, 1, 2, -2.0)])
    """
    W = V.copy()
    if u == v:
        return W, []
    W[u, v] = max(W[u, v], r)
    triangles = _through(W, v, [u]) if closed else []
    return W, triangles + _through(W, u, np.flatnonzero(np.isfinite(W[:, u])).tolist())


def _through(W: Floats, k: int, sources: list[int]) -> list[Triangle]:
    """Relax the pairs from `sources` through k, in place; the triangles tried."""
    onward = np.flatnonzero(np.isfinite(W[k])).tolist()
    triangles = []
    for i in sources:
        for j in onward:
            if i in (j, k) or j == k:
                continue
            triangle = Triangle(i, k, j, float(W[i, k]), float(W[k, j]), float(W[i, j]))
            triangles.append(triangle)
            if triangle.new > W[i, j]:
                W[i, j] = triangle.new
    return triangles


def _known(V: Floats) -> int:
    return int(np.count_nonzero(np.isfinite(V)) - len(V))


def _json(triangle: Triangle) -> dict[str, Any]:
    return {**triangle._asdict(), "old": _finite(triangle.old), "new": triangle.new, "improves": triangle.improves}


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
