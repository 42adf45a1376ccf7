"""`fwrl tune`: grid search for the rivals' settings, on seeds that no league uses."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwrl.cli.output_paths import changing, check_file
from fwrl.cli.workers import Cluster, Workers, chosen_pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fwrl.experiment.tuning import Candidate
    from fwrl.files import Partials
    from fwrl.pool import Pool


def tune(
    agents: Annotated[list[str] | None, typer.Argument(help="Rivals to tune. Default: all.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Seeds for every combination.")] = 5,
    workers: Workers = None,
    cluster: Cluster = None,
    out: Annotated[Path | None, typer.Option(help="The file to write the best settings to, as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score every combination of each rival's options on seeds that no league uses, and print them, best first.

    With --out, finished scores are kept beside that file: after an interruption, the same command continues.
    """
    if out is not None:
        check_file(out)
    from fwrl.experiment.tuning import GRIDS, record
    from fwrl.files import partial_results

    with contextlib.ExitStack() as stack:
        kept = None
        if out is not None:
            stack.enter_context(changing(out))
            kept = stack.enter_context(partial_results(out))
        with chosen_pool(workers, cluster) as pool:
            found = _search(agents or list(GRIDS), seeds, pool, kept)
        if out is not None:
            record(found, out, seeds)
    if as_json:
        typer.echo(json.dumps([candidate._asdict() for candidate in found], indent=2))
    else:
        _print(found)


def _search(agents: list[str], seeds: int, pool: Pool, kept: Partials | None) -> list[Candidate]:
    """Score all combinations, with a progress bar."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from fwrl.experiment.tuning import tune as search

    columns = (TextColumn("tuning"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description},"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task(pool.name, total=None)

        def watch(done: int, total: int, workers: int) -> None:
            rate = bar.tasks[0].speed or 0.0
            pace = f"{workers} {pool.name}, {60 * rate:.1f} a minute"
            bar.update(line, completed=done, total=total, description=pace)

        return search(agents, seeds, watch=watch, pool=pool, kept=kept)


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
