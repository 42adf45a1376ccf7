"""`fwrl matrix`, `fwrl reachable`, `fwrl within`, `fwrl quantiles`: costs of many pairs, and how they vary."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.explain import refuse_without_log
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
from fwrl.cli.plan import (
    Backup,
    Cautious,
    DeadEnds,
    File,
    From,
    GiveUp,
    Json,
    MinTrips,
    To,
    loaded_planner,
    rests_on,
    states_listed,
)
from fwrl.errors import FileError, OptionError, missing_file

if TYPE_CHECKING:
    from fwrl.planner import Planner
    from fwrl.planner.goal_policy import Backup as BackupName
    from fwrl.planner.labels import Label
    from fwrl.planner.planner import PolicyOptions
    from fwrl.planner.questions import ReachedPlace

SHOWN = 40  # places that are printed unless all are asked for

Cost = Annotated[float, typer.Argument(metavar="COST", help="The most that the plan may cost on average.")]
Limit = Annotated[int, typer.Option(min=0, help="Show at most this many places; 0 shows all.")]


def matrix(
    file: File,
    starts: Annotated[
        list[str], typer.Option("--from", help="A state to start from, or a pattern such as 'dock-*'; several times.")
    ],
    goals: Annotated[list[str], typer.Option("--to", help="A state to reach, or a pattern; several times.")],
    backup: Backup = "expected",
    dead_ends: DeadEnds = None,
    give_up: GiveUp = None,
    cautious: Cautious = None,
    min_trips: MinTrips = 1,
    as_json: Json = False,
) -> None:
    """The costs of many pairs as a table: a row for each start, a column for each goal.

    The cost of a pair is what its best plan costs on average if it arrives, with the probability of arriving in
    brackets where it isn't 1; - where no route is known. A value of --from or --to that begins with @ names a file
    with one state per line.
    """
    planner = loaded_planner(file, min_trips)
    with states_listed(file):
        rows, columns = _places(planner, starts), _places(planner, goals)
        found = planner.matrix(rows, columns, _backup(backup), **_options(dead_ends, give_up, cautious))
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
        return
    pairs = zip(found.cost.tolist(), found.arrival.tolist(), strict=True)
    cells = [[_cell(*pair) for pair in zip(*row, strict=True)] for row in pairs]
    named = zip(found.starts, cells, strict=True)
    _print_table([["", *map(str, found.goals)], *([str(start), *row] for start, row in named)])
    _print_basis(planner)


def reachable(
    file: File,
    start: From,
    cost: Cost,
    backup: Backup = "expected",
    dead_ends: DeadEnds = None,
    give_up: GiveUp = None,
    cautious: Cautious = None,
    min_trips: MinTrips = 1,
    limit: Limit = SHOWN,
    as_json: Json = False,
) -> None:
    """The places that can be reached from FROM for at most COST, cheapest first.

    A place counts if the best plan to it costs at most that on average when it arrives; the table says how likely it
    is to arrive. Where outcomes vary, every place that may be near enough is planned for.
    """
    planner = loaded_planner(file, min_trips)
    with states_listed(file):
        found = planner.reachable(start, cost, _backup(backup), **_options(dead_ends, give_up, cautious))
    _print_places(planner, found, limit, as_json)


def within(
    file: File,
    goal: To,
    cost: Cost,
    backup: Backup = "expected",
    dead_ends: DeadEnds = None,
    give_up: GiveUp = None,
    cautious: Cautious = None,
    min_trips: MinTrips = 1,
    limit: Limit = SHOWN,
    as_json: Json = False,
) -> None:
    """The places from which TO can be reached for at most COST, cheapest first.

    A place counts if the best plan from it costs at most that on average when it arrives; the table says how likely it
    is to arrive.
    """
    interpret_if_small(file)
    planner = loaded_planner(file, min_trips)
    with states_listed(file):
        found = planner.within(goal, cost, _backup(backup), **_options(dead_ends, give_up, cautious))
    _print_places(planner, found, limit, as_json)


def quantiles(
    file: File,
    start: From,
    goal: To,
    probabilities: Annotated[
        list[float] | None,
        typer.Option("--quantile", "-q", help="A share of trips, as 0.9; several times. Default: 0.5, 0.9 and 0.99."),
    ] = None,
    dead_ends: DeadEnds = None,
    min_trips: MinTrips = 1,
    log: Annotated[
        list[str] | None,
        typer.Option(help="Read this log again for the cost of every observed step; several times, or a pattern."),
    ] = None,
    columns: Columns = None,
    shape: Shape = None,
    cost: Annotated[str | None, typer.Option(help="elapsed: the cost of a move is the time to the next visit.")] = None,
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
    as_json: Json = False,
) -> None:
    """How much the plan costs in nine cases of ten, among trips that arrive.

    A saved planner keeps the mean cost of a step, so only outcomes vary. With --log, each step costs what it did in the
    log, each observation as likely as any other. Steps count as independent. Small plans are exact; others are
    simulated, with a 95 % interval. The options from --columns to --memory say how the log is read, as in fwrl fit;
    hours are those that the planner was fitted for, unless others are given.
    """
    interpret_if_small(file)
    planner = loaded_planner(file, min_trips)
    shares = tuple(probabilities or (0.5, 0.9, 0.99))
    ended = dead_ends or ()
    reading: dict[str, Any] = {
        "columns": columns,
        "cells": cells,
        "missing": missing,
        "shape": shape,
        "cost": cost,
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
            found = planner.cost_quantiles(
                start,
                goal,
                shares,
                dead_ends=ended,
                log=log_source(log),
                log_options=log_options(**reading),
                memory=memory,
                progress=report,
            )
    else:
        refuse_without_log(quantiles, {**reading, "memory": memory})
        with states_listed(file):
            found = planner.cost_quantiles(start, goal, shares, dead_ends=ended)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
        return
    typer.echo(f"{found.start} to {found.goal}: expected cost {found.mean:.4g}{_chance(found.arrival)}")
    lines = [["share of trips", "cost at most"]]
    for each in found.quantiles:
        margin = "" if found.simulated is None else f" ({each.low:.4g} to {each.high:.4g})"
        lines.append([f"{each.probability:.4%}".rstrip("0%").rstrip(".") + "%", f"{each.cost:.4g}{margin}"])
    _print_table(lines)
    how = "exact" if found.simulated is None else f"{found.simulated:,} simulated trips, 95 % intervals in brackets"
    steps = "each step at its observed costs" if found.observed else "each step at its mean cost (see --log)"
    typer.echo(f"{how}; {steps}")
    _print_basis(planner)


def _places(planner: Planner, given: list[str]) -> list[Label]:
    """The states that are named, match a pattern, or are lines of a file."""
    places: list[Label] = []
    for text in given:
        for name in _lines(Path(text[1:])) if text.startswith("@") else [text]:
            if planner.states.code(name) is None and ("*" in name or "?" in name):
                found = planner.states.decode(planner.states.search(name).tolist())
                if not found:
                    raise OptionError(f"no state matches {name!r}; look for others with fwrl states")
                places += found
            else:
                places.append(name)
    return places


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise missing_file(path) from None
    except UnicodeDecodeError:
        raise FileError(f"cannot read {str(path)!r}: it is not UTF-8 text; save it as UTF-8") from None
    return [line.strip() for line in text.splitlines() if line.strip()]


def _backup(name: str) -> BackupName:
    return name  # type: ignore[return-value]  # checked by the planner


def _options(dead_ends: list[str] | None, give_up: float | None, cautious: float | None) -> PolicyOptions:
    return {"dead_ends": dead_ends or (), "give_up": give_up, "cautious": cautious}


def _cell(cost: float, arrival: float) -> str:
    return "-" if not math.isfinite(cost) else f"{cost:.4g}{_chance(arrival)}"


def _chance(arrival: float) -> str:
    return f" ({arrival:.0%})" if arrival < 0.995 else ""


def _print_places(planner: Planner, found: list[ReachedPlace], limit: int, as_json: bool) -> None:
    shown = found[: limit or None]
    if as_json:
        typer.echo(json.dumps([place._asdict() for place in shown], indent=2))
        return
    _print_table([["state", "cost"], *([str(place.state), _cell(place.cost, place.arrival)] for place in shown)])
    left = f"; {len(found) - len(shown):,} more, see --limit" if len(found) > len(shown) else ""
    typer.echo(f"{len(found):,} place{'s' * (len(found) != 1)}{left}")
    _print_basis(planner)


def _print_table(lines: list[list[str]]) -> None:
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    for first, *others in lines:
        cells = [first.ljust(widths[0]), *(text.rjust(w) for text, w in zip(others, widths[1:], strict=True))]
        typer.echo("  ".join(cells).rstrip())


def _print_basis(planner: Planner) -> None:
    said = rests_on(planner)
    if said:
        typer.echo(said)
