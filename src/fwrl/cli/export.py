"""`fwrl export`: write results in formats of other tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from fwrl.cli.output_paths import make_folder
from fwrl.errors import FileError


def export(
    results: Annotated[Path, typer.Argument(help="The folder that fwrl reproduce wrote to.")] = Path("results"),
    out: Annotated[Path | None, typer.Option(help="The folder to write to. Default: RESULTS/export.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the paths of the files as JSON.")] = False,
) -> None:
    """Write the results as CSV and Parquet, and the score matrix (runs x tasks) of each agent as .npz."""
    from fwrl.cli.reproduce import STORE
    from fwrl.experiment import Store
    from fwrl.experiment.export import export_results

    if results.is_file():
        raise FileError(f"{str(results)!r} is a file; give the folder that fwrl reproduce wrote to")
    if not (results / STORE).is_file():
        raise FileError(f"there is no {STORE} in {str(results)!r}; make it with: fwrl reproduce --out {results}")
    with Store(results / STORE, read_only=True) as store:
        written = export_results(store, make_folder(out or results / "export"))
    if as_json:
        typer.echo(json.dumps([str(path) for path in written]))
        return
    for path in written:
        typer.echo(f"{path.stat().st_size:>12,}  {path}")
