"""`fwrl worlds`: list the worlds, or draw one."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer


def worlds(
    name: Annotated[
        str | None,
        typer.Argument(help="Draw this world: a name, or the path of a .txt or .map file. Default: list all."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the built-in worlds, or draw one."""
    from fwrl.worlds import load_world

    if name is None:
        _list(as_json)
        return
    world = load_world(name)
    if as_json:
        typer.echo(json.dumps(_facts(world), indent=2))
        return
    from rich.console import Console

    from fwrl.worlds import describe_reach

    console = Console(highlight=False)
    if world.description:
        console.print(world.description, markup=False)
    console.print(_drawn(world, console.encoding), markup=False, soft_wrap=True)
    facts = _facts(world)
    kind = "deterministic" if facts["deterministic"] else "stochastic"
    console.print(
        f"{world.name}: {world.n_states} states, {world.n_actions} actions ({', '.join(world.action_names)}), {kind}",
        markup=False,
    )
    console.print(describe_reach(world), markup=False)


def _list(as_json: bool) -> None:
    from fwrl.worlds.catalogue import describe_worlds

    listed = describe_worlds()
    if as_json:
        typer.echo(json.dumps([row._asdict() for row in listed], indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Worlds", title_justify="left", box=None, pad_edge=False)
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("states", justify="right")
    table.add_column("description")
    for row in listed:
        states = "" if row.states is None else str(row.states)
        table.add_row(row.name, states, row.description)
    console = Console(highlight=False)
    console.print(table)
    console.print("\nTo use your own map, give the path of a .txt or .map file.", markup=False)


def _drawn(world: Any, encoding: str) -> str:
    """Draw the world with characters the terminal can show: those of the map file if need be."""
    from fwrl.worlds import draw

    drawing = draw(world)
    try:
        drawing.encode(encoding)
    except UnicodeEncodeError:
        if world.grid is None:
            return drawing.encode(encoding, "backslashreplace").decode(encoding)
        return "\n".join(world.grid.rows)
    return drawing


def _facts(world: Any) -> dict[str, Any]:
    return {
        "name": world.name,
        "description": world.description,
        "states": world.n_states,
        "actions": list(world.action_names),
        "deterministic": world.deterministic,
        "step_reward": world.step_reward,
        "regions": int(world.regions.max()) + 1,
        "terminals": {str(state): reward for state, reward in world.terminals.items()},
    }
