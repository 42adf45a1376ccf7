"""`fwrl tune`: grid search for the rivals' settings, on seeds that no league uses."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwrl.cli.output_paths import check_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwrl.experiment.tuning import Candidate


def tune(
    agents: Annotated[list[str] | None, typer.Argument(help="Rivals to tune. Default: all.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds for every combination.")] = 5,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes. Default: one per core.")] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write the best settings to, as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score every combination of each rival's options on seeds that no league uses, and print them, best first."""
    if out is not None:
        check_file(out)
    from rich.console import Console
    from rich.progress import Progress

    from fwrl.experiment.tuning import GRIDS, record
    from fwrl.experiment.tuning import tune as search

    with Progress(console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task("tuning", total=None)
        found = search(
            agents or list(GRIDS),
            seeds,
            workers or os.cpu_count() or 1,
            lambda done, total: bar.update(line, completed=done, total=total),
        )
    if as_json:
        typer.echo(json.dumps([candidate._asdict() for candidate in found], indent=2))
    else:
        _print(found)
    if out is not None:
        record(found, out, seeds)


def _print(found: Sequence[Candidate]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="Best settings first", title_justify="left", box=None, pad_edge=False)
    table.add_column("agent", style="bold")
    table.add_column("share of oracle", justify="right")
    table.add_column("options")
    for candidate in found:
        options = ", ".join(f"{name}={value}" for name, value in candidate.options.items())
        table.add_row(candidate.agent, f"{candidate.score:.4f}", options)
    Console(highlight=False).print(table)
