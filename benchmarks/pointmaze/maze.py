"""OGBench's point in a maze: its own simulator, called only near walls, and the shortest ways.

A step of the simulator adds 0.2 times the action to the position and lets MuJoCo push the point out of walls. Away
from walls nothing pushes: the position is final, and the call would return it unchanged. Leaving these calls out gives
the same positions to the last bit in an eighth of the time.

Shortest ways are for comparison: only they use the map, the navigator never does. The point is a disc of radius 0.7
that moves at most 0.2 in each coordinate per step, so the least number of steps along a segment is its larger
coordinate over 0.2. A shortest way bends only around convex corners of walls: it is found on the visibility graph of
points on the arcs around them (three each), the start and the goal.
"""

from __future__ import annotations

import importlib
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from fwrl.arrays import Floats
from fwrl.errors import FwrlError

Mask = NDArray[np.bool_]

UNIT = 4.0  # width of a square of the maze
RADIUS = 0.7  # of the point's body
SPEED = 0.2
FRAMES = 5  # simulator steps per step
TOLERANCE = 1.0  # distance to the goal that counts as success
MARGIN = 1e-3
SAGITTA = 0.06  # a chord between neighbouring points of an arc comes this near to the corner
SPACING = 0.25  # between the points of a segment that are checked for walls


def register_mazes() -> None:
    """Register OGBench's environments with Gymnasium; an error where OGBench is not installed."""
    try:
        importlib.import_module("ogbench.locomaze")  # registers them
    except ImportError as error:
        raise FwrlError(
            f"the benchmark needs OGBench ({error}); install it with: pip install 'fwrl[ogbench]'"
        ) from error


def make_maze(maze: str, **options: Any) -> Any:
    """OGBench's environment of a maze.

    Args:
        maze: "medium", "large", "giant" or "teleport".
        **options: Of `gymnasium.make`.

    Returns:
        The environment, without wrappers other than the time limit.
    """
    register_mazes()
    import gymnasium

    return gymnasium.make(f"pointmaze-{maze}-v0", disable_env_checker=True, **options)


class PointSimulator:
    """Steps of one environment.

    Args:
        env: An unwrapped maze of OGBench with a point.
    """

    def __init__(self, env: Any) -> None:
        self._step_physics = importlib.import_module("mujoco").mj_step
        self.env = env
        info = env._teleport_info
        self._portals = [] if info is None else info["teleport_in_xys"]
        self._exits = [] if info is None else info["teleport_out_xys"]
        self._reach = 0.0 if info is None else 1.5 * info["teleport_radius"]
        free = env.maze_map == 0
        around = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
        self._walls = {
            (int(i), int(j)): [(b * UNIT, a * UNIT) for a, b in around if not free[i + a, j + b]]
            for i, j in zip(*np.nonzero(free), strict=True)
        }

    @property
    def position(self) -> tuple[float, float]:
        """The position of the point."""
        x, y = self.env.data.qpos
        return float(x), float(y)

    def step(self, action: Floats) -> tuple[float, float]:
        """Take a step; the position that the environment would report, before a portal moves the point."""
        env, data = self.env, self.env.data
        data.qpos[:] = data.qpos + SPEED * action
        data.qvel[:] = 0.0
        x, y = self.position
        if self._clear(x, y):
            data.qacc_warmstart[:] = 0.0
        else:
            self._step_physics(env.model, data, nstep=FRAMES)
            x, y = self.position
        for px, py in self._portals:
            if math.hypot(x - px, y - py) <= self._reach:
                # The environment draws from NumPy's global generator; the collector seeds it.
                out = self._exits[np.random.randint(len(self._exits))]  # noqa: NPY002
                env.set_xy(np.array(out))
                break
        return x, y

    def _clear(self, x: float, y: float) -> bool:
        """Whether no wall touches the point."""
        i, j = self.env.xy_to_ij((x, y))
        walls = self._walls.get((i, j))
        if walls is None:
            return False
        cx, cy = self.env.ij_to_xy((i, j))
        for wx, wy in walls:
            dx = max(abs(x - cx - wx) - UNIT / 2, 0.0)
            dy = max(abs(y - cy - wy) - UNIT / 2, 0.0)
            if dx * dx + dy * dy < (RADIUS + 0.007) ** 2:
                return False
        return True


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
