"""`fwrl export`: write results as CSV, Parquet and NumPy files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from fwrl.cli.output_paths import make_folder
from fwrl.display import visible
from fwrl.errors import FileError


def export(
    results: Annotated[Path, typer.Argument(help="The folder that fwrl reproduce wrote to.")] = Path("results"),
    out: Annotated[Path | None, typer.Option(help="Write to this folder. Default: RESULTS/export.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the paths of the files as JSON.")] = False,
) -> None:
    """Write results as CSV and Parquet, and each agent's score matrix (runs x tasks) as .npz."""
    from fwrl.cli.reproduce import STORE
    from fwrl.experiment import Store
    from fwrl.experiment.export import SCORES, export_results

    if results.is_file():
        raise FileError(f"{str(results)!r} is a file; give the folder that fwrl reproduce wrote")
    if not (results / STORE).is_file():
        raise FileError(f"no {STORE} in {str(results)!r}; create it with: fwrl reproduce --out {results}")
    with Store(results / STORE, read_only=True) as store:
        written = export_results(store, make_folder(out or results / "export"))
    if as_json:
        typer.echo(json.dumps([str(path) for path in written]))
        return
    if not any(path.name == SCORES for path in written):
        typer.echo("no score matrices: the H-maze has none; run fwrl reproduce without --only", err=True)
    for path in written:
        typer.echo(f"{path.stat().st_size:>12,}  {visible(path)}")
