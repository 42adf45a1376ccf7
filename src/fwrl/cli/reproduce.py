"""`fwrl reproduce`: all experiments of the paper in one command."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwrl.cli.output_paths import changing, make_folder
from fwrl.cli.progress import run_with_progress
from fwrl.cli.workers import Cluster, Workers, chosen_pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from fwrl.experiment import Store
    from fwrl.report import Finding

STORE = "results.sqlite"
COLOURS = {"holds": "green", "holds in part": "yellow", "does not hold": "red", "undecided": "yellow"}


def reproduce(
    seeds: Annotated[int, typer.Option(min=1, help="Seeds for every agent; the paper used one.")] = 100,
    only: Annotated[
        list[str] | None, typer.Option(help="An experiment's id, such as h-maze; may be given several times.")
    ] = None,
    workers: Workers = None,
    cluster: Cluster = None,
    out: Annotated[Path, typer.Option(help="The folder for results, figures and report.")] = Path("results"),
) -> None:
    """Run every experiment of the paper and write figures, a report and a verdict on every claim.

    After an interruption, the same command continues with the runs that are missing.
    """
    from rich.console import Console

    from fwrl.experiment import Store, chosen

    experiments = chosen(only)
    console = Console(highlight=False)
    with contextlib.ExitStack() as work:
        pool = work.enter_context(chosen_pool(workers, cluster))
        path = make_folder(out) / STORE  # not before a cluster is found
        with changing(path):
            with Store(path) as store:
                run_with_progress(store, experiments, seeds, pool)
            work.close()
            with Store(path) as store:
                found = _report(store, out)
    print_findings(console, found)
    console.print(f"Report: {out / 'report.html'} and {out / 'report.md'}", soft_wrap=True, markup=False)


def _report(store: Store, out: Path) -> list[Finding]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from fwrl.report import write_report

    with Progress(
        TextColumn("reporting"),
        BarColumn(),
        TextColumn("{task.description}"),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        line = bar.add_task("", total=1.0)
        report = write_report(store, out, lambda what, part: bar.update(line, completed=part, description=what))
    return report.findings


def print_findings(console: Console, found: Sequence[Finding]) -> None:
    """Print the verdicts as a table."""
    from rich.table import Table

    table = Table(title="The paper's claims", title_justify="left", pad_edge=False, show_lines=True)
    table.add_column("claim", ratio=3)
    table.add_column("verdict", no_wrap=True)
    table.add_column("numbers [95 % interval]", ratio=5)
    for finding in found:
        colour = COLOURS[finding.verdict]
        table.add_row(finding.claim, f"[bold {colour}]{finding.verdict}[/]", _escaped(finding.numbers))
    console.print(table)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
