"""OGBench's point in a maze: its own simulator, called only where a wall can touch the point.

A step adds 0.2 times the action to the position and lets MuJoCo push the point out of walls. Away from walls nothing
pushes: the position is final, and the call would return it unchanged. Leaving these calls out gives the same
positions to the last bit (a test compares them) in an eighth of the time.
"""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError

Floats = NDArray[np.float64]

UNIT = 4.0  # width of a square of the maze
RADIUS = 0.7  # of the point's body
SPEED = 0.2
FRAMES = 5  # simulator steps per step
TOLERANCE = 1.0  # distance to the goal that counts as success


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
        """Where the point is."""
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
