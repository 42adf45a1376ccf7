"""How a log is read: the options of commands that read logs, and the flag that helps where an error names an option."""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from fwrl.cli.column_names import column_names
from fwrl.errors import FwrlError, FwrlWarning, OptionError

STDIN = "-"
# The flag that helps where an option of `fwrl.fit` does.
REMEDIES = {
    "columns": "say which is which with --columns state=...,next_state=..., by number without a header",
    "skip_bad": "correct it, or leave such rows out with --skip-bad",
    "memory": "allow more with --memory",
    "again": "leave it out, or count it again with --again",
    "shape": "say which with --shape",
    "visits": "give four, or say --shape visits",
    "header": "say --header, or --no-header with --columns by number where there is none",
    "encoding": "say how it is encoded with --encoding, as cp1252 or latin-1",
    "decimal": "read decimal commas with --decimal ,",
    "dates": "say how dates are written with --dates day-first, month-first or a format such as '%d.%m.%y %H:%M'",
    "cost": "leave one out by an empty name, as --columns reward=",
}

Columns = Annotated[
    str | None,
    typer.Option(
        help="Names of columns, as OURS=THEIRS,...: state=from,next_state=to; or their numbers; or made of "
        "several: state=station+line,reward=-distance."
    ),
]
Shape = Annotated[str | None, typer.Option(help="What rows are where columns do not tell: transitions or visits.")]
Cells = Annotated[
    str | None,
    typer.Option(
        help="Two columns of coordinates, x,y or lat,lon: states are squares, or hexagons on the globe. Four in "
        "transitions."
    ),
]
Since = Annotated[str | None, typer.Option(help="The first moment to keep, as '2024-03-31 17:30'.")]
Until = Annotated[str | None, typer.Option(help="The first moment not to keep.")]
Hours = Annotated[
    str | None, typer.Option(help="Hours of the day to keep: 7-9 is from 7:00 to before 9:00; 8:30-9:15.")
]
Weekdays = Annotated[str | None, typer.Option(help="Days of the week to keep: mon-fri, or sat,sun.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether CSV files begin with column names; without, give --columns by number.",
        show_default=False,
    ),
]
Missing = Annotated[
    str | None,
    typer.Option(
        help="Texts of CSV files that mean no value, beside the empty one; NA,N/A,<NA>,NULL,null if left out."
    ),
]
Encoding = Annotated[str, typer.Option(help="Of text files, as cp1252, unless a byte order mark tells it.")]
Decimal = Annotated[str, typer.Option(help="What stands before decimals in text: . or ,")]
Dates = Annotated[
    str | None, typer.Option(help="How dates are written: day-first, month-first, or a format as '%d.%m.%y %H:%M'.")
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Leave out rows that lack a value, and count them.")]
Memory = Annotated[str, typer.Option(help="The most memory that reading a log may take.")]


def log_options(
    columns: str | None, cells: str | None, missing: str | None, **others: str | float | bool | None
) -> dict[str, Any]:
    """The options of `fwrl.fit` that say how a log is read; `others` are the same there and here."""
    if others.get("cost") not in (None, "elapsed"):
        raise OptionError(
            f"expected --cost elapsed, got {others['cost']!r}; a column of costs is named with --columns cost=..."
        )
    if others.get("shape") not in (None, "transitions", "visits"):
        raise OptionError(f"expected --shape transitions or --shape visits, got {others['shape']!r}")
    options = {"columns": column_names(columns), "cells": None if cells is None else _listed(cells), **others}
    return options if missing is None else options | {"missing": ("", *_listed(missing))}


def log_source(logs: list[str]) -> Any:
    """The log: files, or what comes from standard input."""
    if STDIN not in logs:
        return logs
    if len(logs) > 1:
        raise OptionError("standard input cannot be read together with files; leave one out")
    return sys.stdin.buffer


@contextlib.contextmanager
def reading_log() -> Iterator[Callable[[str, float], None]]:
    """A progress bar, as a function of the name of a step and the part of it that is done.

    Errors name the flag that helps; warnings are printed at the end.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    shown = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with warnings.catch_warnings(record=True) as warned, flags_named():
        warnings.simplefilter("always", FwrlWarning)
        with Progress(*shown, console=console, transient=True, disable=not console.is_terminal) as bar:
            line = bar.add_task("reading", total=1.0)
            yield lambda step, part: bar.update(line, description=step, completed=part)
    for warning in warned:
        typer.echo(f"fwrl: {warning.message}", err=True)


@contextlib.contextmanager
def flags_named() -> Iterator[None]:
    """Let errors of reading logs name the flag that helps."""
    from fwrl.planner import LogError

    try:
        yield
    except LogError as error:
        raise FwrlError(f"{error.problem}; {REMEDIES[error.option]}") from error


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
