"""`fwrl fit`: learn from logs of past trips."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.column_names import column_names
from fwrl.cli.output_paths import changing, check_saved_file
from fwrl.errors import FwrlError

if TYPE_CHECKING:
    from fwrl.planner import LogSummary, Planner

# The flag that helps where an option of `fwrl.fit` does.
REMEDIES = {
    "columns": "say which is which with --columns state=...,next_state=...",
    "skip_bad": "correct it, or leave such rows out with --skip-bad",
    "memory": "allow more with --memory",
    "again": "leave it out, or count it again with --again",
}


Wait = Annotated[bool, typer.Option("--wait", help="Wait while another process changes the file.")]


def fit(
    logs: Annotated[
        list[str], typer.Argument(help="CSV, Parquet or JSON-lines files, or patterns such as 'logs/*.csv.gz'.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to save the planner.")],
    columns: Annotated[
        str | None, typer.Option(help="Names of columns, as OURS=THEIRS,...: state=from,next_state=to.")
    ] = None,
    add: Annotated[bool, typer.Option("--add", help="Add to the planner that is saved there already.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out rows that lack a value, and count them.")
    ] = False,
    connections: Annotated[
        bool, typer.Option(help="Count the pairs of states that are now connected: reads a large log twice more.")
    ] = True,
    again: Annotated[
        bool, typer.Option("--again", help="Count a file again whose content was read before or is given twice.")
    ] = False,
    memory: Annotated[str, typer.Option(help="The most memory that reading may take.")] = "1GB",
    wait: Wait = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Learn from logs: rows of transitions (state, next_state) or of visits (trip, time, state).

    Optional columns are action (the next state if left out), reward (-1 if left out), trip and time. fwrl plan and
    fwrl explain read the saved planner.
    """
    check_saved_file(out)
    from fwrl.planner import Planner

    options = {"columns": column_names(columns), "skip_bad": skip_bad, "memory": memory, "connections": connections}
    with changing(out, wait):
        into = Planner.load(out) if add else None
        planner = _fit(logs, into, options | {"again": again})
        planner.save(out)
    if as_json:
        typer.echo(json.dumps(asdict(planner.summary) | {"file": str(out)}, indent=2))
        return
    print_summary(planner.summary, out, connections)


def _fit(logs: list[str], into: Planner | None, options: dict[str, Any]) -> Planner:
    """Fit with a progress bar; errors name the flag that helps."""
    from fwrl.planner import fit as fit_planner

    with reading_progress() as report, flags_named():
        return fit_planner(logs, into=into, progress=report, **options)


@contextlib.contextmanager
def reading_progress() -> Iterator[Callable[[str, float], None]]:
    """A progress bar, as a function of the name of a step and the part of it that is done."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    shown = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*shown, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task("reading", total=1.0)

        def report(step: str, part: float) -> None:
            bar.update(line, description=step, completed=part)

        yield report


@contextlib.contextmanager
def flags_named() -> Iterator[None]:
    """Let errors of reading logs name the flag that helps."""
    from fwrl.planner import LogError

    try:
        yield
    except LogError as error:
        raise FwrlError(f"{error.problem}; {REMEDIES[error.option]}") from error


def print_summary(summary: LogSummary, out: Path, connections: bool = True) -> None:
    """Print what a saved planner was learned from; `connections` says whether they were asked for."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column()
    table.add_row("trips", "not logged" if summary.trips is None else f"{summary.trips:,}")
    table.add_row("transitions", f"{summary.transitions:,}")
    table.add_row("states", f"{summary.states:,}")
    table.add_row("edges", f"{summary.edges:,}")
    if summary.uncertain:
        table.add_row("actions that vary", f"{summary.uncertain:,}", "seen to lead to more than one state")
    if summary.skipped:
        table.add_row("rows left out", f"{summary.skipped:,}")
    if summary.continued:
        table.add_row("trips joined", f"{summary.continued:,}", "where they go on in a log that was added later")
    if summary.stitched is not None:
        about = "" if summary.sampled is None else "about "
        note = "" if summary.sampled is None else f"(estimated from the pairs that begin in {summary.sampled} states)"
        table.add_row("pairs connected", f"{about}{summary.connected:,}", note)
        most = "(at most: what joined trips connect across logs is counted too)" if summary.continued else ""
        table.add_row("no single trip did", f"{about}{summary.stitched:,}", most or (note and "(likewise)"))
    else:
        why = "the file was begun without" if connections else "nor can they be when logs are added to this file"
        table.add_row("pairs connected", "not counted", why)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"saved to {out}", markup=False, soft_wrap=True)
