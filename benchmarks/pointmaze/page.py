"""The page of the point-maze benchmark: a table beside the published numbers, a figure, and what is given and
learned.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fwrl.benchmark.point_simulator import UNIT, make_maze
from fwrl.benchmark.pointmaze import Case, Run, load_data, paths
from fwrl.benchmark.published import METHODS, SUCCESS
from fwrl.benchmark.watching import Watch
from fwrl.cells.fitting import fit_navigator
from fwrl.figures.navigation import Navigation, navigation_figure
from fwrl.figures.style import save
from fwrl.files import replaced
from fwrl.metrics.bootstrap import bootstrap_runs

WORDS = """\
# Navigators on OGBench's point mazes

Success in percent: the mean over five tasks with {episodes} episodes each, over {seeds} data seeds (in brackets a 95 %
bootstrap interval over seeds), at most 1,000 steps. Beside it the numbers published by Park et al. (OGBench, 2025).

**The data are regenerated** by OGBench's published protocol, not downloaded. *Given* are a Euclidean metric on the
coordinates that goals are given in, and that actions displace these coordinates about linearly. *Learned* are cells,
transitions between them, the model of motion and the range of actions. *Not used* are map, walls, portals, the
tolerance of the goal and any controller of the simulator. All options are at their defaults, the same for all
datasets.

{table}

*steps*: median number of steps over the least possible number, on the way of those that arrived. *fit*: processor
seconds, and in brackets how many times one pass of k-step differences and a KD-tree lookup of the same data.
*action*: microseconds, and in brackets the number of KD-tree lookups that take as long. `best` is the paper's maximum
over outcomes instead of their mean.

![Cells coloured by value and the paths of a navigator](navigation.png)
"""


def write_page(results: dict[Case, list[Run]], folder: Path, episodes: int, watch: Watch) -> Path:
    """Write `pointmaze.md` and its figure.

    Args:
        results: The runs of every case.
        folder: Where to.
        episodes: Per task.
        watch: Called with what is done and the part of it that is.

    Returns:
        The path of the page.
    """
    watch("drawing", 0.0)
    shown = [case for case in results if case.share == 1.0 and case.backup == "expected"][:1]
    teleport = [case for case in results if case.dataset.startswith("teleport") and case.backup == "expected"][:1]
    boards = [_board(case, folder, watch) for case in dict.fromkeys(shown + teleport)]
    save(navigation_figure(boards), folder, "navigation")
    seeds = max(len(runs) for runs in results.values())
    path = folder / "pointmaze.md"
    with replaced(path) as draft:
        draft.write_text(WORDS.format(episodes=episodes, seeds=seeds, table=table(results)), encoding="utf-8")
    return path


def table(results: dict[Case, list[Run]]) -> str:
    """The table in Markdown."""
    head = ["dataset", "navigator", "steps", "cells", "fit", "action", *METHODS]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join([case.name, *_row(runs), *_published(case)]) + " |" for case, runs in results.items()]
    return "\n".join(lines)


def _row(runs: list[Run]) -> list[str]:
    scores = np.array([100.0 * np.mean(run.success) for run in runs])
    interval = bootstrap_runs(scores, np.mean)
    spread = f" [{interval.low:.1f}, {interval.high:.1f}]" if len(runs) > 1 else ""
    ratios = [ratio for run in runs for ratio in run.ratio]
    fit, one_pass = (np.median([getattr(run, name) for run in runs]) for name in ("fit_seconds", "pass_seconds"))
    act, lookup = (np.median([getattr(run, name) for run in runs]) for name in ("action_seconds", "lookup_seconds"))
    return [
        f"**{scores.mean():.1f}**{spread}",
        f"{np.median(ratios):.2f}" if ratios else "",
        f"{np.median([run.cells for run in runs]):.0f}",
        f"{fit:.1f} ({fit / one_pass:.1f})",
        f"{1e6 * act:.0f} ({act / lookup:.1f})",
    ]


def _published(case: Case) -> list[str]:
    known = SUCCESS.get(case.dataset) if case.share == 1.0 and case.backup == "expected" else None
    return [str(n) for n in known] if known else [""] * len(METHODS)


def _board(case: Case, folder: Path, watch: Watch) -> Navigation:
    """The first data seed of a case: the values for the goal of the first task, and paths to it."""
    data = load_data(case, 0, folder, watch)
    navigator = fit_navigator(data)
    maze = case.dataset.partition("-")[0]
    env = make_maze(maze).unwrapped
    walked = list(paths(navigator, maze, tasks=1))
    goal = np.asarray(env.task_infos[0]["goal_xy"], np.float64)
    plan = navigator.plan(goal)
    ends = np.flatnonzero(data["terminals"]) + 1
    episodes = [data["observations"][ends[k] : ends[k + 1]].astype(np.float64) for k in range(min(6, len(ends) - 1))]
    return Navigation(
        title=f"{case.dataset}: {len(navigator.cells):,} cells, one path of the navigator",
        walls=np.argwhere(env.maze_map == 1)[:, ::-1].astype(np.float64) * UNIT - UNIT,
        unit=UNIT,
        centres=navigator.cells.centres,
        values=plan.value,
        known=plan.arrival > 0.0,
        width=navigator.cells.width,
        goal=goal,
        paths=walked,
        data=episodes if "stitch" in case.dataset else [],
    )
