"""`fwrl matrix`, `fwrl reachable`, `fwrl within` and `fwrl quantiles`: costs of many pairs, and how costs vary."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.explain import MEMORY, refuse_without_log
from fwrl.cli.interpreting import interpret_if_small
from fwrl.cli.log_options import Memory, log_source, reading_log, with_reading_options
from fwrl.cli.plan import (
    Avoid,
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
    place_names,
    rests_on,
    states_listed,
)
from fwrl.display import plain
from fwrl.errors import FileError, OptionError, missing_file

if TYPE_CHECKING:
    from fwrl.planner import Planner
    from fwrl.planner.labels import Label
    from fwrl.planner.planner import PolicyOptions
    from fwrl.planner.policy import Backup as BackupName
    from fwrl.planner.questions import ReachedPlace

SHOWN = 40  # places printed without --limit

Cost = Annotated[float, typer.Argument(metavar="COST", help="Spend at most this much, on average.")]
Limit = Annotated[int, typer.Option(min=0, help="Show at most this many places; 0 shows all.")]


def matrix(
    file: File,
    starts: Annotated[
        list[str],
        typer.Option("--from", help="Start here, or at all states that match, such as 'dock-*'; repeatable."),
    ],
    goals: Annotated[list[str], typer.Option("--to", help="Go here, or to all states that match; repeatable.")],
    backup: Backup = "expected",
    dead_ends: DeadEnds = None,
    give_up: GiveUp = None,
    cautious: Cautious = None,
    min_trips: MinTrips = 1,
    as_json: Json = False,
) -> None:
    """Print the costs between many places as a table: a row per start, a column per goal.

    A cell is the average cost of the best plan, given that it arrives; brackets give the probability of arriving if
    it's below 1, and - means that no route is known. Use @FILE in --from or --to to read states from a file, one per
    line.
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
    shown = place_names(planner)
    _print_table([["", *map(shown, found.goals)], *([shown(start), *row] for start, row in named)])
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
    """List the places you can reach from FROM for at most COST, cheapest first.

    COST limits the average over trips that arrive; the table says how likely that is. If outcomes vary, this plans a
    route to every place that may be near enough, so it takes longer.
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
    """List the places from which you can reach TO for at most COST, cheapest first.

    COST limits the average over trips that arrive; the table says how likely that is.
    """
    interpret_if_small(file)
    planner = loaded_planner(file, min_trips)
    with states_listed(file):
        found = planner.within(goal, cost, _backup(backup), **_options(dead_ends, give_up, cautious))
    _print_places(planner, found, limit, as_json)


@with_reading_options("cell_width", "resolution", "half_life", "at", "around", "min_trips")
def quantiles(
    file: File,
    start: From,
    goal: To,
    probabilities: Annotated[
        list[float] | None,
        typer.Option(
            "--quantile",
            "-q",
            help="Find the cost that this share of trips stays below; repeatable. Default: 0.5, 0.9, 0.99.",
        ),
    ] = None,
    avoid: Avoid = None,
    dead_ends: DeadEnds = None,
    min_trips: MinTrips = 1,
    log: Annotated[
        list[str] | None,
        typer.Option(help="Read this log again for the costs of single steps; repeat for more, or give a pattern."),
    ] = None,
    *,
    reading: dict[str, Any],
    memory: Memory = MEMORY,
    as_json: Json = False,
) -> None:
    """Find the cost that nine in ten trips stay below, among those that arrive.

    A planner file only has the mean cost of each step. Give --log to let costs vary as they did in the log. Steps are
    treated as independent. Small plans are solved exactly, larger ones simulated with a 95 % interval. The options from
    --columns to --memory say how to read the log, as in fwrl fit; its hours are those the planner was fitted for,
    unless you give others.
    """
    interpret_if_small(file)
    planner = loaded_planner(file, min_trips)
    shares = tuple(probabilities or (0.5, 0.9, 0.99))
    ended = dead_ends or ()
    if log:
        with reading_log() as report, states_listed(file):
            found = planner.cost_quantiles(
                start,
                goal,
                shares,
                avoid=avoid or (),
                dead_ends=ended,
                log=log_source(log),
                log_options=reading,
                memory=memory,
                progress=report,
            )
    else:
        refuse_without_log([*reading, *(["memory"] if memory != MEMORY else [])])
        with states_listed(file):
            found = planner.cost_quantiles(start, goal, shares, avoid=avoid or (), dead_ends=ended)
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2))
        return
    named = place_names(planner)
    typer.echo(
        f"{named(found.start)} to {named(found.goal)}: expected cost {plain(found.mean)}{_chance(found.arrival)}"
    )
    lines = [["share of trips", "cost at most"]]
    for each in found.quantiles:
        margin = "" if found.simulated is None else f" ({plain(each.low)} to {plain(each.high)})"
        lines.append([f"{each.probability:.4%}".rstrip("0%").rstrip(".") + "%", f"{plain(each.cost)}{margin}"])
    _print_table(lines)
    how = "exact" if found.simulated is None else f"{found.simulated:,} simulated trips, 95 % intervals in brackets"
    steps = "each step at its observed costs" if found.observed else "each step at its mean cost (see --log)"
    typer.echo(f"{how}; {steps}")
    _print_basis(planner)


def _places(planner: Planner, given: list[str]) -> list[Label]:
    """Expand names, patterns and @files to states."""
    places: list[Label] = []
    for text in given:
        for name in _lines(Path(text[1:])) if text.startswith("@") else [text]:
            if planner.states.code(name) is None and ("*" in name or "?" in name):
                found = planner.states.decode(planner.states.search(name).tolist())
                if not found:
                    raise OptionError(f"no state matches {name!r}; fwrl states lists them")
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
        raise FileError(f"can't read {str(path)!r}: it isn't UTF-8; save it as UTF-8") from None
    found = [line.strip() for line in text.splitlines() if line.strip()]
    if not found:
        raise FileError(f"{str(path)!r} names no state; write one name on each line")
    return found


def _backup(name: str) -> BackupName:
    return name  # type: ignore[return-value]  # checked by the planner


def _options(dead_ends: list[str] | None, give_up: float | None, cautious: float | None) -> PolicyOptions:
    return {"dead_ends": dead_ends or (), "give_up": give_up, "cautious": cautious}


def _cell(cost: float, arrival: float) -> str:
    return "-" if not math.isfinite(cost) else f"{plain(cost)}{_chance(arrival)}"


def _chance(arrival: float) -> str:
    return f" ({arrival:.0%})" if arrival < 0.995 else ""


def _print_places(planner: Planner, found: list[ReachedPlace], limit: int, as_json: bool) -> None:
    shown = found[: limit or None]
    if as_json:
        typer.echo(json.dumps([place._asdict() for place in shown], indent=2))
        return
    named = place_names(planner)
    _print_table([["state", "cost"], *([named(place.state), _cell(place.cost, place.arrival)] for place in shown)])
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
