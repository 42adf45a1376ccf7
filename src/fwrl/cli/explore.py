"""`fwrl explore`: serve the explore page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwrl.cli.log_options import Memory, log_source, reading_log, with_reading_options
from fwrl.cli.plan import PositionColumns, Positions
from fwrl.cli.play import Browser, Host, Port
from fwrl.errors import OptionError

if TYPE_CHECKING:
    from fwrl.planner import Planner

SMALL = 5_000  # edges: up to here every answer takes about a tenth of a second interpreted
SMALL_LOG = 2**20  # bytes of a log that has about as few


@with_reading_options()
def explore(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Show this planner saved by fwrl fit, or these logs."),
    ],
    positions: Positions = None,
    position_columns: PositionColumns = None,
    unit: Annotated[
        str | None,
        typer.Option(
            help="Show costs in this unit, such as s or EUR. Default: s with --cost elapsed, steps if each costs 1."
        ),
    ] = None,
    old_after: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Mark steps last seen longer ago than this: 30d (s, min, h, d, w), or a number if times are numbers. "
            "Default: the log's half-life, or else half of the time it covers.",
        ),
    ] = None,
    *,
    reading: dict[str, Any],
    memory: Memory = "4GB",
    host: Host = "127.0.0.1",
    port: Port = 8765,
    browser: Browser = True,
) -> None:
    """Open a map of your log in the browser: routes, their cost and evidence, what-ifs, and weak spots of the log.

    Give the log itself instead of a planner, and you can also limit the page to some hours, weekdays or dates.
    """
    from fwrl.cli.plan import read_position_file

    planner, is_log = _planner(files, reading, memory)
    from fwrl.web import serve
    from fwrl.web.explore import explore_page

    where = read_position_file(planner, positions, position_columns)
    experience, age = planner.experience, None
    if old_after is not None:
        from fwrl.planner.ingest.times import duration

        age = duration(old_after, experience.time, "an age")
    if unit is None and reading.get("cost") == "elapsed" and experience.time == "timestamp":
        unit = "s"

    def refit(period: dict[str, Any]) -> Planner:
        from fwrl.planner import fit

        cells: Any = experience.cells
        chosen = {"cell_width": getattr(cells, "width", None), "resolution": getattr(cells, "resolution", None)}
        replaced = {"at", "around"} if "hours" in period else set()
        kept = {name: value for name, value in reading.items() if name not in replaced}
        return fit(log_source(files), memory=memory, connections=False, **kept | chosen | period)

    positions_file = None if positions is None else str(positions)
    options: dict[str, Any] = {"positions": where, "positions_file": positions_file, "old_after": age, "unit": unit}
    can_refit = is_log and "-" not in files
    page = explore_page(planner, " ".join(files), **options, refit=refit if can_refit else None)
    serve(page, host, port, browser=browser, say=typer.echo)


def _planner(files: list[str], reading: dict[str, Any], memory: str) -> tuple[Planner, bool]:
    """Load a planner or fit one to a log; also return whether it was a log."""
    from fwrl.cli.interpreting import interpret, interpret_if_small
    from fwrl.files import is_archive

    paths = [Path(name) for name in files]
    if any(path.suffix == ".fwrl" or (path.is_file() and is_archive(path)) for path in paths):
        if len(files) > 1:
            raise OptionError("the page shows one planner; combine several with fwrl merge")
        if set(reading) - {"min_trips"}:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(set(reading) - {"min_trips"}))
            raise OptionError(f"{flags}: for reading a log, and {files[0]!r} is a planner; give the log instead")
        interpret_if_small(paths[0], SMALL)
        from fwrl.cli.plan import loaded_planner

        return loaded_planner(paths[0], reading.get("min_trips", 1)), False
    if all(path.is_file() for path in paths) and sum(path.stat().st_size for path in paths) <= SMALL_LOG:
        interpret()
    from fwrl.planner import fit

    with reading_log() as report:
        return fit(log_source(files), memory=memory, connections=False, progress=report, **reading), True
