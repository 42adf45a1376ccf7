"""`fwrl fit`: learn from logs of past trips."""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.output_paths import check_saved_file
from fwrl.errors import FwrlError, OptionError

if TYPE_CHECKING:
    from fwrl.planner import LogSummary, Planner

# The flag that helps where an option of `fwrl.fit` does.
REMEDIES = {
    "columns": "say which is which with --columns state=...,next_state=..., by number without a header",
    "skip_bad": "correct it, or leave such rows out with --skip-bad",
    "memory": "allow more with --memory",
    "shape": "say which with --shape",
    "header": "say --header, or --no-header with --columns by number where there is none",
    "decimal": "read decimal commas with --decimal ,",
    "dates": "say how dates are written with --dates day-first, month-first or a format such as '%d.%m.%y %H:%M'",
}
STDIN = "-"


def fit(
    logs: Annotated[
        list[str],
        typer.Argument(
            help="CSV, Parquet, JSON or Arrow files, also packed; folders; patterns such as 'logs/*.csv.gz'; addresses "
            "such as s3://...; - for standard input."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to save the planner.")],
    columns: Annotated[
        str | None,
        typer.Option(
            help="Names of columns, as OURS=THEIRS,...: state=from,next_state=to; or their numbers; or made of "
            "several: state=station+line,reward=-distance."
        ),
    ] = None,
    shape: Annotated[
        str | None, typer.Option(help="What rows are where columns do not tell: transitions or visits.")
    ] = None,
    cost: Annotated[str | None, typer.Option(help="elapsed: the cost of a move is the time to the next visit.")] = None,
    cells: Annotated[
        str | None,
        typer.Option(
            help="Two columns of coordinates, x,y or lat,lon: states are squares, or hexagons on the globe. Four in "
            "transitions."
        ),
    ] = None,
    cell_width: Annotated[
        float | None, typer.Option(help="Side of square cells; chosen from the data if left out.")
    ] = None,
    resolution: Annotated[
        int | None, typer.Option(help="H3 resolution of hexagons, 0 to 15; chosen from the data if left out.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="The first moment to keep, as '2024-03-31 17:30'.")] = None,
    until: Annotated[str | None, typer.Option(help="The first moment not to keep.")] = None,
    hours: Annotated[
        str | None, typer.Option(help="Hours of the day to keep: 7-9 is from 7:00 to before 9:00.")
    ] = None,
    weekdays: Annotated[str | None, typer.Option(help="Days of the week to keep: mon-fri, or sat,sun.")] = None,
    half_life: Annotated[
        str | None, typer.Option(help="Age at which an observation counts half, as 30d (s, min, h, d, w).")
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether CSV files begin with column names; without, give --columns by number.",
            show_default=False,
        ),
    ] = None,
    missing: Annotated[
        str | None,
        typer.Option(
            help="Texts of CSV files that mean no value, beside the empty one; NA,N/A,<NA>,NULL,null if left out."
        ),
    ] = None,
    decimal: Annotated[str, typer.Option(help="What stands before decimals in text: . or ,")] = ".",
    dates: Annotated[
        str | None, typer.Option(help="How dates are written: day-first, month-first, or a format as '%d.%m.%y %H:%M'.")
    ] = None,
    add: Annotated[bool, typer.Option("--add", help="Add to the planner that is saved there already.")] = False,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out rows that lack a value, and count them.")
    ] = False,
    connections: Annotated[
        bool, typer.Option(help="Count the pairs of states that are now connected: reads a large log twice more.")
    ] = True,
    memory: Annotated[str, typer.Option(help="The most memory that reading may take.")] = "1GB",
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Learn from logs: rows of transitions (state, next_state) or of visits (trip, time, state).

    Optional columns are action (the next state if left out), reward (-1 if left out) or cost, trip, time and count.
    fwrl plan and fwrl explain read the saved planner.
    """
    check_saved_file(out)
    from fwrl.planner import Planner

    into = Planner.load(out) if add else None
    options: dict[str, Any] = {
        "columns": _columns(columns),
        "shape": shape,
        "cost": cost,
        "cells": None if cells is None else _listed(cells),
        "cell_width": cell_width,
        "resolution": resolution,
        "since": since,
        "until": until,
        "hours": hours,
        "weekdays": weekdays,
        "half_life": half_life,
        "header": header,
        "decimal": decimal,
        "dates": dates,
        "skip_bad": skip_bad,
        "memory": memory,
        "connections": connections,
    }
    if missing is not None:
        options["missing"] = ("", *_listed(missing))
    planner = _fit(logs, into, options)
    planner.save(out)
    if as_json:
        typer.echo(json.dumps(asdict(planner.summary) | {"file": str(out)}, indent=2))
        return
    _print(planner.summary, out, connections)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _source(logs: list[str]) -> Any:
    """The log: files, or what comes from standard input."""
    if STDIN not in logs:
        return logs
    if len(logs) > 1:
        raise OptionError("standard input cannot be read together with files; leave one out")
    return sys.stdin.buffer


def _columns(text: str | None) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for pair in (text or "").split(","):
        ours, equals, theirs = pair.partition("=")
        if equals and ours.strip():
            chosen[ours.strip()] = theirs.strip()
        elif text:
            raise OptionError(f"expected columns as OURS=THEIRS,..., got {pair!r}")
    return chosen


def _fit(logs: list[str], into: Planner | None, options: dict[str, Any]) -> Planner:
    """Fit with a progress bar; errors name the flag that helps."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    from fwrl.errors import FwrlWarning
    from fwrl.planner import LogError
    from fwrl.planner import fit as fit_planner

    shown = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*shown, console=console, transient=True, disable=not console.is_terminal) as bar:
        line = bar.add_task("reading", total=1.0)

        def report(step: str, part: float) -> None:
            bar.update(line, description=step, completed=part)

        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always", FwrlWarning)
                planner = fit_planner(_source(logs), into=into, progress=report, **options)
        except LogError as error:
            raise FwrlError(f"{error.problem}; {REMEDIES[error.option]}") from error
    for warning in warned:
        typer.echo(f"fwrl: {warning.message}", err=True)
    return planner


def _print(summary: LogSummary, out: Path, connections: bool) -> None:
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
    if summary.stitched is not None:
        about = "" if summary.sampled is None else "about "
        note = "" if summary.sampled is None else f"(estimated from the pairs that begin in {summary.sampled} states)"
        table.add_row("pairs connected", f"{about}{summary.connected:,}", note)
        table.add_row("no single trip did", f"{about}{summary.stitched:,}", note and "(likewise)")
    else:
        why = "the file was begun without" if connections else "nor can they be when logs are added to this file"
        table.add_row("pairs connected", "not counted", why)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"saved to {out}", markup=False, soft_wrap=True)
