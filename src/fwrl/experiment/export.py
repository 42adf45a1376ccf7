"""Export of results: tables as CSV and Parquet, and score matrices for evaluation libraries.

The score matrix of an agent is (runs, tasks), as rliable and others read it: a run is a seed, a task an experiment, a
score the run's share of the oracle's expected reward.
"""

from __future__ import annotations

import csv
import glob
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError, FwrlError
from fwrl.experiment.catalogue import EXPERIMENTS
from fwrl.experiment.reference import reference
from fwrl.experiment.store import Store
from fwrl.files import replaced
from fwrl.metrics import share_by_run

EXPORTED = ("runs", "episodes", "steps", "audits")


def export_results(store: Store, folder: Path) -> list[Path]:
    """Write every table as CSV and Parquet, and the score matrices as .npz, into `folder`; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    for table in EXPORTED:
        source = folder / f"{table}.csv"
        _write_csv(store, table, source)
        written += [source, _write_parquet(source)]
    scores = score_matrices(store)
    if scores:
        path = folder / "scores.npz"
        with replaced(path) as draft, draft.open("wb") as file:
            np.savez(file, **scores)  # type: ignore[arg-type]
        written.append(path)
    return written


def score_matrices(store: Store) -> dict[str, NDArray[np.float64]]:
    """For each agent, (runs, tasks): the share of the oracle's reward, on the tasks that all agents have."""
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


def _write_csv(store: Store, table: str, path: Path) -> None:
    columns, rows = store.rows(table)
    with replaced(path) as draft, draft.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def _write_parquet(source: Path) -> Path:
    import duckdb

    path = source.with_suffix(".parquet")
    try:
        with replaced(path) as draft, duckdb.connect() as con:
            con.read_csv(glob.escape(str(source)), header=True).write_parquet(str(draft))
    except duckdb.Error as error:
        raise FileError(f"cannot write {str(path)!r}: {error}") from error
    return path
