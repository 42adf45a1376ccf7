"""The page of the point mazes: our success and the published one, what is given and learned, and a figure.

The figure shows cells coloured by their value for one goal, and the paths that a navigator took over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from benchmarks.pointmaze.evaluation import Case, Run, load_data, paths
from benchmarks.pointmaze.maze import UNIT, make_maze
from benchmarks.running import Watch
from fwrl.arrays import Floats
from fwrl.figures.palette import BLACK, BLUE, GREEN, INK, VERMILLION
from fwrl.figures.style import Figure, figure_of, save, sheet
from fwrl.figures.value_map import SHADES
from fwrl.files import replaced
from fwrl.metrics.bootstrap import bootstrap_runs
from fwrl.navigator.from_episodes import fit_navigator

# Success in percent, published by Park et al. (OGBench, 2025).
METHODS = ("GCBC", "GCIVL", "GCIQL", "QRL", "CRL", "HIQL")
SUCCESS: dict[str, tuple[int, ...]] = {
    "medium-stitch": (23, 70, 21, 80, 0, 74),
    "large-stitch": (7, 12, 31, 84, 0, 13),
    "giant-stitch": (0, 0, 0, 50, 0, 0),
    "teleport-stitch": (31, 44, 25, 9, 4, 34),
    "medium-navigate": (9, 63, 53, 82, 29, 79),
    "large-navigate": (29, 45, 34, 86, 39, 58),
    "giant-navigate": (1, 0, 0, 68, 27, 46),
    "teleport-navigate": (25, 45, 24, 4, 24, 18),
}

WALL = "#4A4A4A"
LINES = (BLUE, VERMILLION, GREEN, BLACK)

WORDS = """\
# Navigators on OGBench's point mazes

Success in percent: the mean over five tasks with {episodes} episodes each, over {seeds} data seeds (in brackets a 95 %
bootstrap interval over seeds), at most 1,000 steps. Next to it the numbers published by Park et al. (OGBench, 2025).

**The data are regenerated** by OGBench's published protocol, not downloaded. *Given* are a Euclidean metric on the
coordinates that goals are given in, and that actions displace these coordinates about linearly. *Learned* are cells,
transitions between them, the model of motion and the range of actions. *Not used* are map, walls, portals, the
tolerance of the goal and any controller of the simulator. All options are at their defaults, the same for all
datasets.

{table}

*steps*: median number of steps over the least possible number, of those that arrived. *fit*: processor
seconds, and in brackets how many times one pass of k-step differences and a KD-tree lookup of the same data.
*action*: microseconds, and in brackets the number of KD-tree lookups that take as long. `best` is the paper's maximum
over outcomes instead of their mean.

![Cells coloured by value and the paths of a navigator](navigation.png)
"""


class Navigation(NamedTuple):
    """The content of one board."""

    title: str
    walls: Floats  # (W, 2) centres of square walls
    unit: float  # width of a wall
    centres: Floats  # (S, 2) of the cells
    values: Floats  # (S,) expected steps to the goal, as negative numbers
    known: NDArray[np.bool_]  # (S,) whether the goal can be reached from the cell
    width: float  # of the cells
    goal: Floats  # (2,)
    paths: Sequence[Floats]  # (T, 2) each
    data: Sequence[Floats]  # a few episodes of the data


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


@figure_of
def navigation_figure(boards: Sequence[Navigation]) -> Figure:
    """Draw boards next to each other."""
    figure = sheet(7.2 * len(boards), 7.0)
    for axes, board in zip(figure.subplots(1, len(boards), squeeze=False)[0], boards, strict=True):
        _draw(axes, board)
    return figure


def _draw(axes: Axes, board: Navigation) -> None:
    half = board.unit / 2
    squares = [Rectangle((x - half, y - half), board.unit, board.unit) for x, y in board.walls]
    axes.add_collection(PatchCollection(squares, facecolor=WALL, edgecolor="none", zorder=1))
    painted = _paint_cells(axes, board)
    for episode in board.data:
        axes.plot(episode[:, 0], episode[:, 1], color="white", linewidth=1.4, zorder=2)
    for k, path in enumerate(board.paths):
        colour = LINES[k % len(LINES)]
        axes.plot(path[:, 0], path[:, 1], color=colour, linewidth=2.6, zorder=3)
        axes.plot(path[0, 0], path[0, 1], marker="o", markersize=9, color=colour, zorder=4)
    axes.plot(*board.goal, marker="*", markersize=20, color=INK, markerfacecolor="#FFD700", zorder=5)
    axes.set_title(board.title)
    axes.set_xlim(board.walls[:, 0].min() - half, board.walls[:, 0].max() + half)
    axes.set_ylim(board.walls[:, 1].max() + half, board.walls[:, 1].min() - half)  # row 0 at the top
    axes.set_aspect("equal")
    axes.set_axis_off()
    bar = axes.figure.colorbar(painted, ax=axes, orientation="horizontal", shrink=0.7, pad=0.02)
    bar.set_label("expected steps to the goal (star); white: some episodes of the data")


def _paint_cells(axes: Axes, board: Navigation) -> PatchCollection:
    """Cells as squares around their centres, coloured by value; grey where no way is known."""
    half = board.width / 2
    cells = [Rectangle((x - half, y - half), board.width, board.width) for x, y in board.centres]
    grey = [cell for cell, known in zip(cells, board.known, strict=True) if not known]
    axes.add_collection(PatchCollection(grey, facecolor="#E4E4E4", edgecolor="none", zorder=0))
    shaded = PatchCollection(
        [c for c, known in zip(cells, board.known, strict=True) if known], edgecolor="none", zorder=0
    )
    shaded.set_array(-board.values[board.known])
    shaded.set_cmap(SHADES.reversed())
    axes.add_collection(shaded)
    return shaded
