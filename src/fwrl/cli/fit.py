"""`fwrl fit`: learn from logs of past trips."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.log_options import (
    Cells,
    Columns,
    Dates,
    Decimal,
    Encoding,
    Header,
    Hours,
    Memory,
    Missing,
    Shape,
    Since,
    SkipBad,
    Until,
    Weekdays,
    log_options,
    log_source,
    reading_log,
)
from fwrl.cli.output_paths import changing, check_saved_file
from fwrl.cli.plan import rests_on
from fwrl.cli.workers import Cluster, chosen_pool
from fwrl.errors import FileError

if TYPE_CHECKING:
    from fwrl.planner import LogSummary, Planner

Wait = Annotated[bool, typer.Option("--wait", help="Wait while another process changes the file.")]


def fit(
    logs: Annotated[
        list[str],
        typer.Argument(
            help="CSV, Parquet, JSON or Arrow files, also packed; folders; patterns such as 'logs/*.csv.gz'; addresses "
            "such as s3://...; - for standard input."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to save the planner.")],
    columns: Columns = None,
    shape: Shape = None,
    cost: Annotated[str | None, typer.Option(help="elapsed: the cost of a move is the time to the next visit.")] = None,
    cells: Cells = None,
    cell_width: Annotated[
        float | None, typer.Option(help="Side of square cells; chosen from the data if left out.")
    ] = None,
    resolution: Annotated[
        int | None, typer.Option(help="H3 resolution of hexagons, 0 to 15; chosen from the data if left out.")
    ] = None,
    since: Since = None,
    until: Until = None,
    hours: Hours = None,
    weekdays: Weekdays = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="A time of day to plan for, as 08:30: keep what was logged around it."),
    ] = None,
    around: Annotated[str, typer.Option(help="How far before and after --at.")] = "30min",
    min_trips: Annotated[
        int, typer.Option(min=1, help="Keep only steps that at least this many distinct trips of the logs made.")
    ] = 1,
    half_life: Annotated[
        str | None, typer.Option(help="Age at which an observation counts half, as 30d (s, min, h, d, w).")
    ] = None,
    header: Header = None,
    missing: Missing = None,
    encoding: Encoding = "utf-8",
    decimal: Decimal = ".",
    dates: Dates = None,
    add: Annotated[bool, typer.Option("--add", help="Add to the planner that is saved there already.")] = False,
    skip_bad: SkipBad = False,
    connections: Annotated[
        bool, typer.Option(help="Count the pairs of states that are now connected: reads a large log twice more.")
    ] = True,
    again: Annotated[
        bool, typer.Option("--again", help="Count a file again whose content was read before or is given twice.")
    ] = False,
    memory: Memory = "4GB",
    cluster: Cluster = None,
    wait: Wait = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Learn from logs: rows of transitions (state, next_state) or of visits (trip, time, state).

    Optional columns are action (the next state if left out), reward (-1 if left out) or cost, trip, time, count, and
    terminated (0 or 1): nothing follows the next state of a transition, or the state of a visit. fwrl plan and
    fwrl explain read the saved planner. With --cluster, workers read the files where they lie, each with the memory
    of --memory; after an interruption, the same command continues.
    """
    check_saved_file(out)
    from fwrl.planner import Planner
    from fwrl.planner import fit as fit_planner

    options = log_options(
        columns,
        cells,
        missing,
        shape=shape,
        cost=cost,
        cell_width=cell_width,
        resolution=resolution,
        since=since,
        until=until,
        hours=hours,
        weekdays=weekdays,
        at=at,
        around=around,
        min_trips=min_trips,
        half_life=half_life,
        header=header,
        encoding=encoding,
        decimal=decimal,
        dates=dates,
        skip_bad=skip_bad,
    )
    options |= {"memory": memory, "connections": connections, "again": again}
    with changing(out, wait):
        if add and not out.exists():
            raise FileError(f"there is no planner {str(out)!r} to add to; leave out --add for the first log")
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
    """Fit by the workers of a cluster, and save."""
    from fwrl.cli.log_options import STDIN
    from fwrl.errors import OptionError
    from fwrl.files import partial_results
    from fwrl.planner.sharding import fit_shards

    if STDIN in logs:
        raise OptionError("workers of a cluster cannot read standard input; give files")
    with reading_log() as report, partial_results(out) as partials:
        with chosen_pool(None, address) as pool:
            began = time.monotonic()

            def watch(done: int, total: int, workers: int) -> None:
                rate = 60 * done / max(1e-9, time.monotonic() - began)
                report(
                    f"{done} of {total} fits and merges, {workers} workers, {rate:.0f} a minute", done / max(1, total)
                )

            planner = fit_shards(logs, pool, partials, into=into, watch=watch, **options)
        planner.save(out)
    return planner


def print_summary(summary: LogSummary, out: Path, connections: bool = True) -> None:
    """Print what a saved planner was learned from; `connections` says whether they were asked for."""
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
        table.add_row("actions that vary", f"{summary.uncertain:,}", "seen to lead to more than one state")
    if summary.terminated:
        table.add_row("terminal states", f"{summary.terminated:,}", "traps, unless they are the goal")
    if summary.skipped:
        table.add_row("rows left out", f"{summary.skipped:,}")
    if summary.continued:
        table.add_row("trips joined", f"{summary.continued:,}", "where they go on in a log that was added later")
    if summary.stitched is not None:
        about = "" if summary.sampled is None else "about "
        note = "" if summary.sampled is None else f"(estimated from the pairs that begin in {summary.sampled} states)"
        table.add_row("pairs connected", f"{about}{summary.connected:,}", note)
        most = "(at most: what joined trips connect across logs is counted too)" if summary.continued else ""
        table.add_row("no single trip did", f"{about}{summary.stitched:,}", most or (note and "(likewise)"))
    else:
        why = "the file was begun without" if connections else "nor can they be when logs are added to this file"
        table.add_row("pairs connected", "not counted", why)
    console = Console(highlight=False)
    console.print(table)
    console.print(f"saved to {out}", markup=False, soft_wrap=True)
