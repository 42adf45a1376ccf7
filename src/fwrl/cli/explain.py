"""`fwrl explain`: where a route comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.plan import (
    Avoid,
    Backup,
    DeadEnds,
    File,
    From,
    GiveUp,
    Json,
    Positions,
    To,
    Via,
    evidence,
    headline,
    route_options,
    times,
)
from fwrl.errors import OptionError

if TYPE_CHECKING:
    from fwrl.planner import Explanation


def explain(
    file: File,
    start: From,
    goal: To,
    backup: Backup = "expected",
    avoid: Avoid = None,
    via: Via = None,
    dead_ends: DeadEnds = None,
    give_up: GiveUp = None,
    positions: Positions = None,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw the route to this .png or .svg file; needs --positions, unless states are cells."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Where the route comes from: the past trips of each step, how often, when last, and where trips were stitched.

    Only the latest few trips of a step are kept, so an older one may have covered more of the route.
    """
    from fwrl.planner import Planner

    if picture is not None and picture.suffix not in (".png", ".svg"):
        raise OptionError(f"expected a picture that ends in .png or .svg, got {str(picture)!r}")
    planner = Planner.load(file)
    if picture is not None and positions is None and planner.positions is None:
        raise OptionError("--picture needs --positions, a file with columns state, x, y")
    options = route_options(planner, backup, avoid, via, dead_ends, give_up, positions)
    explanation = planner.explain(start, goal, **options)
    if picture is not None:
        from fwrl.figures.route import route_map, save_picture

        places: Any = options.get("positions", planner.positions)
        save_picture(route_map(explanation, planner.experience, places), picture)
    if as_json:
        typer.echo(json.dumps(explanation.to_dict(), indent=2))
        return
    _print(explanation, give_up is not None)
    if picture is not None:
        typer.echo(f"drawn to {picture}")


def _print(explanation: Explanation, gives_up: bool) -> None:
    from fwrl.planner.experience import KEPT
    from fwrl.planner.explanation import shown_time

    typer.echo(headline(explanation.route, gives_up))
    stretch = -1
    for each in explanation.steps:
        if each.stretch != stretch and each.trips:
            stretch = each.stretch
            covering = ", ".join(map(str, explanation.stretches[stretch]))
            word = "stitched: " if stretch else ""
            typer.echo(f"{word}from {each.step.state} on trip {covering}")
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
        where = ", ".join(map(str, explanation.stitches))
        latest = f"going by the latest {KEPT} trips of each step"
        typer.echo(f"stitched {times(n)}, at {where}, {latest}" if n else "one past trip covers all of it")
    if explanation.route.steps:
        typer.echo(evidence(explanation.route))
