"""`fwrl explore`: serve the explore page."""

from __future__ import annotations

from typing import Annotated

import typer

from fwrl.cli.plan import File, MinTrips, PositionColumns, Positions
from fwrl.cli.play import Browser, Host, Port


def explore(
    file: File,
    positions: Positions = None,
    position_columns: PositionColumns = None,
    min_trips: MinTrips = 1,
    old_after: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Mark steps that were not seen for this long, as 30d (s, min, h, d, w), or a number where times are "
            "numbers. Default: the half-life of the log or, without one, half of the time that it covers.",
        ),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    browser: Browser = True,
) -> None:
    """Open a local page with the map of a fitted log: routes, their evidence, what-ifs, and what the log lacks."""
    from fwrl.cli.plan import loaded_planner, read_position_file
    from fwrl.web import serve
    from fwrl.web.explore import explore_page

    planner = loaded_planner(file, min_trips)
    where = read_position_file(planner, positions, position_columns)
    age = None
    if old_after is not None:
        from fwrl.planner.ingest.period import duration

        age = duration(old_after, planner.experience.time, "an age")
    positions_file = None if positions is None else str(positions)
    page = explore_page(planner, str(file), positions=where, positions_file=positions_file, old_after=age)
    serve([page], host, port, browser=browser, say=typer.echo)
