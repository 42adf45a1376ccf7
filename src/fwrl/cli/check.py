"""`fwrl check`: whether a saved file is undamaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer


def check(
    file: Annotated[Path, typer.Argument(help="A file saved by fwrl.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check every checksum of a saved file, and that it loads."""
    from fwrl.files import check_archive
    from fwrl.loading import load
    from fwrl.planner import Planner

    archive = check_archive(file)
    loaded = load(file)
    if isinstance(loaded, Planner):
        loaded.check()
    sections: list[dict[str, Any]] = [
        {"name": name, "shape": list(archive[name].shape), "bytes": archive[name].nbytes} for name in archive.names
    ]
    if as_json:
        typer.echo(json.dumps({"kind": archive.kind, "holds": repr(loaded), "sections": sections}))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("section", style="bold")
    table.add_column("shape", justify="right")
    table.add_column("bytes", justify="right")
    for section in sections:
        shape = " x ".join(str(n) for n in section["shape"])
        table.add_row(section["name"], shape, f"{section['bytes']:,}")
    console.print(table)
    console.print(f"{file}: sound. {loaded!r}", markup=False, soft_wrap=True)
