"""`fwrl fit`: learn from logs."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.log_options import Memory, log_source, reading_log, with_reading_options
from fwrl.cli.output_paths import changing, check_saved_file
from fwrl.cli.plan import rests_on
from fwrl.cli.workers import Cluster, chosen_pool
from fwrl.display import visible
from fwrl.errors import FileError

if TYPE_CHECKING:
    from fwrl.planner import LogSummary, Planner

Wait = Annotated[bool, typer.Option("--wait", help="If another process is changing the file, wait for it.")]


@with_reading_options()
def fit(
    logs: Annotated[
        list[str],
        typer.Argument(
            help="Read these: CSV, Parquet, JSON or Arrow files, compressed or not; folders; patterns such as "
            "'logs/*.csv.gz'; addresses such as s3://...; - for standard input."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Save the planner to this file.")],
    *,
    reading: dict[str, Any],
    add: Annotated[bool, typer.Option("--add", help="Add the logs to the planner in --out.")] = False,
    connections: Annotated[
        bool, typer.Option(help="Count the pairs of states with a route between them; reads a large log twice more.")
    ] = True,
    allow_duplicates: Annotated[
        bool,
        typer.Option("--allow-duplicates", help="Accept files with the same content as one read before."),
    ] = False,
    memory: Memory = "4GB",
    cluster: Cluster = None,
    wait: Wait = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Learn from logs of trips and save a planner for fwrl plan, fwrl explain and fwrl explore.

    A row is a transition (columns state and next_state) or a visit (trip, time, state). Optional columns: action (the
    next state by default), reward (-1 by default) or cost, trip, time, count, and terminated (1 if the trip ends for
    good in this state). With --cluster, each worker reads its files itself and may use the memory of --memory.
    """
    check_saved_file(out)
    from fwrl.planner import Planner
    from fwrl.planner import fit as fit_planner

    options = {**reading, "memory": memory, "connections": connections, "allow_duplicates": allow_duplicates}
    with changing(out, wait):
        if add and not out.exists():
            raise FileError(f"can't add to {str(out)!r}: no such planner; leave out --add for the first log")
        into = Planner.load(out) if add else None
        if cluster is not None:
            planner = _fit_on_cluster(cluster, logs, out, into, options)
        else:
            with reading_log() as report:
                planner = fit_planner(log_source(logs), into=into, progress=report, **options)
            planner.save(out)
    if as_json:
        typer.echo(json.dumps(asdict(planner.summary) | {"file": str(out)}, indent=2))
        return
    if rests_on(planner):
        typer.echo(rests_on(planner))
    print_summary(planner.summary, out, connections)


def _fit_on_cluster(address: str, logs: list[str], out: Path, into: Planner | None, options: dict[str, Any]) -> Planner:
    """Fit on a cluster and save."""
    from fwrl.cli.log_options import STDIN
    from fwrl.errors import OptionError
    from fwrl.planner.fitting import fit_on_cluster

    if STDIN in logs:
        raise OptionError("a cluster can't read standard input; give files")
    with reading_log() as report:
        with chosen_pool(None, address) as pool:
            began = time.monotonic()

            def watch(done: int, total: int, workers: int) -> None:
                rate = 60 * done / max(1e-9, time.monotonic() - began)
                report(
                    f"{done} of {total} fits and merges, {workers} workers, {rate:.0f} a minute", done / max(1, total)
                )

            planner = fit_on_cluster(logs, pool, into=into, watch=watch, **options)
        planner.save(out)
    return planner


def print_summary(summary: LogSummary, out: Path, connections: bool = True) -> None:
    """Print the size of the log; `connections` says whether the user wants connected pairs."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold")
    table.add_column(justify="right")
    table.add_column()
    table.add_row("trips", "not logged" if summary.trips is None else f"{summary.trips:,}")
    table.add_row("transitions", f"{summary.transitions:,}")
    table.add_row("states", f"{summary.states:,}")
    table.add_row("edges", f"{summary.edges:,}")
    if summary.uncertain:
        table.add_row("uncertain actions", f"{summary.uncertain:,}", "with more than one observed outcome")
    if summary.terminated:
        table.add_row("terminal states", f"{summary.terminated:,}", "dead ends, unless they're the goal")
    if summary.skipped:
        table.add_row("skipped rows", f"{summary.skipped:,}")
    if summary.stitched is not None:
        about = "" if summary.sampled is None else "about "
        note = "" if summary.sampled is None else f"(estimated from {summary.sampled} start states)"
        table.add_row("connected pairs", f"{about}{summary.connected:,}", note)
        table.add_row("joined by stitching", f"{about}{summary.stitched:,}", note)
    else:
        why = "this planner was started without" if connections else "and never will be for this file"
        table.add_row("connected pairs", "not counted", why)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"saved to {visible(out)}", markup=False, soft_wrap=True)
