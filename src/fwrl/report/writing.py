"""Writing the report: figures, tables and findings are made once and laid out as HTML and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

from fwrl.experiment.catalogue import FOUR_ROOMS, FWRL, H_MAZE, MBRL, WINDY
from fwrl.experiment.store import Store
from fwrl.files import replaced
from fwrl.pool import process_pool
from fwrl.report.claims import CRITERIA, findings_by_kind
from fwrl.report.drawing import FIGURES, CaptionedFigure, draw_figures
from fwrl.report.finding import Finding
from fwrl.report.html import html_page
from fwrl.report.markdown import markdown_page
from fwrl.report.page import Page, Section
from fwrl.report.statements import statements
from fwrl.report.stored_results import StoredResults
from fwrl.report.tables import all_tables

TITLE = "Floyd-Warshall Reinforcement Learning (Dhiman, Banerjee, Siskind and Corso 2018), reproduced"
METHOD = (
    "Every experiment runs with many seeds; the paper doesn't say how many it used, the authors' logs (2018) have one. "
    "FWRL is Algorithm 1 of the paper to the letter, and FWRL (exact) the fixed point of its triangle inequality. A "
    "comparison counts if its 95 % bootstrap interval over seeds excludes a tie. A claim is confirmed if all its "
    f"comparisons come out as claimed, and partly confirmed if some do. {CRITERIA}"
)
SECTIONS = {  # by kind: the heading and what the paper says
    "reward": ("Reward", "The paper: FWRL earns at least twice the median reward of the next best baseline."),
    "inefficiency": (
        "Paths",
        "The paper: FWRL's paths are closest to the shortest. Distance-inefficiency is the distance travelled over the "
        "shortest distance, so 1 is best.",
    ),
    "efficiency": (
        "Learning speed",
        "The paper: FWRL is more sample-efficient than the baselines.",
    ),
    "h-maze": (
        "H-maze",
        "The paper: agents make two trips, each across the bar of the H. Then they are asked for the first trip's goal "
        "from the second trip's start, without exploring. QLCAT pushes into a wall and stays there, FWRL takes the "
        "shortest path. Below is one of our runs, with goals, starts, trips and values as in the paper's figure.",
    ),
    "theory": ("Theory", "Definitions, formulas and assumptions of the paper, each checked exactly."),
    "more": ("More pictures", ""),
}


def write_report(
    store: Store, folder: Path, watch: Callable[[str, float], None] = lambda *_: None, *, workers: int = 1
) -> Page:
    """Write figures, `report.html` and `report.md`, each file all or nothing.

    Args:
        store: The results of experiments; those that were not run are left out.
        folder: The folder to write into, made if it does not exist.
        watch: Called after each part with its name and the share of the report that is done, up to 1.
        workers: With more than one, theory is checked in another process meanwhile.

    Returns:
        The content of both pages.
    """
    if workers == 1:
        return _write_report(store, folder, watch, checked)
    with process_pool(2) as pool:  # one task, so one process starts; Ctrl-C ends it
        return _write_report(store, folder, watch, pool.executor.submit(checked).result)


def checked() -> list[Finding]:
    """The findings that need no experiment."""
    return list(statements())


def _write_report(
    store: Store, folder: Path, watch: Callable[[str, float], None], theory: Callable[[], list[Finding]]
) -> Page:
    stored = StoredResults(store)
    figures: dict[str, list[CaptionedFigure]] = {kind: [] for kind in SECTIONS}
    parts = sum(map(len, FIGURES.values())) + 2
    for done, (kind, figure) in enumerate(draw_figures(stored, folder / "figures"), start=1):
        figures[kind].append(figure)
        watch(figure.name, done / parts)
    tables = all_tables(stored)
    watch("tables", (parts - 1) / parts)
    found = findings_by_kind(stored, theory())
    sections = [
        Section(title, text, found.get(kind, []), figures[kind])
        for kind, (title, text) in SECTIONS.items()
        if found.get(kind) or figures[kind]
    ]
    page = Page(TITLE, headline(stored, sections), METHOD, sections, tables)
    for name, text in (("report.html", html_page(page)), ("report.md", markdown_page(page))):
        with replaced(folder / name) as draft:
            draft.write_text(text, encoding="utf-8")
    watch("report", 1.0)
    return page


def headline(stored: StoredResults, sections: list[Section]) -> str:
    """The answer in two sentences; counts of results if experiments are missing."""
    if not all(stored.has(experiment) for experiment in (FOUR_ROOMS, WINDY, H_MAZE)):
        counts = Counter(finding.result for section in sections for finding in section.findings)
        return f"Of {counts.total()} claims, {counts['confirmed']} are confirmed."
    reached, steps, _ = stored.test_runs(H_MAZE, FWRL.label)
    shortest = int((reached & (steps == stored.shortest_steps(H_MAZE, len(H_MAZE.stages) - 1))).sum())
    calm, windy = (stored.mean_ratio(experiment, MBRL.label).value for experiment in (FOUR_ROOMS, WINDY))
    return (
        f"With {stored.seeds(FOUR_ROOMS)} seeds, FWRL earns {stored.mean_ratio(FOUR_ROOMS, 'QL').value:.0f} times the "
        f"reward of Q-learning in four rooms, and takes the shortest path to a goal it never reached from there in "
        f"{shortest} of {len(reached)} runs. Compared with a plain model-based planner that is free to turn, it earns "
        f"{calm:.2f} times as much there and {windy:.2f} times in wind."
    )
