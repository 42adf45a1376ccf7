"""Data for OGBench's point mazes, collected anew by its published protocol (Park et al. 2025).

OGBench's own files are not needed. Its protocol: the point heads for the next square on a shortest path of squares to a
goal, with Gaussian noise of 0.5 on the unit action, clipped to [-1, 1].

- `stitch`: 5,000 episodes of 201 steps; the goal is 4 squares from the start, and the point stays there.
- `navigate`: 1,000 episodes of 1,001 steps (giant: 500 of 2,001); a new goal is drawn when one is reached.

Files hold the same arrays as OGBench's: `observations`, `actions`, `terminals`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.pointmaze.maze import TOLERANCE, PointSimulator, make_maze
from fwrl.files import replaced

Square = tuple[int, int]
Mask = NDArray[np.bool_]

NOISE = 0.5
APART = 4  # squares between start and goal of a stitch episode
SIZES = {"stitch": (5000, 201), "navigate": (1000, 1001), "giant-navigate": (500, 2001)}
MOVES = ((-1, 0), (0, -1), (1, 0), (0, 1))


def size_of(dataset: str) -> tuple[int, int]:
    """Episodes, and steps of an episode, of a dataset such as "giant-stitch"."""
    return SIZES.get(dataset, SIZES[dataset.partition("-")[2]])


def data_file(folder: Path, dataset: str, seed: int, progress: Callable[[float], None] | None = None) -> Path:
    """The file of a dataset, collected if it is not there.

    Args:
        folder: Where the files are.
        dataset: A maze and a kind, as "giant-stitch".
        seed: Of the collector.
        progress: Called with the part that is done, from 0 to 1.

    Returns:
        The path of the file.
    """
    path = folder / f"pointmaze-{dataset}-regenerated-{seed}.npz"
    if not path.is_file():
        arrays: dict[str, Any] = collect(dataset, seed, progress=progress)
        folder.mkdir(parents=True, exist_ok=True)
        with replaced(path) as draft, draft.open("wb") as file:
            np.savez(file, **arrays)
    return path


def collect(
    dataset: str, seed: int, episodes: int | None = None, progress: Callable[[float], None] | None = None
) -> dict[str, NDArray[Any]]:
    """Collect episodes.

    Args:
        dataset: A maze and a kind, as "giant-stitch".
        seed: Of the collector.
        episodes: How many; None for the protocol's number.
        progress: Called with the part that is done, from 0 to 1.

    Returns:
        The arrays of a file.
    """
    maze, _, kind = dataset.partition("-")
    published, steps = size_of(dataset)
    n = published if episodes is None else episodes
    before = np.random.get_state()  # noqa: NPY002 (the environment draws from the global generator)
    np.random.seed(seed)  # noqa: NPY002
    try:
        env = make_maze(maze, terminate_at_goal=False, max_episode_steps=steps).unwrapped
        env.reset(seed=seed)
        env.action_space.seed(seed)
        return _Collector(env, kind, np.random.default_rng([seed, 7])).run(n, steps, progress)
    finally:
        np.random.set_state(before)  # noqa: NPY002


class _Collector:
    """Episodes of one kind in one environment."""

    def __init__(self, env: Any, kind: str, rng: np.random.Generator) -> None:
        self._env, self._kind, self._rng = env, kind, rng
        self._free: Mask = env.maze_map == 0
        self._squares = [(int(i), int(j)) for i, j in zip(*np.nonzero(self._free), strict=True)]
        self._junctions = [square for square in self._squares if not self._in_hallway(square)]
        self._near = {s: [t for t in self._squares if self._hops(s)[t] == APART] or [s] for s in self._squares}
        self._next: dict[Square, dict[Square, Square]] = {}
        self._simulator = PointSimulator(env)

    def run(self, episodes: int, steps: int, progress: Callable[[float], None] | None) -> dict[str, NDArray[Any]]:
        observations = np.empty((episodes * steps, 2), np.float32)
        actions = np.empty((episodes * steps, 2), np.float32)
        for episode in range(episodes):
            rows = slice(episode * steps, (episode + 1) * steps)
            self._episode(observations[rows], actions[rows])
            if progress is not None:
                progress((episode + 1) / episodes)
        terminals = np.zeros(episodes * steps, np.bool_)
        terminals[steps - 1 :: steps] = True
        return {"observations": observations, "actions": actions, "terminals": terminals}

    def _episode(self, observations: NDArray[np.float32], actions: NDArray[np.float32]) -> None:
        """Fill the rows of one episode."""
        env, simulator = self._env, self._simulator
        start = self._drawn(self._squares)
        goal = self._drawn(self._junctions if self._kind == "navigate" else self._near[start])
        seen: Any = env.reset(options={"task_info": {"init_ij": start, "goal_ij": goal}})[0]
        target = env.cur_goal_xy
        noise = self._rng.normal(0.0, NOISE, actions.shape)
        for t, action in enumerate(noise):
            x, y = simulator.position
            cx, cy = env.ij_to_xy(self._step_towards(env.xy_to_ij(target), env.xy_to_ij((x, y))))
            length = math.hypot(cx - x, cy - y) + 1e-6
            action[0] += (cx - x) / length
            action[1] += (cy - y) / length
            np.clip(action, -1.0, 1.0, out=action)
            observations[t], actions[t] = seen, action
            seen = simulator.step(action)
            if self._kind == "navigate" and math.dist(seen, target) <= TOLERANCE:
                target = env.add_noise(env.ij_to_xy(self._drawn(self._junctions)))

    def _drawn(self, squares: list[Square]) -> Square:
        return squares[self._rng.integers(len(squares))]

    def _step_towards(self, goal: Square, square: Square) -> Square:
        """The next square on a shortest path; the same one where there is none."""
        if goal not in self._next:
            hops = self._hops(goal)
            self._next[goal] = {s: self._lower(s, hops) for s in self._squares}
        return self._next[goal].get(square, square)

    def _lower(self, square: Square, hops: NDArray[np.int64]) -> Square:
        best = square
        for move in MOVES:
            beside = (square[0] + move[0], square[1] + move[1])
            if self._free[beside] and hops[beside] < hops[best]:
                best = beside
        return best

    def _hops(self, goal: Square) -> NDArray[np.int64]:
        """Squares to the goal; -1 where no path leads."""
        hops = np.full(self._free.shape, -1)
        hops[goal] = 0
        queue = deque([goal])
        while queue:
            i, j = queue.popleft()
            for a, b in MOVES:
                beside = (i + a, j + b)
                if self._free[beside] and hops[beside] < 0:
                    hops[beside] = hops[i, j] + 1
                    queue.append(beside)
        return hops

    def _in_hallway(self, square: Square) -> bool:
        """Whether walls are on two opposite sides and none on the others."""
        i, j = square
        up, down = self._free[i - 1, j], self._free[i + 1, j]
        left, right = self._free[i, j - 1], self._free[i, j + 1]
        return bool((up and down and not left and not right) or (left and right and not up and not down))
