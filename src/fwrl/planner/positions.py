"""Positions of states, for pictures and for the nearest states where there is no route."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fwrl.errors import FwrlError, unknown_name
from fwrl.planner.experience import Floats
from fwrl.planner.ingest.errors import BrokenLinesError, MixedLinesError
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.reader import reading
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.ingest.sql import identifier
from fwrl.planner.labels import Labels

NEEDED = ("state", "x", "y")
MEMORY = "256MB"


def read_positions(path: str | Path, states: Labels) -> Floats:
    """Read the positions of states from a file with the columns `state`, `x` and `y`.

    Args:
        path: A CSV, Parquet or JSON-lines file. States that the planner does not have are ignored.
        states: The labels of the planner's states, `planner.states`.

    Returns:
        (S, 2) x and y of each state, NaN where the file gives none.

    """
    try:
        return _read(path, states, ReadOptions())
    except BrokenLinesError:
        return _read(path, states, ReadOptions(serial=True))
    except MixedLinesError:
        return _read(path, states, ReadOptions(one_line_ending=True))


def _read(path: str | Path, states: Labels, options: ReadOptions) -> Floats:
    positions = np.full((len(states), 2), np.nan)
    with reading(MEMORY, None, "positions") as reader:
        for source in sources_of(reader.con, path, options):
            folded = {column.casefold(): column for column in source.types}
            for name in NEEDED:
                if name not in folded:
                    raise FwrlError(f"{path}: {unknown_name('column', name, source.types)}; expected state, x and y")
            label, x, y = (identifier(folded[name]) for name in NEEDED)
            rows = reader.con.execute(
                f"SELECT {label}::VARCHAR, try_cast({x} AS DOUBLE), try_cast({y} AS DOUBLE) FROM {source.scan}"
            ).fetchall()
            for number, (state, east, north) in enumerate(rows, start=1):
                if state is None or east is None or north is None or not np.isfinite([east, north]).all():
                    raise FwrlError(f"{path}, row {number}: expected a state and two finite numbers")
                code = states.code(state)
                if code is not None:
                    positions[code] = east, north
    if np.isnan(positions).all():
        raise FwrlError(f"{path} has no position of any state that the planner knows")
    return positions
