"""`fwrl plan`: the best route that past trips support."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.column_names import column_names
from fwrl.cli.interpreting import interpret_if_small
from fwrl.errors import OptionError, UnknownNameError
from fwrl.planner.counting import between, counted, times

if TYPE_CHECKING:
    from fwrl.planner import Planner, Route

SHOWN = 60  # steps of a route that are printed unless all are asked for

File = Annotated[Path, typer.Argument(help="A planner saved by fwrl fit.")]
From = Annotated[
    str, typer.Argument(metavar="FROM", help="The state to start from; where states are cells, also x,y or lat,lon.")
]
To = Annotated[str, typer.Argument(metavar="TO", help="The state to reach; likewise.")]
Backup = Annotated[
    str, typer.Option(help="expected: mean rewards and observed frequencies; best: the best reward of every step.")
]
Avoid = Annotated[
    list[str] | None, typer.Option(help="A state that the route must not pass; may be given several times.")
]
Via = Annotated[list[str] | None, typer.Option(help="A state to pass on the way; several in order.")]
DeadEnds = Annotated[
    list[str] | None,
    typer.Option(
        "--dead-ends", help="A state that nothing leaves, whatever the log shows; may be given several times."
    ),
]
GiveUp = Annotated[
    float | None,
    typer.Option(
        "--give-up",
        metavar="COST",
        help="Allow giving up anywhere for this cost: the plan trades the chance of arriving against reward.",
    ),
]
Cautious = Annotated[
    float | None,
    typer.Option(
        metavar="CONFIDENCE",
        help="Plan on lower bounds that hold with this confidence, as 0.95: rarely seen steps count for less.",
    ),
]
Positions = Annotated[Path | None, typer.Option(help="A file with columns state, x, y (or lon, lat).")]
PositionColumns = Annotated[
    str | None,
    typer.Option("--position-columns", help="Names of columns in --positions, as OURS=THEIRS,...: state=id,x=east."),
]
MinTrips = Annotated[
    int,
    typer.Option(
        "--min-trips",
        min=1,
        help="Use only steps that at least this many distinct trips made, up to 3; for more, see fwrl fit.",
    ),
]
At = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="A time of day, as 08:30; the planner must be fitted with fwrl fit --at."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def plan(
    file: File,
    start: From,
    goal: To,
    backup: Backup = "expected",
    avoid: Avoid = None,
    via: Via = None,
    dead_ends: DeadEnds = None,
    give_up: GiveUp = None,
    cautious: Cautious = None,
    alternatives: Annotated[
        int,
        typer.Option(min=1, help="Show up to this many routes, none through a state twice; with --backup best only."),
    ] = 1,
    min_trips: MinTrips = 1,
    at: At = None,
    positions: Positions = None,
    position_columns: PositionColumns = None,
    all_steps: Annotated[bool, typer.Option("--all", help="Print every step of a long route.")] = False,
    as_json: Json = False,
) -> None:
    """The best route from one state to another, step by step.

    Where outcomes vary, each step shows its most frequent outcome that leads closer, with its probability.
    """
    if alternatives == 1:
        interpret_if_small(file)
    planner = loaded_planner(file, min_trips, at)
    options = route_options(planner, backup, avoid, via, dead_ends, give_up, cautious, positions, position_columns)
    if alternatives > 1:
        for name in ("via", "dead_ends", "give_up", "cautious"):
            if options.pop(name) not in (None, ()):
                flag = name.replace("_", "-")
                raise OptionError(f"--{flag} and --alternatives cannot be combined; leave one out")
        with states_listed(file):
            routes = planner.alternatives(start, goal, alternatives, **options)
    else:
        with states_listed(file):
            routes = [planner.plan(start, goal, **options)]
    if as_json:
        shown: Any = [route.to_dict() for route in routes] if alternatives > 1 else routes[0].to_dict()
        typer.echo(json.dumps(shown, indent=2))
        return
    for number, route in enumerate(routes, start=1):
        if alternatives > 1:
            typer.echo(f"{number}.")
        _print(route, None if all_steps else SHOWN, give_up is not None)
    if rests_on(planner):
        typer.echo(rests_on(planner))


def loaded_planner(file: Path, min_trips: int = 1, at: str | None = None) -> Planner:
    """A saved planner, limited to steps of enough trips; if a time of day is asked for, it must be one for it."""
    from fwrl.planner import Planner

    planner = Planner.load(file)
    if at is not None:
        from fwrl.planner.ingest.period import includes

        hours = planner.experience.hours
        if hours is None or not includes(hours, at):
            kept = "keeps no times of day" if hours is None else f"has only what was logged at {hours}"
            raise OptionError(
                f"{str(file)!r} {kept}; make a planner for {at} with: fwrl fit LOG --at {at} -o at.fwrl, and plan with "
                "that"
            )
    return planner if min_trips == 1 else planner.with_min_trips(min_trips)


def rests_on(planner: Planner) -> str:
    """Which hours of the log a planner rests on, and on how many trips; empty where it is all of it."""
    hours, summary = planner.experience.hours, planner.summary
    if hours is None:
        return ""
    number = summary.transitions if summary.trips is None else summary.trips
    return f"rests on {counted(number, 'transition' if summary.trips is None else 'trip')} logged at {hours}"


@contextlib.contextmanager
def states_listed(file: Path) -> Iterator[None]:
    """Let the error for an unknown state name the command that lists all."""
    from fwrl.planner.labels import ALL_NAMES

    try:
        yield
    except UnknownNameError as error:
        raise UnknownNameError(str(error).replace(ALL_NAMES, f"see all with: fwrl states {file}")) from error


def route_options(
    planner: Planner,
    backup: str,
    avoid: list[str] | None,
    via: list[str] | None,
    dead_ends: list[str] | None,
    give_up: float | None,
    cautious: float | None,
    positions: Path | None,
    position_columns: str | None,
) -> dict[str, Any]:
    """The options of `Planner.plan`."""
    options: dict[str, Any] = {"backup": backup, "avoid": avoid or (), "via": via or ()}
    options |= {"dead_ends": dead_ends or (), "give_up": give_up, "cautious": cautious}
    where = read_position_file(planner, positions, position_columns)
    return options if where is None else options | {"positions": where}


def read_position_file(planner: Planner, positions: Path | None, position_columns: str | None) -> Any:
    """The positions in a file for the states of a planner; None without a file."""
    if position_columns is not None and positions is None:
        raise OptionError("--position-columns needs --positions")
    if positions is None:
        return None
    from fwrl.planner import read_positions

    return read_positions(positions, planner.states, column_names(position_columns))


def headline(route: Route, gives_up: bool = False) -> str:
    """A route's length and reward in a sentence."""
    n = len(route.steps)
    said = f"{route.start} to {route.goal}: {n:,} step{'s' * (n != 1)}, reward {route.reward:g}"
    if route.certain:
        return said
    bound = "" if route.cautious is None else "at least "
    said += f" if all goes as shown (probability {route.probability:.3g}); the policy arrives with probability "
    said += f"{bound}{_arrival(route)} and expects {bound}{route.value:g}"
    said += " in all" if gives_up else " if it arrives"
    return said if route.cautious is None else f"{said} (bounds of confidence {route.cautious:g} for each step)"


def _arrival(route: Route) -> str:
    """The probability of arriving, as a range where it depends on tries that ended where the log ends."""
    said = between(route.arrival_bounds, "{:.4g}".format)
    return f"{said} (the lower counts tries that ended where the log ends as failures)" if " to " in said else said


def evidence(route: Route) -> str:
    """The weakest step of a route, and what was left out of the plan, in a sentence."""
    weakest = route.weakest
    if weakest is None:
        return ""
    said = f"weakest step: {weakest.state} to {weakest.next_state}, seen {times(weakest.seen)}"
    step = route.least_followed
    if step is not None:
        said += (
            f"; left out of the plan: outcomes that the log does not follow up, at most {step.unknown:.3g} of the "
            f"observations of a step ({step.state} by {step.action})"
        )
    return said


def _print(route: Route, most: int | None, gives_up: bool) -> None:
    typer.echo(headline(route, gives_up))
    certain = route.certain
    lines = [["", str(route.start), "", "", ""]]
    for number, step in enumerate(route.steps, start=1):
        action = "" if step.action == step.next_state else f"by {step.action}"
        chance = "" if certain else f"{step.probability:.0%}"
        lines.append([str(number), str(step.next_state), action, f"{step.reward:.4g}", chance])
    if most is not None and len(lines) > most:
        half = most // 2
        left = len(lines) - 2 * half
        lines = [*lines[:half], ["", f"... {left:,} more, see --all ...", "", "", ""], *lines[-half:]]
    widths = [max(len(line[k]) for line in lines) for k in range(5)]
    for line in lines:
        cells = [
            text.rjust(width) if k in (0, 3, 4) else text.ljust(width)
            for k, (text, width) in enumerate(zip(line, widths, strict=True))
            if width
        ]
        typer.echo(("  " + "  ".join(cells)).rstrip())
    if route.steps:
        typer.echo(evidence(route))
