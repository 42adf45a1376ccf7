"""`fwrl check`: make sure that a saved file isn't damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from fwrl.display import visible


def check(
    file: Annotated[Path, typer.Argument(help="A file saved by fwrl.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Verify a saved file: its checksums match and it loads. For a planner, also list the logs it was fitted from."""
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
    logs = [log._asdict() for log in loaded.experience.logs] if isinstance(loaded, Planner) else []
    if as_json:
        typer.echo(json.dumps({"kind": archive.kind, "holds": repr(loaded), "sections": sections, "logs": logs}))
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("section", style="bold")
    table.add_column("shape", justify="right")
    table.add_column("bytes", justify="right")
    for section in sections:
        shape = " x ".join(str(n) for n in section["shape"])
        table.add_row(escape(visible(section["name"])), shape, f"{section['bytes']:,}")
    console.print(table)
    for log in logs:
        console.print(f"log {visible(log['name'])}, {log['size']:,} bytes", markup=False, soft_wrap=True)
    console.print(f"{visible(file)} is intact: {visible(repr(loaded))}", markup=False, soft_wrap=True)
