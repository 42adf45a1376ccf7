"""`fwrl merge`: combine planners."""

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
    files: Annotated[list[Path], typer.Argument(help="Combine these planners.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Save the result to this file.")],
    allow_duplicates: Annotated[
        bool,
        typer.Option("--allow-duplicates", help="Accept planners that share a log, and count it each time."),
    ] = False,
    wait: Wait = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Combine planners into one, as if you had added their logs with fwrl fit --add.

    Sums of rewards match a single fit up to rounding (1e-12). A trip that continues in another planner's log counts as
    two trips. Merging fails if two planners contain the same log.
    """
    check_saved_file(out)
    from rich.console import Console

    from fwrl.planner import Planner

    console = Console(stderr=True)
    with changing(out, wait), console.status("merging"), flags_named():
        first, *others = [Planner.load(file) for file in files]
        planner = first.merge(*others, allow_duplicates=allow_duplicates)
        planner.save(out)
    if as_json:
        typer.echo(json.dumps(asdict(planner.summary) | {"file": str(out)}, indent=2))
        return
    print_summary(planner.summary, out)
