"""Navigators on OGBench's point mazes.

For each dataset and data seed: collect the data, fit, and evaluate the five tasks of OGBench with 50 episodes each, at
most 1,000 steps, success within 1.0 of the goal. Steps are those of `maze.PointSimulator`. Each evaluation is kept in a
file, so that the same command continues after an interruption.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

import fwrl.navigator
from benchmarks.pointmaze.collector import data_file
from benchmarks.pointmaze.maze import TOLERANCE, MazeGeometry, PointSimulator, make_maze
from benchmarks.running import Watch, digest, keep, spread
from fwrl.arrays import Floats
from fwrl.errors import OptionError, unknown_name
from fwrl.files import scratch_folder
from fwrl.navigator.from_episodes import fit_navigator
from fwrl.navigator.navigator import Navigator
from fwrl.pool import Pool

MAZES = ("medium", "large", "giant", "teleport")
DATASETS = tuple(f"{maze}-{kind}" for kind in ("stitch", "navigate") for maze in MAZES)
TASKS = 5
LIMIT = 1000  # steps of an episode
FOLDER = Path(__file__).parent
SOURCES = (Path(fwrl.navigator.__path__[0]), *(FOLDER / f"{name}.py" for name in ("maze", "collector", "evaluation")))
MEASURED = 10  # episodes of a task that are compared with the shortest way


@dataclass(frozen=True)
class Case:
    """What is evaluated: a dataset, how much of it, and the backup."""

    dataset: str
    share: float = 1.0
    backup: Literal["expected", "best"] = "expected"

    @property
    def name(self) -> str:
        """As in the table."""
        parts = [self.dataset]
        parts += [f"{self.share:.0%} of the data"] if self.share < 1.0 else []
        parts += [self.backup] if self.backup != "expected" else []
        return ", ".join(parts)


CASES = (
    *[Case(dataset) for dataset in DATASETS],
    Case("giant-stitch", share=0.1),
    Case("giant-stitch", share=0.03),
    Case("teleport-stitch", backup="best"),
    Case("teleport-navigate", backup="best"),
)


@dataclass(frozen=True)
class Run:
    """One evaluation.

    Attributes:
        seed: Of the data.
        success: For each task, the share of episodes that arrived.
        ratio: Steps taken over the least number of steps, of episodes that arrived.
        cells: Number of cells.
        fit_seconds: Processor time of fitting.
        pass_seconds: Processor time of one pass of k-step differences and a KD-tree lookup of the same data.
        action_seconds: Mean time of an action.
        lookup_seconds: Mean time of a KD-tree lookup.
    """

    seed: int
    success: list[float]
    ratio: list[float] = field(default_factory=list)
    cells: int = 0
    fit_seconds: float = 0.0
    pass_seconds: float = 0.0
    action_seconds: float = 0.0
    lookup_seconds: float = 0.0


def cases_of(names: list[str] | None) -> list[Case]:
    """The cases of some datasets; all of them by default."""
    for name in names or ():
        if name not in DATASETS:
            raise unknown_name("dataset", name, DATASETS)
    return [case for case in CASES if not names or case.dataset in names]


def run_cases(
    cases: list[Case], seeds: int, folder: Path, episodes: int, watch: Watch, pool: Pool | None = None
) -> dict[Case, list[Run]]:
    """Evaluate cases, or read the evaluations that are there.

    Args:
        cases: What to evaluate.
        seeds: Number of data seeds, from 0 on.
        folder: Where data and evaluations are kept.
        episodes: Per task.
        watch: Called with what is done and the part of it that is.
        pool: Whose workers evaluate, each with data of its own making; by default this process.

    Returns:
        One run for each seed of each case.
    """
    if seeds < 1 or episodes < 1:
        raise OptionError(f"expected at least one seed and one episode, got {seeds} and {episodes}")
    if pool is not None:
        _run_apart(cases, seeds, folder, episodes, watch, pool)
    results: dict[Case, list[Run]] = {case: [] for case in cases}
    for seed in range(seeds):
        for case in cases:
            results[case].append(_run(case, seed, folder, episodes, watch))
    return results


def load_data(case: Case, seed: int, folder: Path, watch: Watch) -> dict[str, NDArray[Any]]:
    """The arrays of a case: the first episodes of its dataset, collected if need be."""
    name = f"collecting {case.dataset}, seed {seed}"
    path = data_file(folder / "data", case.dataset, seed, lambda part: watch(name, part))
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    ends = np.flatnonzero(arrays["terminals"]) + 1
    rows = int(ends[max(1, round(case.share * len(ends))) - 1])
    return {key: array[:rows] for key, array in arrays.items()}


def paths(navigator: Navigator, maze: str, tasks: int = TASKS, seed: int = 0) -> Iterator[Floats]:
    """One path (T, 2) for each task."""
    for episode in _episodes(navigator, maze, 1, seed, tasks):
        yield episode.path


@dataclass(frozen=True)
class _Episode:
    task: int
    success: bool
    path: Floats
    goal: Floats
    seconds: float  # of all actions


def _episodes(navigator: Navigator, maze: str, n: int, seed: int, tasks: int = TASKS) -> Iterator[_Episode]:
    """Episodes of the tasks in OGBench's own environment."""
    env = make_maze(maze).unwrapped
    simulator = PointSimulator(env)
    before = np.random.get_state()  # noqa: NPY002 (the environment draws from the global generator)
    np.random.seed(seed)  # noqa: NPY002
    try:
        for task in range(1, tasks + 1):
            for _ in range(n):
                start, info = env.reset(options={"task_id": task})
                yield _episode(navigator, simulator, task, start, np.asarray(info["goal"], np.float64))
    finally:
        np.random.set_state(before)  # noqa: NPY002
        env.close()


def _episode(navigator: Navigator, simulator: PointSimulator, task: int, start: Floats, goal: Floats) -> _Episode:
    navigator.aim(goal)
    path, seconds, success = [start], 0.0, False
    while not success and len(path) <= LIMIT:
        began = time.perf_counter()
        action = navigator.act(path[-1])
        seconds += time.perf_counter() - began
        path.append(np.array(simulator.step(action)))
        success = math.dist(path[-1], goal) <= TOLERANCE
    return _Episode(task, success, np.array(path), goal, seconds)


class Evaluation(NamedTuple):
    """Cases of one dataset and data seed, which share their data."""

    cases: tuple[Case, ...]
    seed: int
    episodes: int

    def __str__(self) -> str:
        return f"{self.cases[0].dataset}, seed {self.seed}"


def _run_apart(cases: list[Case], seeds: int, folder: Path, episodes: int, watch: Watch, pool: Pool) -> None:
    """Evaluate on the workers of a pool what is not there yet."""
    tasks = []
    for seed in range(seeds):
        for dataset in dict.fromkeys(case.dataset for case in cases):
            of_dataset = [case for case in cases if case.dataset == dataset]
            missing = tuple(case for case in of_dataset if not _kept(case, seed, folder, episodes).is_file())
            tasks += [Evaluation(missing, seed, episodes)] if missing else []

    def keep_all(task: Evaluation, runs: list[Run]) -> None:
        for case, run in zip(task.cases, runs, strict=True):
            keep(run, _kept(case, task.seed, folder, episodes))

    spread(pool, evaluated_apart, tasks, keep_all, watch)


def evaluated_apart(task: Evaluation) -> list[Run]:
    """Evaluate cases without any files of the caller: the same seed gives the same data anywhere."""
    with scratch_folder() as folder:
        return [
            _evaluated(case, task.seed, load_data(case, task.seed, folder, _unwatched), task.episodes, _unwatched)
            for case in task.cases
        ]


def _unwatched(step: str, part: float) -> None:
    """Report no progress."""


def _kept(case: Case, seed: int, folder: Path, episodes: int) -> Path:
    """Where the evaluation of one case on one data seed by this code is kept."""
    key = f"{case.dataset}-{case.share:g}-{case.backup}-{seed}-{episodes}-{digest(*SOURCES)}"
    return folder / "runs" / f"{key}.json"


def _run(case: Case, seed: int, folder: Path, episodes: int, watch: Watch) -> Run:
    """Evaluate one case on one data seed, unless that was done before by the same code."""
    path = _kept(case, seed, folder, episodes)
    if path.is_file():
        return Run(**json.loads(path.read_text(encoding="utf-8")))
    run = _evaluated(case, seed, load_data(case, seed, folder, watch), episodes, watch)
    keep(run, path)
    return run


def _evaluated(case: Case, seed: int, data: dict[str, NDArray[Any]], episodes: int, watch: Watch) -> Run:
    name = f"{case.name}, seed {seed}"
    watch(f"fitting {name}", 0.0)
    began = time.process_time()
    navigator = fit_navigator(data, backup=case.backup)
    fitted = time.process_time() - began
    maze = case.dataset.partition("-")[0]
    geometry = MazeGeometry(make_maze(maze).unwrapped.maze_map == 0)
    arrived: list[list[bool]] = [[] for _ in range(TASKS)]
    ratios, seconds, actions = [], 0.0, 0
    for done, episode in enumerate(_episodes(navigator, maze, episodes, seed)):
        watch(f"evaluating {name}", done / (TASKS * episodes))
        arrived[episode.task - 1].append(episode.success)
        seconds += episode.seconds
        actions += len(episode.path) - 1
        measured = (
            maze != "teleport" and len(arrived[episode.task - 1]) <= MEASURED
        )  # a portal may beat the shortest way
        if episode.success and measured:
            ratios.append((len(episode.path) - 1) / max(1.0, geometry.least_steps(episode.path[0], episode.goal)))
    return Run(
        seed,
        [float(np.mean(successes)) for successes in arrived],
        ratios,
        len(navigator.cells),
        fitted,
        _pass_seconds(navigator, data),
        seconds / actions,
        _lookup_seconds(navigator),
    )


def _pass_seconds(navigator: Navigator, data: dict[str, NDArray[Any]]) -> float:
    """Processor time of k-step differences and a KD-tree lookup of all points."""
    from scipy.spatial import cKDTree

    points, k = data["observations"].astype(np.float64), navigator.settings.window
    tree = cKDTree(navigator.cells.centres)
    began = time.process_time()
    np.subtract(points[k:], points[:-k])
    tree.query(points)
    return time.process_time() - began


def _lookup_seconds(navigator: Navigator) -> float:
    """Mean time of looking up one point."""
    from scipy.spatial import cKDTree

    centres = navigator.cells.centres
    tree = cKDTree(centres)
    began = time.perf_counter()
    for centre in centres:
        tree.query(centre)
    return (time.perf_counter() - began) / len(centres)
