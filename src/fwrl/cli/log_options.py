"""Options for reading logs, shared by several commands, and errors that name the right flag."""

from __future__ import annotations

import contextlib
import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import Field
from typing import Annotated, Any

import typer

from fwrl.cli.column_names import column_names
from fwrl.errors import FwrlError, FwrlWarning, OptionError
from fwrl.planner.ingest.read_options import reading_options

STDIN = "-"
# As in `read_options`, but naming flags.
REMEDIES = {
    "columns": "name the columns with --columns state=...,next_state=... or trip=...,time=...,state=..., or give "
    "their numbers if there's no header",
    "skip_bad": "fix it, or skip such rows with --skip-bad",
    "memory": "allow more with --memory",
    "allow_duplicates": "leave it out, or count it again with --allow-duplicates",
    "shape": "choose with --shape",
    "visits": "give four, or use --shape visits",
    "header": "use --header, or --no-header and --columns with column numbers if there's no header",
    "encoding": "set --encoding, for example cp1252 or latin-1",
    "decimal": "use --decimal , for decimal commas",
    "dates": "set --dates to day-first, month-first or a format such as '%d.%m.%y %H:%M'",
    "cost": "drop one of them with an empty name: --columns reward=",
    "cells": "turn them into states with --cells lat,lon or --cells x,y, and name the columns of trips and times if "
    "need be: --columns trip=vehicle,time=timestamp",
}

Memory = Annotated[str, typer.Option(help="Use at most this much memory to read logs: 4GB, or a number of bytes.")]
# Options that aren't text on the command line. Text with commas becomes a list.
TYPES: dict[str, Any] = {
    "cell_width": float | None,
    "resolution": int | None,
    "header": bool | None,
    "encoding": str,
    "decimal": str,
    "around": str,
    "min_trips": int,
    "skip_bad": bool,
}
FLAGS = {"header": "--header/--no-header", "skip_bad": "--skip-bad"}
READING = "reading"  # the parameter that `with_reading_options` replaces


def with_reading_options(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace a command's parameter `reading` by the options of `ReadOptions`, `without` some.

    The command receives the options the user gave as one dictionary, ready for `fwrl.fit`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        taken = {name: _parameter(each) for name, each in reading_options().items() if name not in without}
        parameters: list[inspect.Parameter] = []
        for each in signature.parameters.values():
            parameters += taken.values() if each.name == READING else [each]

        @functools.wraps(command)
        def wrapped(**given: Any) -> None:
            said = {name: given.pop(name) for name in taken}
            usual = {name: each.default for name, each in taken.items()}
            command(**given, **{READING: _converted({n: v for n, v in said.items() if v != usual[n]})})

        wrapped.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
        return wrapped

    return decorate


def _parameter(declared: Field[Any]) -> inspect.Parameter:
    """Turn an option of `ReadOptions` into a parameter for typer."""
    name = declared.name
    flags = [FLAGS[name]] if name in FLAGS else []
    info = typer.Option(*flags, help=declared.metadata["help"], show_default=False)
    default = declared.default if isinstance(declared.default, str | int) else None
    annotation: Any = Annotated[TYPES.get(name, str | None), info]
    return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=annotation)


def _converted(given: dict[str, Any]) -> dict[str, Any]:
    """Convert text from the command line to the types that `fwrl.fit` expects."""
    if given.get("cost") not in (None, "elapsed"):
        raise OptionError(
            f"--cost can only be elapsed, not {given['cost']!r}; if costs are in a column, use --columns cost=..."
        )
    if given.get("shape") not in (None, "transitions", "visits"):
        raise OptionError(f"expected --shape transitions or --shape visits, got {given['shape']!r}")
    convert: dict[str, Callable[[str], Any]] = {
        "columns": column_names,
        "cells": _listed,
        "missing": lambda text: ("", *_listed(text)),
    }
    return {name: convert[name](value) if name in convert else value for name, value in given.items()}


def log_source(logs: list[str]) -> Any:
    """The files, or standard input for `-`."""
    if STDIN not in logs:
        return logs
    if len(logs) > 1:
        raise OptionError("can't read standard input and files together; leave one out")
    return sys.stdin.buffer


@contextlib.contextmanager
def reading_log() -> Iterator[Callable[[str, float], None]]:
    """Show a progress bar; call the result with the name of a phase and the fraction done.

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
    """Name the flag that helps in errors from reading logs."""
    from fwrl.planner import LogError

    try:
        yield
    except LogError as error:
        raise FwrlError(f"{error.problem}; {REMEDIES[error.option]}") from error


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
