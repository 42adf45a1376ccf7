"""`fwrl explain`: the past trips behind a route."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.interpreting import interpret_if_small
from fwrl.cli.log_options import Memory, log_source, reading_log, with_reading_options
from fwrl.cli.output_paths import check_file
from fwrl.cli.plan import (
    At,
    Avoid,
    AvoidRoads,
    Backup,
    Cautious,
    DeadEnds,
    File,
    From,
    GiveUp,
    Json,
    MinTrips,
    Named,
    PositionColumns,
    Positions,
    To,
    Via,
    evidence,
    headline,
    loaded_planner,
    place_names,
    rests_on,
    route_options,
    states_listed,
)
from fwrl.display import times, visible
from fwrl.errors import OptionError

if TYPE_CHECKING:
    from fwrl.planner import Explanation, Planner

MEMORY = "1GB"
SHOWN = 20  # stitches named


@with_reading_options("cost", "cell_width", "resolution", "half_life", "at", "around", "min_trips")
def explain(
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
    min_trips: MinTrips = 1,
    at: At = None,
    positions: Positions = None,
    position_columns: PositionColumns = None,
    log: Annotated[
        list[str] | None,
        typer.Option(help="Read this log again to find the fewest past trips; repeat for more, or give a pattern."),
    ] = None,
    *,
    reading: dict[str, Any],
    memory: Memory = MEMORY,
    picture: Annotated[
        Path | None,
        typer.Option(
            help="Draw the route to this .png, .svg or .geojson file; needs --positions unless states are cells."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the past trips behind a route: who took each step, how often, when last, and where trips were stitched.

    A planner file keeps only the latest trips of each step. An older trip may have covered more of the route, so the
    number of stitches is an upper bound. Give --log to find the fewest; the options from --columns to --memory say how
    to read that log, as in fwrl fit.
    """
    interpret_if_small(file)
    if picture is not None and picture.suffix.lower() not in (".png", ".svg", ".geojson"):
        raise OptionError(f"can't draw to {str(picture)!r}: choose a name ending in .png, .svg or .geojson")
    if picture is not None:
        check_file(picture)
    planner = loaded_planner(file, min_trips, at)
    if picture is not None and positions is None and planner.positions is None:
        raise OptionError(
            "--picture needs --positions: a file with the columns state, x, y; without one, "
            f"fwrl explore {file} draws a map in the browser"
        )
    ends = avoid, avoid_road, via, dead_ends
    options = route_options(planner, backup, *ends, give_up, cautious, positions, position_columns)
    if log:
        with reading_log() as report, states_listed(file):
            explanation = planner.explain(
                start,
                goal,
                log=log_source(log),
                log_options=reading,
                memory=memory,
                progress=report,
                **options,
            )
    else:
        refuse_without_log([*reading, *(["memory"] if memory != MEMORY else [])])
        with states_listed(file):
            explanation = planner.explain(start, goal, **options)
    if picture is not None:
        _draw(explanation, planner, options.get("positions", planner.positions), picture)
    if as_json:
        typer.echo(json.dumps(explanation.to_dict(), indent=2))
        return
    _print(explanation, place_names(planner), give_up is not None)
    if rests_on(planner):
        typer.echo(rests_on(planner))
    if picture is not None:
        typer.echo(f"drawn to {visible(picture)}")


def refuse_without_log(given: list[str]) -> None:
    """Raise if there are options for reading a log but no --log."""
    for name in given:
        raise OptionError(f"--{name.replace('_', '-')} needs --log")


def _draw(explanation: Explanation, planner: Planner, positions: Any, picture: Path) -> None:
    if picture.suffix.lower() == ".geojson":
        from fwrl.files import replaced
        from fwrl.planner.interop import route_geojson

        text = json.dumps(route_geojson(explanation, planner.experience, positions), indent=1)
        with replaced(picture) as draft:
            draft.write_text(text + "\n", encoding="utf-8")
        return
    from fwrl.figures.route import route_map, save_picture

    save_picture(route_map(explanation, planner.experience, positions), picture)


def _print(explanation: Explanation, named: Named, gives_up: bool) -> None:
    from fwrl.planner.explanation import shown_time
    from fwrl.planner.transition_counts import KEPT

    typer.echo(headline(explanation.route, named, gives_up))
    stretch = -1
    for each in explanation.steps:
        if each.stretch != stretch and each.trips:
            stretch = each.stretch
            covering = ", ".join(map(visible, explanation.stretches[stretch]))
            others = explanation.covering[stretch] - len(explanation.stretches[stretch])
            more = f" and {others:,} more" if others else ""
            word = "stitched: " if stretch else ""
            typer.echo(f"{word}from {named(each.step.state)} on trip {covering}{more}")
        step = each.step
        action = "" if step.action == step.next_state else f" by {visible(step.action)}"
        last = "" if each.last is None else f", last {shown_time(each.last)}"
        trips = f", trips {', '.join(map(visible, each.trips))}" if each.trips else ""
        once = "  <- seen only once" if step.seen == 1 else ""
        typer.echo(f"  {named(step.state)} to {named(step.next_state)}{action}: {times(step.seen)}{last}{trips}{once}")
    if not explanation.steps:
        typer.echo("  nothing to do: start and goal are the same")
    elif not any(each.trips for each in explanation.steps):
        typer.echo("the log has no trip names, so fwrl can't tell where trips were stitched")
    else:
        n = len(explanation.stitches)
        where = ", ".join(map(named, explanation.stitches[:SHOWN])) + (f" and {n - SHOWN:,} more" if n > SHOWN else "")
        bound = f"at most, judging by the latest {KEPT} trips of each step; --log finds the fewest"
        how = "the fewest possible" if explanation.fewest else bound
        typer.echo(f"stitched {times(n)}, at {where} ({how})" if n else "one past trip covers the whole route")
    if explanation.route.steps:
        typer.echo(evidence(explanation.route, named))
