"""`fwrl plan`: find the best route that past trips support."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.column_names import column_names
from fwrl.cli.interpreting import interpret_if_small
from fwrl.display import between, counted, percent, plain, times, visible
from fwrl.errors import OptionError, UnknownNameError

if TYPE_CHECKING:
    from fwrl.planner import Planner, Route
    from fwrl.planner.labels import Label

ARROW = "->"  # between the ends of a road
SHOWN = 60  # steps printed without --all

File = Annotated[Path, typer.Argument(help="A planner saved by fwrl fit.")]
From = Annotated[
    str, typer.Argument(metavar="FROM", help="Start from this state. If states are cells, x,y or lat,lon also works.")
]
To = Annotated[str, typer.Argument(metavar="TO", help="Go to this state, or to these coordinates.")]
Backup = Annotated[
    str,
    typer.Option(
        help="Plan with observed frequencies and mean rewards (expected), or with the best reward of each step (best)."
    ),
]
Avoid = Annotated[list[str] | None, typer.Option(help="Stay away from this state; repeat for more.")]
AvoidRoads = Annotated[
    list[str] | None,
    typer.Option(
        "--avoid-road", metavar="'A -> B'", help="Don't go from A to B directly; repeat for more, or for B to A."
    ),
]
Via = Annotated[list[str] | None, typer.Option(help="Pass through this state; repeat for more, in order.")]
DeadEnds = Annotated[
    list[str] | None,
    typer.Option(
        "--dead-ends", help="Treat this state as a dead end, even if the log shows a way out; repeat for more."
    ),
]
GiveUp = Annotated[
    float | None,
    typer.Option(
        "--give-up",
        metavar="COST",
        help="Let the plan give up at this cost whenever going on would cost more.",
    ),
]
Cautious = Annotated[
    float | None,
    typer.Option(
        metavar="CONFIDENCE",
        help="Plan for the worse: trust each step only as far as its data allow at this confidence, such as 0.95.",
    ),
]
Positions = Annotated[
    Path | None, typer.Option(help="Read positions from this file, with the columns state, x, y (or lon, lat).")
]
PositionColumns = Annotated[
    str | None,
    typer.Option("--position-columns", help="Name the columns of --positions: OURS=THEIRS,..., as in state=id,x=east."),
]
MinTrips = Annotated[
    int,
    typer.Option(
        "--min-trips",
        min=1,
        help="Use only steps that at least this many trips took, up to 3; for more, use the same option of fwrl fit.",
    ),
]
At = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Plan for this time of day, such as 08:30; needs a planner from fwrl fit --at."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def plan(
    file: File,
    start: From,
    goal: To,
    backup: Backup = "expected",
    avoid: Avoid = None,
    avoid_road: AvoidRoads = None,
    via: Via = None,
    dead_ends: DeadEnds = None,
    give_up: GiveUp = None,
    cautious: Cautious = None,
    alternatives: Annotated[
        int,
        typer.Option(min=1, help="Show up to this many routes without loops; only with --backup best."),
    ] = 1,
    min_trips: MinTrips = 1,
    at: At = None,
    positions: Positions = None,
    position_columns: PositionColumns = None,
    all_steps: Annotated[bool, typer.Option("--all", help="Print every step of a long route.")] = False,
    as_json: Json = False,
) -> None:
    """Find the best route from one state to another, and list its steps.

    If an action can have several outcomes, you see the most frequent one that gets closer, with its probability.
    """
    if alternatives == 1:
        interpret_if_small(file)
    planner = loaded_planner(file, min_trips, at)
    ends = avoid, avoid_road, via, dead_ends
    options = route_options(planner, backup, *ends, give_up, cautious, positions, position_columns)
    if alternatives > 1:
        for name in ("via", "dead_ends", "give_up", "cautious"):
            if options.pop(name) not in (None, ()):
                flag = name.replace("_", "-")
                raise OptionError(f"--{flag} and --alternatives don't work together; leave one out")
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
        _print(route, place_names(planner), None if all_steps else SHOWN, give_up is not None)
    if rests_on(planner):
        typer.echo(rests_on(planner))


def loaded_planner(file: Path, min_trips: int = 1, at: str | None = None) -> Planner:
    """Load a planner and drop steps that too few trips took. Raise if it wasn't fitted for the time of day `at`."""
    from fwrl.planner import Planner

    planner = Planner.load(file)
    if at is not None:
        from fwrl.planner.ingest.times import includes

        hours = planner.experience.hours
        if hours is None or not includes(hours, at):
            kept = "wasn't fitted for a time of day" if hours is None else f"only covers {hours}"
            raise OptionError(f"{str(file)!r} {kept}; fit another with: fwrl fit LOG --at {at} -o at.fwrl")
    return planner if min_trips == 1 else planner.with_min_trips(min_trips)


def rests_on(planner: Planner) -> str:
    """Say which hours of the log the planner was fitted to, and how many trips those are; empty for the whole log."""
    hours, summary = planner.experience.hours, planner.summary
    if hours is None:
        return ""
    number = summary.transitions if summary.trips is None else summary.trips
    return f"based on {counted(number, 'transition' if summary.trips is None else 'trip')} logged at {hours}"


@contextlib.contextmanager
def states_listed(file: Path) -> Iterator[None]:
    """Point to `fwrl states` in errors about unknown states."""
    from fwrl.planner.labels import ALL_NAMES

    try:
        yield
    except UnknownNameError as error:
        raise UnknownNameError(str(error).replace(ALL_NAMES, f"see all with: fwrl states {file}")) from error


def route_options(
    planner: Planner,
    backup: str,
    avoid: list[str] | None,
    avoid_road: list[str] | None,
    via: list[str] | None,
    dead_ends: list[str] | None,
    give_up: float | None,
    cautious: float | None,
    positions: Path | None,
    position_columns: str | None,
) -> dict[str, Any]:
    """Turn command line options into those of `Planner.plan`."""
    options: dict[str, Any] = {"backup": backup, "avoid": avoid or (), "via": via or ()}
    options |= {"dead_ends": dead_ends or (), "give_up": give_up, "cautious": cautious}
    options["avoid_roads"] = [_road(planner, text) for text in avoid_road or ()]
    where = read_position_file(planner, positions, position_columns)
    return options if where is None else options | {"positions": where}


def _road(planner: Planner, text: str) -> tuple[str, str]:
    """Split "A -> B" into two states, whose names may themselves contain arrows."""
    parts = text.split(ARROW)
    if len(parts) < 2:
        raise OptionError(f"write a road as 'A -> B', not {text!r}")
    pairs = [(ARROW.join(parts[:k]).strip(), ARROW.join(parts[k:]).strip()) for k in range(1, len(parts))]
    return next((pair for pair in pairs if all(planner.states.code(name) is not None for name in pair)), pairs[0])


def read_position_file(planner: Planner, positions: Path | None, position_columns: str | None) -> Any:
    """Read the positions of the planner's states; None without a file."""
    if position_columns is not None and positions is None:
        raise OptionError("--position-columns needs --positions")
    if positions is None:
        return None
    from fwrl.planner import read_positions

    return read_positions(positions, planner.states, column_names(position_columns))


Named = Callable[["Label"], str]


def place_names(planner: Planner) -> Named:
    """How to show the planner's states: by name, cells also by their coordinates."""
    from fwrl.planner.places import shown_place

    return functools.partial(shown_place, planner.experience)


def headline(route: Route, named: Named, gives_up: bool = False) -> str:
    """Sum up a route: its steps, its cost or reward and, if outcomes vary, how likely it is to arrive."""
    said = f"{named(route.start)} to {named(route.goal)}: {counted(len(route.steps), 'step')}, "
    word, sign = ("cost", -1.0) if route.value <= 0 else ("reward", 1.0)
    if route.certain:
        return f"{said}{word} {_number(sign * route.reward)}"
    lucky = f"{_number(sign * route.reward)} if nothing goes wrong, {percent(route.probability)} of the time"
    limit = "" if route.cautious is None else "at most " if sign < 0 else "at least "
    said += f"expected {word} {limit}{_number(sign * route.value)}{' including giving up' * gives_up} ({lucky})"
    bounds = between(route.arrival_bounds, percent)
    # "over 99 % to 100 %" says no more than its lower end.
    arrival = bounds.removesuffix(" to 100 %") if bounds.startswith("over") else bounds
    if arrival != percent(1.0):
        least = "at least " if route.cautious is not None and arrival[0].isdigit() else ""
        said += f", arrives {least}{arrival} of the time"
    if " to " in arrival:
        said += " (the log ends during some tries; the lower number counts them as failures)"
    elif " to " in bounds:
        said += " (tries during which the log ends count as failures)"
    return said if route.cautious is None else f"{said}; each step is bounded with confidence {route.cautious:g}"


def _number(value: float) -> str:
    return plain(value + 0.0)  # turns -0 into 0


def _chance(probability: float) -> str:
    """`percent` for a column: 84%, <1%, >99%."""
    return percent(probability).replace("under ", "<").replace("over ", ">").replace(" ", "")


def evidence(route: Route, named: Named) -> str:
    """Name the weakest step of a route, and outcomes that the plan had to ignore."""
    weakest = route.weakest
    if weakest is None:
        return ""
    said = f"weakest step: {named(weakest.state)} to {named(weakest.next_state)}, seen {times(weakest.seen)}"
    step = route.least_followed
    if step is not None:
        share = percent(step.unknown)
        said += (
            f"; the log ends after some outcomes, which the plan ignores ({'up to ' * share[0].isdigit()}{share} for "
            f"{named(step.state)} by {visible(step.action)})"
        )
    return said


def _print(route: Route, named: Named, most: int | None, gives_up: bool) -> None:
    typer.echo(headline(route, named, gives_up))
    certain, sign = route.certain, -1.0 if route.value <= 0 else 1.0
    lines = [["", named(route.start), "", "", ""]]
    for number, step in enumerate(route.steps, start=1):
        action = "" if step.action == step.next_state else f"by {visible(step.action)}"
        chance = "" if certain else _chance(step.probability)
        lines.append([str(number), named(step.next_state), action, _number(sign * step.reward), chance])
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
        typer.echo(evidence(route, named))
