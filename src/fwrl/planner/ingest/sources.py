"""What may be given as a log, as sources that DuckDB can scan.

Files are read by DuckDB (see `file_formats`). Arrow tables, pandas data frames and NumPy record arrays are scanned in
memory. What can be read only once (Arrow readers, results of queries) is copied into DuckDB first. Anything else is
collected into columns (see `rows`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fwrl.errors import FwrlError
from fwrl.planner.ingest.column_arrays import column
from fwrl.planner.ingest.file_formats import copy_in_order, file_sources
from fwrl.planner.ingest.found_files import found_files, spooled
from fwrl.planner.ingest.minari_episodes import is_minari, minari_columns
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.rows import collected
from fwrl.planner.ingest.scan import Source, column_types

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

GIVEN = "given"  # what DuckDB calls a table in memory
COPIED = "copied"  # and its copy, of what can be read only once


def sources_of(con: DuckDBPyConnection, log: Any, options: ReadOptions) -> list[Source]:
    """The sources of whatever was given as a log."""
    folder = str(con.execute("SELECT current_setting('temp_directory')").fetchall()[0][0])
    if isinstance(log, str | Path):
        log = [log]
    are_files = isinstance(log, list | tuple) and bool(log) and all(isinstance(item, str | Path) for item in log)
    if options.shape == "trajectories" and (are_files or _is_stream(log) or _has_columns(log)):
        raise FwrlError("trajectories are lists of states, not rows of a table; leave shape out")
    if are_files:
        return file_sources(con, found_files(map(str, log), folder), options, folder)
    if _is_stream(log):
        return file_sources(con, spooled(log, folder), options, folder)
    table = _table(log, options)
    if _is_read_once(table):
        copy_in_order(con, COPIED, table)
        return [Source(COPIED, column_types(con, COPIED))]
    con.register(GIVEN, table)
    return [Source(GIVEN, column_types(con, GIVEN))]


def _table(log: Any, options: ReadOptions) -> Any:
    """Something with columns that DuckDB can scan."""
    if is_minari(log):
        return {name: column(name, values) for name, values in minari_columns(log).items()}
    if isinstance(log, np.ndarray) and _has_columns(log):
        return {name: column(name, log[name]) for name in log.dtype.names or ()}
    if isinstance(log, np.ndarray) and options.shape != "trajectories":
        raise FwrlError(
            f"expected a NumPy record array with named columns, got {log.dtype} of shape {log.shape}; "
            "name them with np.rec.fromarrays(..., names='state,next_state'), or say shape='trajectories' where a row "
            "is a trajectory"
        )
    if _module(log) in ("duckdb", "_duckdb"):
        return _arrow_reader(log)  # DuckDB does not read the answers of another connection
    if type(log).__name__ == "LazyFrame":
        return log.collect()
    if _module(log) == "pandas" and any(name is not None for name in log.index.names):
        return log.reset_index()  # DuckDB does not see an index
    if _has_columns(log):
        return log
    return collected(log, options.shape)


def _arrow_reader(log: Any) -> Any:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
    except ImportError:
        raise FwrlError("the answer of a query needs pyarrow; install it with: pip install 'fwrl[arrow]'") from None
    return pa.RecordBatchReader.from_stream(log)


def _has_columns(log: Any) -> bool:
    if isinstance(log, np.ndarray):
        return log.ndim == 1 and log.dtype.names is not None
    return hasattr(log, "__arrow_c_stream__") or _module(log) in ("pandas", "polars") or _is_dataset(log)


def _is_dataset(log: Any) -> bool:
    """Whether it is a data set of Arrow's, which DuckDB scans, and can scan again."""
    return _module(log) == "pyarrow" and hasattr(log, "scanner")


def _is_stream(log: Any) -> bool:
    return hasattr(log, "read") and not _has_columns(log)


def _is_read_once(table: Any) -> bool:
    """Whether a table is a stream; whether it is cannot be told of foreign types, which are copied too."""
    if isinstance(table, dict) or _module(table) == "pandas":
        return False
    return not (_is_dataset(table) or (_module(table) == "pyarrow" and type(table).__name__ == "Table"))


def _module(log: Any) -> str:
    return type(log).__module__.split(".")[0]
