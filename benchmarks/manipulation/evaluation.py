"""Navigators on OGBench's manipulation tasks.

For each dataset and data seed: collect, fit, and evaluate the five tasks with 50 episodes each, within OGBench's limit
of steps. Success is the environment's own. Each task is kept in a file, so the same command continues after an
interruption. Options are tuned on pairs of our own (`drawn`), never on the five tasks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fwrl
import fwrl.navigator
from benchmarks.manipulation.arm import DATASETS, WORLDS, drawn_task, make_arm, parts_of
from benchmarks.manipulation.collector import load_data
from benchmarks.manipulation.navigation import ABLATIONS, ONE, Actor, fit, shown_in_one_episode
from benchmarks.running import Watch, digest, keep
from fwrl.arrays import Floats

TASKS = 5
SEEDS = 3
FOLDER = Path(__file__).parent
SOURCES = (
    Path(fwrl.navigator.__path__[0]),
    *(FOLDER / f"{name}.py" for name in ("arm", "collector", "evaluation", "navigation")),
)


@dataclass(frozen=True)
class Case:
    """A dataset, how much of it is used, and what is left out.

    Attributes:
        dataset: An environment and a kind of data, as "cube-single-play".
        episodes: Of data.
        ablation: A name in `navigation.ABLATIONS`; "" for the defaults.
    """

    dataset: str
    episodes: int
    ablation: str = ""

    @property
    def name(self) -> str:
        """As the progress bar says it."""
        words = f"{self.dataset}, {self.episodes:,} episodes"
        return f"{words}, {self.ablation}" if self.ablation else words


SHARES = (0.02, 0.05, 0.1, 0.2, 1.0)  # of the published episodes
ABLATED = ("cube-single-play", "cube-double-play", "puzzle-4x4-play", "scene-play")


def cases_of(names: list[str] | None, most: int, ablations: bool) -> list[Case]:
    """The cases of some datasets, by default of all, with at most so many episodes of data."""
    cases = []
    for dataset in names or DATASETS:
        published = WORLDS[parts_of(dataset)[0]].episodes
        sizes = [round(share * published) for share in SHARES]
        found = [Case(dataset, size) for size in sizes if size <= most] or [Case(dataset, most)]
        left_out = ABLATIONS if ablations and dataset in ABLATED else ()
        cases += [*found, *(Case(dataset, found[-1].episodes, name) for name in left_out)]
    return cases


@dataclass(frozen=True)
class Task:
    """One task of one case on one data seed.

    Attributes:
        seed: Of the data.
        task: From 1; 0 for pairs of our own.
        success: Of each episode.
        steps: Of each episode.
        rows: Of data.
        fit_seconds: Processor time of fitting.
        action_seconds: Median wall-clock time of an action; the slowest of a thousand in `slow_seconds`.
        refused: The navigator's reason, for each episode in which it found no plan.
    """

    seed: int
    task: int
    success: list[bool]
    steps: list[int]
    rows: int
    fit_seconds: float
    action_seconds: float
    slow_seconds: float
    refused: list[str] = field(default_factory=list)


Results = dict[Case, list[Task]]


class Episode(NamedTuple):
    """One episode: what was seen at each step, and how it ended."""

    observations: Floats
    success: bool
    seconds: list[float]  # of each action
    refused: str  # the reason, if the navigator found no plan


def run_case(case: Case, seed: int, folder: Path, episodes: int, drawn: bool, watch: Watch) -> list[Task]:
    """Evaluate a case on one data seed, or read what is there.

    Args:
        seed: Of the data.
        folder: Keeps data and evaluations.
        episodes: Per task.
        drawn: Evaluate pairs of our own instead of the five tasks, the same number in total.
        watch: Called with what is done and the part of it that is.
    """
    tasks = [0] if drawn else list(range(1, TASKS + 1))
    number = episodes * TASKS if drawn else episodes
    missing = [task for task in tasks if not kept(case, seed, task, number, folder).is_file()]
    if missing:
        _evaluate(case, seed, folder, missing, number, watch)
    found = [kept(case, seed, task, number, folder).read_text(encoding="utf-8") for task in tasks]
    return [Task(**json.loads(text)) for text in found]


def kept(case: Case, seed: int, task: int, episodes: int, folder: Path) -> Path:
    """Return the file that keeps the evaluation of a task by this code."""
    words = (case.dataset, case.episodes, case.ablation or "default", f"seed{seed}", f"task{task}", episodes)
    return folder / "runs" / digest(*SOURCES) / ("-".join(map(str, words)).replace(" ", "_") + ".json")


def _evaluate(case: Case, seed: int, folder: Path, tasks: list[int], episodes: int, watch: Watch) -> None:
    world, _ = parts_of(case.dataset)
    name = f"{case.name}, seed {seed}"
    data = load_data(folder / "data", case.dataset, seed, case.episodes, lambda part: watch(f"collecting {name}", part))
    watch(f"fitting {name}", 0.0)
    began = time.process_time()
    navigator = fit(data, world, case.ablation)
    fit_seconds = time.process_time() - began
    env = make_arm(world, seed, terminate_at_goal=False)
    for task in tasks:
        done: list[Episode] = []
        for k in range(episodes):
            ends = start(env, world, task, seed, k)
            if case.ablation == ONE:
                done.append(Episode(ends[0][None], shown_in_one_episode(data, world, *ends), [], ""))
            else:
                done.append(run_episode(navigator, env, *ends, WORLDS[world].limit))
            solved = sum(episode.success for episode in done)
            watch(f"{name}, task {task}: {solved} of {len(done)}", len(done) / episodes)
        seconds = [second for episode in done for second in episode.seconds] or [0.0]
        result = Task(
            seed,
            task,
            [episode.success for episode in done],
            [len(episode.seconds) for episode in done],
            len(data["observations"]),
            fit_seconds,
            float(np.median(seconds)),
            float(np.quantile(seconds, 0.999)),
            [episode.refused for episode in done if episode.refused],
        )
        keep(result, kept(case, seed, task, episodes, folder))
    env.close()


def start(env: Any, world: str, task: int, seed: int, k: int) -> tuple[Floats, Floats]:
    """Begin the k-th episode of a task from 1 to 5, or of our own pairs (0): the first observation and the goal."""
    rng = np.random.default_rng([1_000_003, seed, task, k])  # other streams than the collector's
    options = {"task_id": task} if task else {"task_info": drawn_task(world, rng)}
    drawn = int(rng.integers(2**31))
    env.action_space.seed(drawn)
    seen, info = env.reset(seed=drawn, options=options)
    return np.asarray(seen, np.float64), np.asarray(info["goal"], np.float64)


def run_episode(
    navigator: Actor, env: Any, seen: Floats, goal: Floats, limit: int, look: Callable[[], None] = lambda: None
) -> Episode:
    """Follow a navigator until the environment reports success or the limit is reached; `look` after each step."""
    path, success = [seen], False
    seconds: list[float] = []
    navigator.aim(goal)
    while not success and len(seconds) < limit:
        began = time.perf_counter()
        try:
            action = navigator.act(path[-1])
        except fwrl.NoPlanError as refusal:
            return Episode(np.array(path), False, seconds, str(refusal))
        seconds.append(time.perf_counter() - began)
        observation, _, _, _, info = env.step(action)
        path.append(np.asarray(observation, np.float64))
        success = bool(info["success"])
        look()
    return Episode(np.array(path), success, seconds, "")
