"""Where states are, for pictures and for "how near does it come?": a file with columns state, x, y."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError, unknown_name
from fwrl.planner.ingest.reader import BrokenLinesError, reading
from fwrl.planner.ingest.sources import named, sources_of
from fwrl.planner.labels import Labels

Floats = NDArray[np.float64]
NEEDED = ("state", "x", "y")


def read_positions(path: str | Path, states: Labels) -> Floats:
    """(S, 2) the position of each state, NaN where the file gives none; CSV, Parquet or JSON-lines."""
    try:
        return _read(path, states, serial=False)
    except BrokenLinesError:
        return _read(path, states, serial=True)


def _read(path: str | Path, states: Labels, serial: bool) -> Floats:
    with reading("256MB", None, "positions") as reader:
        where = np.full((len(states), 2), np.nan)
        for part in sources_of(reader.con, path, skip_bad=False, serial=serial):
            folded = {column.casefold(): column for column in part.types}
            for name in NEEDED:
                if name not in folded:
                    raise FwrlError(f"{path}: {unknown_name('column', name, part.types)}; expected state, x and y")
            state, x, y = (named(folded[name]) for name in NEEDED)
            rows = reader.con.execute(
                f"SELECT {state}::VARCHAR, try_cast({x} AS DOUBLE), try_cast({y} AS DOUBLE) FROM {part.scan}"
            ).fetchall()
            for number, (label, east, north) in enumerate(rows, start=1):
                if label is None or east is None or north is None or not np.isfinite([east, north]).all():
                    raise FwrlError(f"{path}, row {number}: expected a state and two finite numbers")
                place = states.place(label)
                if place is not None:
                    where[place] = east, north
    if np.isnan(where).all():
        raise FwrlError(f"expected positions of states that the planner knows, {path} has none of them")
    return where
