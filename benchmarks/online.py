"""`python -m benchmarks.online`: learning from nothing, against SAC with hindsight replay (HER) at equal steps.

Environments are the point mazes of Gymnasium-Robotics, whose point has momentum, and Gymnasium's MountainCar. After
learning, success is measured without exploration on episodes with seeds of their own. SAC + HER is that of
Stable-Baselines3 with its defaults, but that it begins to learn after as many steps as an episode can have, since
hindsight needs a finished one. It runs on point mazes, where Stable-Baselines3 is installed, with three seeds at
most. Every run is kept in a file of its own, so that the same command continues after an interruption.
"""

from __future__ import annotations

import importlib.util
import json
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

import fwrl.navigator
from benchmarks.running import RESULTS, Watch, digest, keep, progress_bar, run_command, spread
from fwrl.cli.output_paths import make_folder
from fwrl.cli.workers import Cluster, chosen_pool
from fwrl.errors import FwrlError, unknown_name
from fwrl.files import replaced
from fwrl.metrics.bootstrap import bootstrap_runs
from fwrl.navigator.making import make_navigator
from fwrl.pool import Pool
from fwrl.task import learn

STEPS = {"PointMaze_UMaze-v3": 10_000, "PointMaze_Medium-v3": 50_000, "MountainCar-v0": 20_000}
NAVIGATOR, SAC = "navigator", "SAC + HER"
SAC_SEEDS = 3
FIRST_EVALUATION = 10**6  # seeds of evaluation begin here

WORDS = """\
# Learning from nothing

Success without exploration after learning, mean over seeds (in brackets a 95 % bootstrap interval over seeds),
{episodes} episodes each. SAC + HER is that of Stable-Baselines3 at equal steps, with its defaults, but that
it learns from the end of the first episode on, which hindsight needs. *Given* to the
navigator in the point mazes are a Euclidean metric on the goal coordinates and that actions and momentum displace
them about linearly; in MountainCar only the bounds of the observations.

{table}
"""


@dataclass(frozen=True)
class OnlineRun:
    """One run.

    Attributes:
        environment: Its name.
        learner: "navigator" or "SAC + HER".
        seed: Of learner and environment.
        success: Share of the evaluated episodes that arrived.
        seconds: Processor time of learning, environment included.
    """

    environment: str
    learner: str
    seed: int
    success: float
    seconds: float


class Learning(NamedTuple):
    """A run to make."""

    environment: str
    learner: str
    seed: int
    episodes: int

    def __str__(self) -> str:
        return f"{self.environment}, {self.learner}, seed {self.seed}"


def online(
    out: Annotated[Path, typer.Option(help="The folder for results and the page.")] = RESULTS / "benchmark",
    seeds: Annotated[int, typer.Option(min=1, help="Number of runs.")] = 3,
    only: Annotated[
        list[str] | None,
        typer.Option(help="An environment; may be given several times. Default: all.", metavar="NAME"),
    ] = None,
    episodes: Annotated[int, typer.Option(min=1, help="Episodes of each evaluation.")] = 50,
    cluster: Cluster = None,
) -> None:
    """Learn PointMaze and MountainCar from nothing, against SAC + HER, and write a page with the results.

    Point mazes need the extra robotics, SAC the extra sb3. Results are kept: after an interruption the same command
    continues.
    """
    with nullcontext() if cluster is None else chosen_pool(None, cluster) as pool, progress_bar() as watch:
        make_folder(out)  # not before a cluster is found
        runs = run_online(only, seeds, out, episodes, watch, pool)
    typer.echo(online_table(runs))
    typer.echo(f"\nwritten: {write_online_page(runs, out, episodes)}")


def run_online(
    names: list[str] | None, seeds: int, folder: Path, episodes: int, watch: Watch, pool: Pool | None = None
) -> list[OnlineRun]:
    """Run what is not there yet.

    Args:
        names: Environments; None for all.
        seeds: Number of runs of each environment.
        folder: Where runs are kept.
        episodes: Of an evaluation.
        watch: Called with what is done and the part of it that is.
        pool: Whose workers run; by default this process.

    Returns:
        All runs.
    """
    for name in names or ():
        if name not in STEPS:
            raise unknown_name("environment", name, STEPS)
    chosen = [name for name in STEPS if not names or name in names]
    plan = [Learning(name, NAVIGATOR, seed, episodes) for name in chosen for seed in range(seeds)]
    if _has_stable_baselines3():
        mazes = [name for name in chosen if name.startswith("PointMaze")]
        plan += [Learning(name, SAC, seed, episodes) for name in mazes for seed in range(min(seeds, SAC_SEEDS))]
    if pool is not None:
        missing = [task for task in plan if not _path(task, folder).is_file()]
        spread(pool, learned, missing, lambda task, made: keep(made, _path(task, folder)), watch)
    runs = []
    for done, task in enumerate(plan):
        watch(str(task), done / len(plan))
        runs.append(_kept(task, folder))
    return runs


def online_table(runs: list[OnlineRun]) -> str:
    """The table in Markdown."""
    lines = ["| environment | steps | learner | success | seeds | processor seconds |", "|---|---|---|---|---|---|"]
    for name, learner in dict.fromkeys((run.environment, run.learner) for run in runs):
        some = [run for run in runs if (run.environment, run.learner) == (name, learner)]
        scores = np.array([run.success for run in some])
        interval = bootstrap_runs(scores, np.mean)
        spread = f" [{interval.low:.2f}, {interval.high:.2f}]" if len(some) > 1 else ""
        seconds = np.median([run.seconds for run in some])
        lines.append(
            f"| {name} | {STEPS[name]:,} | {learner} | **{scores.mean():.2f}**{spread} | {len(some)} | {seconds:.0f} |"
        )
    return "\n".join(lines)


def write_online_page(runs: list[OnlineRun], folder: Path, episodes: int) -> Path:
    """Write `online.md`.

    Args:
        runs: All runs.
        folder: Where to.
        episodes: Of an evaluation.

    Returns:
        The path of the page.
    """
    path = folder / "online.md"
    with replaced(path) as draft:
        draft.write_text(WORDS.format(table=online_table(runs), episodes=episodes), encoding="utf-8")
    return path


def _path(task: Learning, folder: Path) -> Path:
    """Where a run by this code is kept."""
    version = digest(Path(fwrl.navigator.__path__[0]), Path(__file__)) if task.learner == NAVIGATOR else "defaults"
    learner = "navigator" if task.learner == NAVIGATOR else "sac-her"
    return folder / "runs" / f"{task.environment}-{learner}-{task.seed}-{task.episodes}-{version}.json"


def _kept(task: Learning, folder: Path) -> OnlineRun:
    path = _path(task, folder)
    if path.is_file():
        return OnlineRun(**json.loads(path.read_text(encoding="utf-8")))
    made = learned(task)
    keep(made, path)
    return made


def learned(task: Learning) -> OnlineRun:
    """Make a run."""
    name, learner, seed, episodes = task
    env = make_environment(name)
    began = time.process_time()
    if learner == NAVIGATOR:
        model: Any = make_navigator(env, seed=seed)
        learn(model, env, total_timesteps=STEPS[name], seed=seed)
    else:
        sb3 = importlib.import_module("stable_baselines3")
        buffer = sb3.HerReplayBuffer
        first = longest_episode(env) + 1
        model = sb3.SAC("MultiInputPolicy", env, replay_buffer_class=buffer, learning_starts=first, seed=seed)
        model.learn(STEPS[name])
    seconds = time.process_time() - began
    return OnlineRun(name, learner, seed, _success(model, env, seed, episodes), seconds)


def longest_episode(env: Any) -> int:
    """The most steps that an episode of an environment can have, by its time limit."""
    return int(env.spec.max_episode_steps)


def _success(model: Any, env: Any, seed: int, episodes: int) -> float:
    """Share of episodes that arrive without exploration."""
    arrived = 0
    for episode in range(episodes):
        observation, _ = env.reset(seed=FIRST_EVALUATION + 1000 * seed + episode)
        state, done = None, False
        while not done:
            action, state = model.predict(observation, state, deterministic=True)
            observation, _, terminated, truncated, _ = env.step(action)
            done = terminated or truncated
        arrived += bool(terminated)
    return arrived / episodes


def make_environment(name: str) -> Any:
    """The environment; episodes of point mazes end at their goal."""
    import gymnasium

    if not name.startswith("PointMaze"):
        return gymnasium.make(name)
    try:
        robotics = importlib.import_module("gymnasium_robotics")
    except ImportError as error:
        raise FwrlError(
            f"the benchmark needs Gymnasium-Robotics ({error}); install fwrl with the extra 'robotics'"
        ) from error
    gymnasium.register_envs(robotics)
    return gymnasium.make(name, continuing_task=False)


def _has_stable_baselines3() -> bool:
    return importlib.util.find_spec("stable_baselines3") is not None


if __name__ == "__main__":
    from benchmarks.online import online as imported  # workers find what they run by the name of its module

    run_command(imported)
