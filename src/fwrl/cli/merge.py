"""`fwrl merge`: several planners as one."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from fwrl.cli.fit import Wait, print_summary
from fwrl.cli.log_options import flags_named
from fwrl.cli.output_paths import changing, check_saved_file


def merge(
    files: Annotated[list[Path], typer.Argument(help="Planners saved by fwrl fit or fwrl merge.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to save the merged planner.")],
    again: Annotated[
        bool, typer.Option("--again", help="Count logs several times that several of the planners have.")
    ] = False,
    skip_bad: Annotated[
        bool,
        typer.Option(
            "--skip-bad", help="Leave out moves between logs that lack an action or a reward, or are cut in two."
        ),
    ] = False,
    wait: Wait = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Merge planners: what one fit of all their logs gives, sums of rewards up to rounding (1e-12).

    A trip of visits that goes on in a log of another planner is joined by the move between. Trips whose parts overlap
    in time, and logs that two planners have, are refused.
    """
    check_saved_file(out)
    from rich.console import Console

    from fwrl.planner import Planner

    console = Console(stderr=True)
    with changing(out, wait), console.status("merging"), flags_named():
        first, *others = [Planner.load(file) for file in files]
        planner = first.merge(*others, again=again, skip_bad=skip_bad)
        planner.save(out)
    if as_json:
        typer.echo(json.dumps(asdict(planner.summary) | {"file": str(out)}, indent=2))
        return
    print_summary(planner.summary, out)
