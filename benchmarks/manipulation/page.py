"""The page of the manipulation tasks: success next to published numbers, with less data, and with an idea left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import binomtest

from benchmarks.manipulation.arm import WORLDS, parts_of
from benchmarks.manipulation.evaluation import SHARES, TASKS, Case, Results, Task
from fwrl.display import counted
from fwrl.figures.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
from fwrl.figures.style import Figure, figure_of, save, sheet
from fwrl.files import replaced

# Success in percent, published by Park et al. (OGBench, 2025; arXiv:2410.20092) for the whole dataset.
METHODS = ("GCBC", "GCIVL", "GCIQL", "QRL", "CRL", "HIQL")
PUBLISHED: dict[str, tuple[int, ...]] = {
    "cube-single-play": (6, 53, 68, 5, 19, 15),
    "cube-double-play": (1, 36, 40, 1, 10, 6),
    "cube-triple-play": (1, 1, 3, 0, 4, 3),
    "puzzle-3x3-play": (2, 6, 95, 1, 3, 12),
    "puzzle-4x4-play": (0, 13, 26, 0, 0, 7),
    "puzzle-4x5-play": (0, 7, 14, 0, 1, 4),
    "puzzle-4x6-play": (0, 10, 12, 0, 4, 3),
    "scene-play": (5, 42, 51, 5, 19, 38),
    "cube-single-noisy": (8, 71, 99, 25, 38, 41),
    "cube-double-noisy": (1, 14, 23, 3, 2, 2),
    "cube-triple-noisy": (1, 9, 2, 1, 3, 2),
    "puzzle-3x3-noisy": (1, 42, 94, 0, 30, 51),
    "puzzle-4x4-noisy": (0, 20, 29, 0, 0, 16),
    "puzzle-4x5-noisy": (0, 19, 19, 0, 3, 5),
    "puzzle-4x6-noisy": (0, 17, 18, 0, 6, 2),
    "scene-noisy": (1, 26, 26, 9, 1, 25),
}
# Newer methods, each by its own protocol: ORS (arXiv:2604.20627), TTGS with GCIQL (arXiv:2510.07257), MCTD without
# replanning (arXiv:2502.07202), TRL on a billion steps (arXiv:2510.22512).
NEWER = {
    "cube-single-play": "MCTD 98",
    "cube-double-play": "ORS 45, MCTD 22",
    "cube-triple-play": "ORS 37, TTGS 4",
    "puzzle-4x4-play": "ORS 70",
    "puzzle-4x5-play": "ORS 20, TTGS 13, TRL 97",
    "puzzle-4x6-play": "ORS 20, TTGS 10, TRL 51",
    "scene-play": "ORS 80, TTGS 52",
    "cube-triple-noisy": "ORS 22",
    "puzzle-4x4-noisy": "ORS 56",
    "puzzle-4x6-noisy": "ORS 19",
    "scene-noisy": "ORS 40",
}
COLOURS = dict(zip(WORLDS, (BLUE, VERMILLION, GREEN, ORANGE, BLACK, PURPLE, SKY, GREY), strict=True))
WORDS = Path(__file__).with_name("page.md")


def write_page(results: Results, folder: Path, episodes: int) -> Path:
    """Write `manipulation.md` and `images/manipulation.png`."""
    save(data_figure(results), folder / "images", "manipulation").svg.unlink()  # the page shows the PNG
    path = folder / "manipulation.md"
    words = WORDS.read_text(encoding="utf-8")
    numbers = {
        "table": table(results),
        "costs": costs(results),
        "shares": shares(results),
        "ablations": ablations(results),
        "episodes": episodes,
        "seeds": counted(max(len({task.seed for task in tasks}) for tasks in results.values()), "data seed"),
    }
    with replaced(path) as draft:
        draft.write_text(words.format(**numbers), encoding="utf-8")
    return path


def most_data(results: Results) -> dict[str, Case]:
    """By dataset, the case with most data and nothing left out."""
    found: dict[str, Case] = {}
    for case in results:
        if not case.ablation and (case.dataset not in found or case.episodes > found[case.dataset].episodes):
            found[case.dataset] = case
    return found


def table(results: Results) -> str:
    """Success next to the published numbers."""
    head = ["dataset", "episodes of data", "navigator", *METHODS, "newer"]
    rows = []
    for dataset, case in most_data(results).items():
        known = [str(n) for n in PUBLISHED[dataset]]
        rows.append([dataset, _data(case), _success(results[case]), *known, NEWER.get(dataset, "")])
    return _markdown(head, rows)


def costs(results: Results) -> str:
    """Success of each task, steps, and times."""
    head = ["dataset", *(f"task {k}" for k in range(1, TASKS + 1)), "data seeds", "steps", "rows", "fit", "action"]
    rows = []
    for dataset, case in most_data(results).items():
        tasks = results[case]
        numbers = sorted({task.task for task in tasks})
        each = [f"{_percent([t for t in tasks if t.task == k]):.0f}" for k in numbers]
        seeds = [_percent([t for t in tasks if t.seed == seed]) for seed in sorted({t.seed for t in tasks})]
        steps = [n for t in tasks for n, arrived in zip(t.steps, t.success, strict=True) if arrived]
        rows.append(
            [
                dataset,
                *each,
                *[""] * (TASKS - len(each)),
                ", ".join(f"{seed:.0f}" for seed in seeds),
                f"{np.median(steps):.0f}" if steps else "",
                f"{np.median([t.rows for t in tasks]):,.0f}",
                f"{np.median([t.fit_seconds for t in tasks]):.1f}",
                f"{1e3 * np.median([t.action_seconds for t in tasks]):.2f}",
            ]
        )
    return _markdown(head, rows)


def shares(results: Results) -> str:
    """Success with less data; only what was measured."""
    head = ["dataset", *(f"{100 * share:.0f} %" for share in SHARES)]
    rows = []
    for dataset in most_data(results):
        by_size = {case.episodes: case for case in results if case.dataset == dataset and not case.ablation}
        sizes = [round(share * _published(dataset)) for share in SHARES]
        rows.append([dataset, *(_success(results[by_size[n]]) if n in by_size else "" for n in sizes)])
    used = [k for k in range(len(head)) if k == 0 or any(row[k] for row in rows)]
    return _markdown([head[k] for k in used], [[row[k] for k in used] for row in rows if any(row[1:])])


def ablations(results: Results) -> str:
    """Success with one idea left out, next to nothing left out on the same data."""
    names = list(dict.fromkeys(case.ablation for case in results if case.ablation))
    rows = []
    for dataset, case in most_data(results).items():
        by_name = {other.ablation: results[other] for other in results if _same_data(other, case) and other != case}
        if by_name:
            seeds = {task.seed for tasks in by_name.values() for task in tasks}
            whole = [task for task in results[case] if task.seed in seeds]
            cells = [_success(by_name[name]) if name in by_name else "" for name in names]
            rows.append([dataset, _data(case), _success(whole), *cells])
    return _markdown(["dataset", "episodes of data", "as it is", *names], rows) if rows else ""


def _same_data(a: Case, b: Case) -> bool:
    return (a.dataset, a.episodes) == (b.dataset, b.episodes)


def _published(dataset: str) -> int:
    return WORLDS[parts_of(dataset)[0]].episodes


def _data(case: Case) -> str:
    return f"{case.episodes:,} ({100 * case.episodes / _published(case.dataset):.3g} %)"


def _percent(tasks: Sequence[Task]) -> float:
    return 100.0 * float(np.mean([success for task in tasks for success in task.success]))


def interval(tasks: Sequence[Task]) -> tuple[float, float]:
    """Wilson's 95 % interval over all episodes, in percent: where all succeed, a bootstrap says nothing."""
    found = [success for task in tasks for success in task.success]
    low, high = binomtest(sum(found), len(found)).proportion_ci(method="wilson")
    return 100.0 * float(low), 100.0 * float(high)


def _success(tasks: Sequence[Task]) -> str:
    low, high = interval(tasks)
    return f"**{_percent(tasks):.1f}** [{low:.0f}, {high:.0f}]"


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


@figure_of
def data_figure(results: Results) -> Figure:
    """Success over the amount of data; a dash at the right is the best of the six published methods, with all data."""
    kinds = sorted({parts_of(dataset)[1] for dataset in most_data(results)}, reverse=True)  # play, noisy
    figure = sheet(2.0 + 5.0 * len(kinds), 4.6)
    for axes, kind in zip(np.atleast_1d(figure.subplots(1, len(kinds), sharey=True)), kinds, strict=True):
        _draw(axes, results, [dataset for dataset in most_data(results) if parts_of(dataset)[1] == kind])
        axes.set_title(f"{kind} data")
    return figure


def _draw(axes: Axes, results: Results, datasets: Sequence[str]) -> None:
    for k, dataset in enumerate(datasets):
        world = parts_of(dataset)[0]
        colour = COLOURS[world]
        cases = sorted(
            (case for case in results if case.dataset == dataset and not case.ablation), key=lambda case: case.episodes
        )
        x = np.array([100.0 * case.episodes / _published(dataset) for case in cases])
        y = np.array([_percent(results[case]) for case in cases])
        ends = np.array([interval(results[case]) for case in cases])
        bars = np.clip([y - ends[:, 0], ends[:, 1] - y], 0.0, None)
        shifted = x * (1.0 + 0.03 * (k - len(datasets) / 2))  # bars next to each other
        axes.errorbar(shifted, y, bars, color=colour, marker="o", ms=5, lw=1.4, capsize=2, label=world)
        axes.plot([100.0 * (1.0 + 0.03 * (k - len(datasets) / 2))], [max(PUBLISHED[dataset])], "_", color=colour, ms=14)
    axes.set_xscale("log")
    axes.set_xlim(0.8, 160)
    axes.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1 %", "2 %", "5 %", "10 %", "20 %", "50 %", "100 %"])
    axes.set_ylim(-3, 103)
    axes.set_xlabel("episodes of data, of the published number")
    axes.set_ylabel("success, %")
    axes.legend(frameon=False, fontsize=8, loc="lower left", ncols=2)
