"""`fwrl states`: list the states of a planner."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwrl.cli.plan import MinTrips, Named, loaded_planner, place_names

if TYPE_CHECKING:
    from fwrl.planner.weak_spots import StateSummary


class Order(StrEnum):
    """How to sort states."""

    name = "name"
    seen = "seen"
    degree = "degree"


def states(
    file: Annotated[Path, typer.Argument(help="A planner saved by fwrl fit or fwrl merge.")],
    pattern: Annotated[
        str,
        typer.Argument(help="Only list names that contain this, or that match it if it has * or ?. Default: all."),
    ] = "",
    by: Annotated[
        Order, typer.Option(help="Sort by name, by how often states were seen, or by number of neighbours.")
    ] = Order.name,
    limit: Annotated[int, typer.Option(min=0, help="Show at most this many states; 0 shows all.")] = 40,
    min_trips: MinTrips = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List or search states, with the number of their neighbours and how often they were seen."""
    planner = loaded_planner(file, min_trips)
    found = planner.find_states(pattern)
    if by is Order.seen:
        found.sort(key=lambda s: -(s.left + s.entered))
    elif by is Order.degree:
        found.sort(key=lambda s: -(s.next_states + s.previous_states))
    shown = found[: limit or None]
    if as_json:
        typer.echo(json.dumps([state._asdict() for state in shown], indent=2))
        return
    _print(shown, place_names(planner), len(found), pattern)


def _print(shown: list[StateSummary], named: Named, n: int, pattern: str) -> None:
    lines = [["state", "next states", "previous states", "left", "entered"]]
    lines += [[named(s.state), *(f"{number:,}" for number in s[1:])] for s in shown]
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    if shown:
        for line in lines:
            first, *numbers = line
            cells = [first.ljust(widths[0]), *(text.rjust(w) for text, w in zip(numbers, widths[1:], strict=True))]
            typer.echo("  ".join(cells))
    matching = f" that match{'es' * (n == 1)} {pattern!r}" if pattern else ""
    left = f"; {n - len(shown):,} more, see --limit" if n > len(shown) else ""
    typer.echo(f"{n:,} state{'s' * (n != 1)}{matching}{left}")
