"""`fwrl explain`: where a route comes from."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.interpreting import interpret_if_small
from fwrl.cli.log_options import (
    Cells,
    Columns,
    Dates,
    Decimal,
    Encoding,
    Header,
    Hours,
    Memory,
    Missing,
    Shape,
    Since,
    SkipBad,
    Until,
    Weekdays,
    log_options,
    log_source,
    reading_log,
)
from fwrl.cli.output_paths import check_file
from fwrl.cli.plan import (
    At,
    Avoid,
    Backup,
    Cautious,
    DeadEnds,
    File,
    From,
    GiveUp,
    Json,
    MinTrips,
    PositionColumns,
    Positions,
    To,
    Via,
    evidence,
    headline,
    loaded_planner,
    rests_on,
    route_options,
    states_listed,
)
from fwrl.errors import OptionError
from fwrl.planner.counting import times

if TYPE_CHECKING:
    from fwrl.planner import Explanation, Planner

SHOWN = 20  # stitches that are named


def explain(
    file: File,
    start: From,
    goal: To,
    backup: Backup = "expected",
    avoid: Avoid = None,
    via: Via = None,
    dead_ends: DeadEnds = None,
    give_up: GiveUp = None,
    cautious: Cautious = None,
    min_trips: MinTrips = 1,
    at: At = None,
    positions: Positions = None,
    position_columns: PositionColumns = None,
    log: Annotated[
        list[str] | None,
        typer.Option(help="Read this log again for the fewest past trips; may be given several times, as a pattern."),
    ] = None,
    columns: Columns = None,
    shape: Shape = None,
    cells: Cells = None,
    since: Since = None,
    until: Until = None,
    hours: Hours = None,
    weekdays: Weekdays = None,
    header: Header = None,
    missing: Missing = None,
    encoding: Encoding = "utf-8",
    decimal: Decimal = ".",
    dates: Dates = None,
    skip_bad: SkipBad = False,
    memory: Memory = "1GB",
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Draw the route to this .png or .svg file, or write it as .geojson; needs --positions, unless states "
            "are cells."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Where the route comes from: the past trips of each step, how often, when last, and where trips were stitched.

    Only the latest few trips of a step are kept, so an older one may have covered more of the route, and the number of
    past trips is an upper bound. With --log, it is the fewest; the options from --columns to --memory say how that log
    is read, as in fwrl fit.
    """
    interpret_if_small(file)
    if picture is not None and picture.suffix.lower() not in (".png", ".svg", ".geojson"):
        raise OptionError(f"expected a picture that ends in .png, .svg or .geojson, got {str(picture)!r}")
    if picture is not None:
        check_file(picture)
    planner = loaded_planner(file, min_trips, at)
    if picture is not None and positions is None and planner.positions is None:
        raise OptionError("--picture needs --positions, a file with columns state, x, y")
    options = route_options(planner, backup, avoid, via, dead_ends, give_up, cautious, positions, position_columns)
    reading: dict[str, Any] = {
        "columns": columns,
        "cells": cells,
        "missing": missing,
        "shape": shape,
        "since": since,
        "until": until,
        "hours": hours,
        "weekdays": weekdays,
        "header": header,
        "encoding": encoding,
        "decimal": decimal,
        "dates": dates,
        "skip_bad": skip_bad,
    }
    if log:
        with reading_log() as report, states_listed(file):
            explanation = planner.explain(
                start,
                goal,
                log=log_source(log),
                log_options=log_options(**reading),
                memory=memory,
                progress=report,
                **options,
            )
    else:
        refuse_without_log(explain, {**reading, "memory": memory})
        with states_listed(file):
            explanation = planner.explain(start, goal, **options)
    if picture is not None:
        _draw(explanation, planner, options.get("positions", planner.positions), picture)
    if as_json:
        typer.echo(json.dumps(explanation.to_dict(), indent=2))
        return
    _print(explanation, give_up is not None)
    if rests_on(planner):
        typer.echo(rests_on(planner))
    if picture is not None:
        typer.echo(f"drawn to {picture}")


def refuse_without_log(command: Callable[..., None], given: dict[str, Any]) -> None:
    """OptionError where an option of a command says how a log is read, but none is."""
    usual = inspect.signature(command).parameters
    for name, value in given.items():
        if value != usual[name].default:
            raise OptionError(f"--{name.replace('_', '-')} needs --log")


def _draw(explanation: Explanation, planner: Planner, positions: Any, picture: Path) -> None:
    if picture.suffix.lower() == ".geojson":
        from fwrl.files import replaced
        from fwrl.planner.geojson import route_geojson

        text = json.dumps(route_geojson(explanation, planner.experience, positions), indent=1)
        with replaced(picture) as draft:
            draft.write_text(text + "\n", encoding="utf-8")
        return
    from fwrl.figures.route import route_map, save_picture

    save_picture(route_map(explanation, planner.experience, positions), picture)


def _print(explanation: Explanation, gives_up: bool) -> None:
    from fwrl.planner.experience import KEPT
    from fwrl.planner.explanation import shown_time

    typer.echo(headline(explanation.route, gives_up))
    stretch = -1
    for each in explanation.steps:
        if each.stretch != stretch and each.trips:
            stretch = each.stretch
            covering = ", ".join(map(str, explanation.stretches[stretch]))
            others = explanation.covering[stretch] - len(explanation.stretches[stretch])
            more = f" and {others:,} more" if others else ""
            word = "stitched: " if stretch else ""
            typer.echo(f"{word}from {each.step.state} on trip {covering}{more}")
        step = each.step
        action = "" if step.action == step.next_state else f" by {step.action}"
        last = "" if each.last is None else f", last {shown_time(each.last)}"
        trips = f", trips {', '.join(map(str, each.trips))}" if each.trips else ""
        once = "  <- seen only once" if step.seen == 1 else ""
        typer.echo(f"  {step.state} to {step.next_state}{action}: {times(step.seen)}{last}{trips}{once}")
    if not explanation.steps:
        typer.echo("  nothing to do: start and goal are the same")
    elif not any(each.trips for each in explanation.steps):
        typer.echo("the log names no trips, so stitches are unknown")
    else:
        n = len(explanation.stitches)
        where = ", ".join(map(str, explanation.stitches[:SHOWN])) + (f" and {n - SHOWN:,} more" if n > SHOWN else "")
        bound = f"at most: going by the latest {KEPT} trips of each step, see --log"
        how = "no fewer past trips cover the route" if explanation.fewest else bound
        typer.echo(f"stitched {times(n)}, at {where} ({how})" if n else "one past trip covers all of it")
    if explanation.route.steps:
        typer.echo(evidence(explanation.route))
