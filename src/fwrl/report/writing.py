"""Writing the report: figures, tables and findings are made once and laid out as HTML and as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from fwrl.experiment.store import Store
from fwrl.files import replaced
from fwrl.report.claims import CRITERIA, findings
from fwrl.report.drawing import FIGURES, CaptionedFigure, draw_figures
from fwrl.report.finding import Finding
from fwrl.report.html import html_page
from fwrl.report.markdown import markdown_page
from fwrl.report.stored_results import StoredResults
from fwrl.report.tables import Table, all_tables

TITLE = "Floyd-Warshall Reinforcement Learning, reproduced"
INTRODUCTION = (
    "Every experiment of Dhiman, Banerjee, Siskind and Corso (2018), with many seeds where the paper had one. "
    "FWRL is Algorithm 1 of the paper to the letter; beside it stands the exact fixed point of its triangle "
    "inequality. A comparison counts where its 95 % bootstrap interval over seeds excludes a tie. A claim holds if all "
    f"its comparisons come out as claimed, and holds in part if some do. {CRITERIA}"
)


class Report(NamedTuple):
    """The contents of both pages."""

    findings: list[Finding]
    tables: list[Table]
    figures: list[CaptionedFigure]


def write_report(store: Store, folder: Path, watch: Callable[[str, float], None] = lambda *_: None) -> Report:
    """Write figures, `report.html` and `report.md`, each file all or nothing.

    Args:
        store: The results of experiments; those that were not run are left out.
        folder: The folder to write into, made if it does not exist.
        watch: Called after each part with its name and the share of the report that is done, up to 1.

    Returns:
        What both pages show.
    """
    stored = StoredResults(store)
    figures = []
    for figure in draw_figures(stored, folder / "figures"):
        figures.append(figure)
        watch(figure.name, len(figures) / (len(FIGURES) + 2))
    tables = all_tables(stored)
    watch("tables", (len(FIGURES) + 1) / (len(FIGURES) + 2))
    report = Report(findings(stored), tables, figures)
    _write(folder / "report.html", html_page(TITLE, INTRODUCTION, *report))
    _write(folder / "report.md", markdown_page(TITLE, INTRODUCTION, *report))
    watch("report", 1.0)
    return report


def _write(path: Path, text: str) -> None:
    with replaced(path) as draft:
        draft.write_text(text, encoding="utf-8")
