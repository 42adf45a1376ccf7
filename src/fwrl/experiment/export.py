"""Export results: tables as CSV and Parquet, and score matrices for evaluation libraries.

An agent's score matrix has shape (runs, tasks), the layout that rliable and others expect. A run is a seed, a task an
experiment, and a score the run's share of the oracle's expected reward.
"""

from __future__ import annotations

import csv
import glob
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError, FwrlError
from fwrl.experiment.catalogue import EXPERIMENTS
from fwrl.experiment.reference import reference
from fwrl.experiment.store import Store
from fwrl.files import replaced
from fwrl.metrics import share_by_run

SCORES = "scores.npz"
FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # formulas start with one of these
EXPORTED = ("runs", "episodes", "steps", "audits")


def export_results(store: Store, folder: Path) -> list[Path]:
    """Write every table as CSV and Parquet, and the score matrices as .npz, into `folder`; return the paths.

    Files are moved into place only once all are written, so a full disk leaves none of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scores = score_matrices(store)
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".export-") as drafts:
            for table in EXPORTED:
                _write_table(store, table, Path(drafts))
            if scores:
                with (Path(drafts) / SCORES).open("wb") as file:
                    np.savez(file, **scores)  # type: ignore[arg-type]
            names = [f"{table}{suffix}" for table in EXPORTED for suffix in (".csv", ".parquet")]
            written = [folder / name for name in (*names, *([SCORES] if scores else []))]
            for path in written:
                (Path(drafts) / path.name).replace(path)
    except OSError as error:
        raise FileError(f"can't write to {str(folder)!r}: {error.strerror or error}; nothing was exported") from error
    return written


def score_matrices(store: Store) -> dict[str, NDArray[np.float64]]:
    """Each agent's share of the oracle's reward, (runs, tasks), for tasks that all agents have run."""
    tasks = [e for e in EXPERIMENTS if not e.stages and store.agents(e.id)]
    if not tasks:
        return {}
    labels = [a.label for a in tasks[0].agents]
    shared = [e for e in tasks if set(labels) <= set(store.agents(e.id))]
    oracle = {e.id: reference(e, store.episodes(e.id, labels[0], "goal").astype(np.int64)).oracle for e in shared}
    matrices = {}
    for label in labels:
        columns = [share_by_run(store.episodes(e.id, label, "reward"), oracle[e.id]) for e in shared]
        if len({len(column) for column in columns}) != 1:
            raise FwrlError("the experiments have different numbers of seeds; finish their runs first")
        matrices[label] = np.stack(columns, axis=1)
    return matrices


def _write_table(store: Store, table: str, folder: Path) -> None:
    """Write a table as CSV that is safe in spreadsheets, and as Parquet with unchanged text."""
    plain, path = folder / "plain" / f"{table}.csv", folder / f"{table}.csv"
    plain.parent.mkdir(exist_ok=True)
    columns, rows = store.rows(table)
    with plain.open("w", newline="", encoding="utf-8") as exact, path.open("w", newline="", encoding="utf-8") as file:
        writers = csv.writer(exact), csv.writer(file)
        for writer in writers:
            writer.writerow(columns)
        for row in rows:
            writers[0].writerow(row)
            writers[1].writerow([_no_formula(cell) for cell in row])
    _write_parquet(plain).replace(path.with_suffix(".parquet"))


def _write_parquet(source: Path) -> Path:
    import duckdb

    path = source.with_suffix(".parquet")
    try:
        with replaced(path) as draft, duckdb.connect() as con:
            con.read_csv(glob.escape(str(source)), header=True).write_parquet(str(draft))
    except duckdb.Error as error:
        raise FileError(f"cannot write {str(path)!r}: {error}") from error
    return path


def _no_formula(cell: object) -> object:
    """Quote text that a spreadsheet would run as a formula."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell
