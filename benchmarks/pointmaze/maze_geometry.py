"""Shortest ways of OGBench's point, for comparison: the map is used here, and nowhere by the navigator.

The point is a disc of radius 0.7 that moves at most 0.2 in each coordinate per step, so the least number of steps
along a segment is its larger coordinate over 0.2. A shortest way bends only around convex corners of walls: it is
found on the visibility graph of points on the arcs around them (three each), the start and the goal.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from fwrl.benchmark.point_simulator import RADIUS, SPEED, TOLERANCE, UNIT

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

MARGIN = 1e-3
SAGITTA = 0.06  # a chord between neighbouring points of an arc comes this near to the corner
SPACING = 0.25  # between the points of a segment that are checked for walls


class MazeGeometry:
    """The geometry of one maze.

    Args:
        free: Which squares are free; square (i, j) has its centre at (4 j - 4, 4 i - 4).
    """

    def __init__(self, free: Mask) -> None:
        self._free = free
        self._corners = self._arcs()
        pairs = np.array(list(itertools.combinations(range(len(self._corners)), 2)), np.int64).reshape(-1, 2)
        self._edges = pairs[self._visible(self._corners[pairs[:, 0]], self._corners[pairs[:, 1]])]

    def least_steps(self, start: Floats, goal: Floats) -> float:
        """The least number of steps from a start to within the tolerance of a goal; inf if no way leads there."""
        n = len(self._corners)
        nodes = np.concatenate([self._corners, [start, goal]])
        extra = np.array([(p, q) for q in (n, n + 1) for p in range(q)])
        extra = extra[self._visible(nodes[extra[:, 0]], nodes[extra[:, 1]])]
        edges = np.concatenate([self._edges, extra])
        lengths = np.abs(nodes[edges[:, 0]] - nodes[edges[:, 1]]).max(axis=1)
        graph = csr_array((lengths, (edges[:, 0], edges[:, 1])), shape=(n + 2, n + 2))
        way = float(dijkstra(graph, directed=False, indices=[n])[0, n + 1])
        return max(way - TOLERANCE, 0.0) / SPEED

    def _arcs(self) -> Floats:
        """Points on the arcs around convex corners, a margin off."""
        points = []
        rows, columns = self._free.shape
        for i, j in itertools.product(range(1, rows), range(1, columns)):
            around = self._free[i - 1 : i + 1, j - 1 : j + 1]
            if around.sum() == 3:
                (b,), (a,) = np.nonzero(~around)
                away = np.array([1.0 if a == 0 else -1.0, 1.0 if b == 0 else -1.0])
                corner = np.array([j, i]) * UNIT - UNIT - UNIT / 2
                arc = np.array([0.0, np.pi / 4, np.pi / 2])
                points.extend(corner + away * np.stack([np.cos(arc), np.sin(arc)], axis=1) * (RADIUS + MARGIN))
        return np.array(points).reshape(-1, 2)

    def _visible(self, p: Floats, q: Floats) -> Mask:
        """(n,) whether the disc fits along each of n segments."""
        visible = np.ones(len(p), np.bool_)
        longest = float(np.linalg.norm(q - p, axis=1).max(initial=0.0))
        for part in np.linspace(0.0, 1.0, max(2, int(longest / SPACING) + 1)):
            rows = np.flatnonzero(visible)
            visible[rows] = self._fits(p[rows] + part * (q[rows] - p[rows]))
        return visible

    def _fits(self, points: Floats) -> Mask:
        """(n,) whether the disc at each point touches no wall."""
        square = np.floor((points + UNIT + UNIT / 2) / UNIT).astype(np.int64)
        fits = np.ones(len(points), np.bool_)
        for a, b in itertools.product((-1, 0, 1), repeat=2):
            j, i = square[:, 0] + a, square[:, 1] + b
            inside = (i >= 0) & (j >= 0) & (i < self._free.shape[0]) & (j < self._free.shape[1])
            wall = ~inside
            wall[inside] = ~self._free[i[inside], j[inside]]
            apart = np.abs(points - (np.stack([j, i], axis=1) * UNIT - UNIT)) - UNIT / 2
            near = np.square(np.maximum(apart, 0.0)).sum(axis=1) < (RADIUS - SAGITTA) ** 2
            fits &= ~(wall & near)
        return fits
