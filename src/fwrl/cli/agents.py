"""`fwrl agents`: list the agents and their options."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

NARROW = 60  # characters; a table of three columns is unreadable in a narrower terminal


def agents(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the agents with their options and defaults."""
    from fwrl.agents import agent_classes
    from fwrl.cli.warned import told_warnings

    with told_warnings():
        classes = agent_classes()
    listed: list[dict[str, Any]] = [
        {"name": name, "description": cls.description, "options": asdict(cls.Config())} for name, cls in classes.items()
    ]
    if as_json:
        typer.echo(json.dumps(listed, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if console.width < NARROW:
        for row in listed:
            options = "".join(f"\n  {name}={value}" for name, value in row["options"].items())
            console.print(f"{row['name']}: {row['description']}{options}", markup=False, highlight=False)
        return
    table = Table(title="Agents", title_justify="left", box=None, pad_edge=False)
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("description")
    table.add_column("options and defaults")
    for row in listed:
        defaults = ", ".join(f"{k}={v}" for k, v in row["options"].items())
        table.add_row(row["name"], row["description"], defaults)
    console.print(table)
