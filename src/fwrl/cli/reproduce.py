"""`fwrl reproduce`: all experiments of the paper in one command."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwrl.arguments import MOST_SEEDS
from fwrl.cli.output_paths import changing, make_folder
from fwrl.cli.progress import run_with_progress
from fwrl.cli.workers import Cluster, Workers, chosen_pool
from fwrl.display import visible

if TYPE_CHECKING:
    from rich.console import Console

    from fwrl.experiment import Store
    from fwrl.report.finding import Result
    from fwrl.report.page import Page

STORE = "results.sqlite"
MARKS: dict[Result, tuple[str, str]] = {
    "confirmed": ("✓", "green"),
    "partly confirmed": ("◐", "yellow"),
    "not confirmed": ("✗", "red"),
    "undecided": ("?", "yellow"),
}


def reproduce(
    seeds: Annotated[
        int,
        typer.Option(min=1, max=MOST_SEEDS, help="Run every agent with this many seeds; the authors' logs have one."),
    ] = 100,
    only: Annotated[
        list[str] | None, typer.Option(help="Run only this experiment, such as h-maze; repeat for more.")
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    out: Annotated[Path, typer.Option(help="Write results, figures and the report to this folder.")] = Path("results"),
) -> None:
    """Run every experiment of the paper and write a report with a result for every claim.

    After an interruption, the same command continues with the missing runs.
    """
    from rich.console import Console

    from fwrl.experiment import Store, chosen

    experiments = chosen(only)
    console = Console(highlight=False)
    with contextlib.ExitStack() as work:
        runs = seeds * sum(len(experiment.agents) for experiment in experiments)
        pool = work.enter_context(chosen_pool(workers, cluster, runs))
        path = make_folder(out) / STORE  # not before a cluster is found
        with changing(path):
            with Store(path) as store:
                run_with_progress(store, experiments, seeds, pool)
            work.close()
            with Store(path) as store:
                page = _report(store, out, workers or os.cpu_count() or 1)
    print_claims(console, page)
    console.print(
        f"Report: {visible(out / 'report.html')} and {visible(out / 'report.md')}", soft_wrap=True, markup=False
    )


def _report(store: Store, out: Path, workers: int) -> Page:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from fwrl.report import write_report

    console = Console(stderr=True)
    columns = (TextColumn("reporting"), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task("", total=1.0)
        return write_report(
            store,
            out,
            lambda what, part: bar.update(line, completed=part, description=what),
            workers=workers,
        )


def print_claims(console: Console, page: Page) -> None:
    """Print the headline, and every claim with its mark and one number."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True, min_width=1)
    table.add_column(ratio=1)
    table.add_column(justify="right", no_wrap=True, min_width=18)
    for finding in page.findings:
        mark, colour = MARKS[finding.result]
        table.add_row(f"[bold {colour}]{mark}[/]", escape(finding.claim), escape(finding.number))
    console.print(table)
    counts = Counter(finding.result for finding in page.findings)
    words = [f"[bold {colour}]{mark}[/] {counts[result]} {result}" for result, (mark, colour) in MARKS.items()]
    console.print("   ".join(words))
    console.print(page.headline, markup=False)
