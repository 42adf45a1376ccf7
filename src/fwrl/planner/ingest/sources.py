"""What may be given as a log, as sources that DuckDB can scan.

Files are read by DuckDB (see `file_formats`). Arrow tables, pandas data frames and NumPy record arrays are scanned in
memory. Anything else is collected into columns first (see `rows`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fwrl.errors import FwrlError
from fwrl.planner.ingest.file_formats import file_sources
from fwrl.planner.ingest.rows import collected
from fwrl.planner.ingest.scan import Source, column_types

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

GIVEN = "given"  # what DuckDB calls a table in memory


def sources_of(con: DuckDBPyConnection, log: Any, skip_bad: bool, serial: bool = False) -> list[Source]:
    """The sources of whatever was given as a log.

    `serial` reads CSV with one thread, which line breaks inside quotes need (see `BrokenLinesError`).
    """
    if isinstance(log, str | Path):
        return file_sources(con, [str(log)], skip_bad, serial)
    if isinstance(log, list | tuple) and log and all(isinstance(item, str | Path) for item in log):
        return file_sources(con, [str(item) for item in log], skip_bad, serial)
    con.register(GIVEN, _table(log))
    return [Source(GIVEN, column_types(con, GIVEN))]


def _table(log: Any) -> Any:
    """Something with columns that DuckDB can scan."""
    if isinstance(log, np.ndarray):
        if log.dtype.names is None or log.ndim != 1:
            raise FwrlError(
                f"expected a NumPy record array with named columns, got {log.dtype} of shape {log.shape}; "
                "name them with np.rec.fromarrays(..., names='state,next_state')"
            )
        return {name: _scannable(log[name]) for name in log.dtype.names}
    if hasattr(log, "__arrow_c_stream__") or type(log).__module__.split(".")[0] == "pandas":
        return log
    return collected(log)


def _scannable(column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A column as DuckDB reads it: strings as objects, anything else without gaps in memory."""
    return column.astype(object) if column.dtype.kind in "US" else np.ascontiguousarray(column)
