"""A continuous maze with known geometry: a point that slides along the walls of unit squares.

The map is text, `#` for wall, with row 0 at y = 0. A point moves by `SPEED` times an action in [-1, 1]^2, first in x,
then in y; a wall stops the coordinate. Portals are circles: a point inside one is moved to a random exit before the
next step.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

Floats = NDArray[np.float64]
SPEED = 0.1


@dataclass
class Maze:
    """Walls, and portals as (centre, radius) with exits."""

    rows: tuple[str, ...]
    portals: tuple[tuple[tuple[float, float], float], ...] = ()
    exits: tuple[tuple[float, float], ...] = ()
    free: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        self.free = np.array([[c != "#" for c in row] for row in self.rows])

    def open(self, x: float, y: float) -> bool:
        """Whether a point is in free space."""
        i, j = int(np.floor(y)), int(np.floor(x))
        return 0 <= i < self.free.shape[0] and 0 <= j < self.free.shape[1] and bool(self.free[i, j])

    def step(self, point: Floats, action: Floats, rng: np.random.Generator) -> Floats:
        """Where an action leads."""
        for centre, radius in self.portals:
            if np.hypot(*(point - centre)) <= radius:
                point = np.array(self.exits[rng.integers(len(self.exits))])
        x, y = point
        dx, dy = SPEED * np.clip(action, -1.0, 1.0)
        if self.open(x + dx, y):
            x += dx
        if self.open(x, y + dy):
            y += dy
        return np.array([x, y])

    def cells(self) -> list[tuple[int, int]]:
        """Free squares as (column, row)."""
        return [(int(j), int(i)) for i, j in zip(*np.nonzero(self.free), strict=True)]

    def walks(self, episodes: int, steps: int, seed: int) -> list[tuple[Floats, Floats]]:
        """Episodes of a point with random headings, each kept for 10 steps, with noise."""
        rng = np.random.default_rng(seed)
        cells = self.cells()
        walks = []
        for _ in range(episodes):
            point = np.array(cells[rng.integers(len(cells))]) + rng.uniform(0.1, 0.9, 2)
            points, actions = [point], []
            for t in range(steps):
                if t % 10 == 0:
                    angle = rng.uniform(0.0, 2.0 * np.pi)
                    heading = np.array([np.cos(angle), np.sin(angle)])
                action = np.clip(heading + rng.normal(0.0, 0.3, 2), -1.0, 1.0)
                point = self.step(point, action, rng)
                points.append(point)
                actions.append(action)
            walks.append((np.array(points), np.array(actions)))
        return walks

    def geodesic(self, start: Floats, goal: Floats) -> float:
        """Length of the shortest way, by a visibility graph over points just off the corners of walls."""
        corners, known = self._visibility
        nodes = np.array([*corners, start, goal])
        n = len(corners)
        edges = [*known, *[(p, q) for q in (n, n + 1) for p in range(q) if self._sees(nodes[p], nodes[q])]]
        source, target = np.array(edges).T
        lengths = np.hypot(*(nodes[source] - nodes[target]).T)
        graph = csr_array((lengths, (source, target)), shape=(n + 2, n + 2))
        return float(dijkstra(graph, directed=False, indices=[n])[0, n + 1])

    @functools.cached_property
    def _visibility(self) -> tuple[list[Floats], list[tuple[int, int]]]:
        """Points off the convex corners of walls, and which of them see each other."""
        corners = []
        for i, j in itertools.product(range(1, self.free.shape[0]), range(1, self.free.shape[1])):
            around = self.free[i - 1 : i + 1, j - 1 : j + 1]
            if around.sum() == 3:
                (b,), (a,) = np.nonzero(~around)
                corners.append(np.array([j + (1e-6 if a == 0 else -1e-6), i + (1e-6 if b == 0 else -1e-6)]))
        pairs = itertools.combinations(range(len(corners)), 2)
        return corners, [(p, q) for p, q in pairs if self._sees(corners[p], corners[q])]

    def _sees(self, p: Floats, q: Floats) -> bool:
        """Whether the segment between two points crosses no wall: exact, square by square."""
        t = {0.0, 1.0}
        for axis in (0, 1):
            low, high = sorted((p[axis], q[axis]))
            lines = np.arange(np.ceil(low), np.floor(high) + 1)
            if q[axis] != p[axis]:
                t |= {float((line - p[axis]) / (q[axis] - p[axis])) for line in lines}
        cuts = np.array(sorted(x for x in t if 0.0 <= x <= 1.0))
        middles = p + ((cuts[:-1] + cuts[1:]) / 2)[:, None] * (q - p)
        return all(self.open(x, y) for x, y in middles)


def pursue(navigator, maze: Maze, start: Floats, goal: Floats, limit: int = 600, seed: int = 0) -> int | None:
    """Steps to within half a square of a goal; None if that takes more than `limit`."""
    rng = np.random.default_rng(seed)
    point = np.array(start, float)
    navigator.aim(goal)
    for t in range(limit):
        if np.hypot(*(point - goal)) <= 0.5:
            return t
        point = maze.step(point, navigator.act(point), rng)
    return None


ROOMS = Maze(
    (
        "#############",
        "#...#.......#",
        "#...#.......#",
        "#...#..######",
        "#......#....#",
        "#...#.......#",
        "#...#..#....#",
        "#############",
    )
)
TWO_ROOMS = Maze(("#########", "#...#...#", "#...#...#", "#...#...#", "#########"))
