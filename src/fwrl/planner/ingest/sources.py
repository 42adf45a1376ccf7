"""Turn anything you can pass as a log into sources that DuckDB can scan.

The files of one format make one source; CSV files one for each distinct header (see `csv`). Arrow tables, pandas data
frames and NumPy record arrays are scanned in memory. Data that can be read only once (Arrow readers, query
results) is copied into DuckDB first. Anything else is collected into columns (see `rows`).
"""

from __future__ import annotations

import contextlib
import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fwrl.errors import FileError, FwrlError
from fwrl.planner.ingest.csv import csv_sources, struct
from fwrl.planner.ingest.discover import FoundFile, as_utf8, discover, folder_keys, opened, spooled
from fwrl.planner.ingest.read_options import LogError, ReadOptions
from fwrl.planner.ingest.reader import FILE, Source, column_types, listed, name_in_duckdb, quoted, sql_bool, when
from fwrl.planner.ingest.rows import collected, column

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

UNQUOTED = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "BOOLEAN")  # DuckDB's types of what JSON does not quote
SHOWN = 60  # characters of a line that cannot be read
SKIP = "ignore_errors=true"
NO_JSON = ("Malformed JSON", "expected records")  # what DuckDB says of files without JSON objects
ARROW_FILE = b"ARROW1"  # what an Arrow file begins with, unlike a stream
ARROW = "arrow_file"  # what DuckDB calls Arrow files, with a number after it


def file_sources(con: DuckDBPyConnection, files: list[FoundFile], options: ReadOptions, folder: str) -> list[Source]:
    """The sources of the files; copies are made in `folder`."""
    by_format: dict[str, list[FoundFile]] = {}
    for file in files:
        by_format.setdefault(file.format, []).append(file)
    sources: list[Source] = []
    for format_, of_format in by_format.items():
        if format_ == "csv":
            sources += csv_sources(con, of_format, options, folder)
        elif format_ == "json":
            sources.append(_json(con, [as_utf8(file, options, folder) for file in of_format], options))
        elif format_ == "parquet":
            sources.append(_parquet(con, of_format))
        elif format_ == "arrow":
            sources += [_arrow(con, file, number) for number, file in enumerate(of_format)]
        else:
            raise NotImplementedError(f"FORMATS lists {format_!r}, which nothing here reads")
    return sources


def _parquet(con: DuckDBPyConnection, files: list[FoundFile]) -> Source:
    import duckdb

    hive = all(folder_keys(file.path) for file in files)
    terms = ["union_by_name=true", f"hive_partitioning={sql_bool(hive)}", f"filename={quoted(FILE)}"]
    untyped = Source(f"read_parquet({listed(['{files}', *terms])})", {}, *_named(files))
    try:
        return replace(untyped, types=column_types(con, untyped.scan))
    except duckdb.Error as error:
        raise (_no_parquet(files, error) or error) from error


def _no_parquet(files: list[FoundFile], error: Exception) -> FileError | None:
    """Return an error that names the first file that isn't Parquet; None if DuckDB's `error` is a different one."""
    named = next((file.shown for file in files if repr(name_in_duckdb(file.path)) in str(error)), None)
    if named is None or "magic bytes" not in str(error):
        return None
    return FileError(f"{named!r} is not a whole Parquet file; write it again, or name it after the format that it has")


def _named(files: list[FoundFile]) -> tuple[tuple[str, ...], bool, dict[str, str]]:
    """The paths of files, that their values are typed, and what messages call them."""
    return tuple(file.path for file in files), False, {file.path: file.shown for file in files}


def _arrow(con: DuckDBPyConnection, file: FoundFile, number: int) -> Source:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.dataset as dataset  # type: ignore[import-untyped]
    except ImportError:
        raise FwrlError(f"{file.shown!r} needs pyarrow; install it with: pip install 'fwrl[arrow]'") from None
    if file.is_address:
        raise FileError(f"Arrow files are not read from an address; copy {file.shown!r} here first")
    name = f"{ARROW}_{number}"
    try:
        if _is_arrow_file(file):
            con.register(name, dataset.dataset(file.path, format="ipc"))
        else:
            with pa.memory_map(file.path) as stream, pa.ipc.open_stream(stream) as reader:
                copy_in_order(con, name, reader)
    except (OSError, pa.ArrowException) as error:
        raise FileError(f"cannot read {file.shown!r}: {str(error).splitlines()[0]}") from error
    scan = f"(SELECT *, {quoted(file.path)} AS {FILE} FROM {name})"
    return Source(scan, column_types(con, scan), *_named([file]))


def _is_arrow_file(file: FoundFile) -> bool:
    """Whether it has Arrow's file format, and not that of streams."""
    with Path(file.path).open("rb") as begin:
        return begin.read(len(ARROW_FILE)) == ARROW_FILE


def copy_in_order(con: DuckDBPyConnection, name: str, table: object) -> None:
    """Copy what can be read only once into a table of DuckDB's; visits at equal times are in the order of rows."""
    con.register("read_once", table)
    con.execute("SET preserve_insertion_order=true")
    con.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM read_once")
    con.execute("SET preserve_insertion_order=false")
    con.unregister("read_once")


def _json(con: DuckDBPyConnection, files: list[FoundFile], options: ReadOptions) -> Source:
    """The source of all files, each with objects one after the other or in one array."""
    import duckdb

    terms = [*when(options.skip_bad, SKIP), "records=true", "union_by_name=true", f"filename={quoted(FILE)}"]
    named = _named(files)
    untyped = Source(f"read_json({listed(['{files}', 'sample_size=-1', *terms])})", {}, *named)
    try:
        detected = column_types(con, untyped.scan)
    except duckdb.Error as error:
        if not any(said in str(error) for said in NO_JSON):
            raise
        raise (None if options.skip_bad else _no_object(files)) or _no_objects(files, str(error)) from error
    # Scalars other than numbers are read as text: DuckDB would rewrite a name that looks like a date.
    types = {
        column: type_ if type_ in UNQUOTED or type_.endswith(("]", ")")) else "VARCHAR"
        for column, type_ in detected.items()
    }
    return Source(f"read_json({listed(['{files}', f'columns={struct(types)}', *terms])})", types, *named)


def _no_object(files: list[FoundFile]) -> LogError | None:
    """The error that names the first line that isn't a JSON object; None if there isn't one, or for an array."""
    for file in files:
        if file.is_address:
            continue
        with opened(file.path) as lines, contextlib.suppress(OSError, EOFError, zlib.error):
            for number, line in enumerate(filter(bytes.strip, lines), start=1):
                if number == 1 and line.lstrip().startswith(b"["):
                    break
                if not _is_object(line):
                    shown = line.decode(errors="replace").strip()
                    problem = f"{file.shown}, row {number:,}: expected a line with a JSON object, got {shown[:SHOWN]!r}"
                    return LogError(problem, "skip_bad")
    return None


def _no_objects(files: list[FoundFile], said: str) -> FileError:
    """The error for files without JSON objects; `said` is DuckDB's message, which may name one."""
    named = listed(repr(file.shown) for file in [file for file in files if file.path in said] or files)
    return FileError(f"expected JSON objects in {named}; write one in each line, or all in one array")


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


GIVEN = "given"  # what DuckDB calls a table in memory
COPIED = "copied"  # and its copy, of what can be read only once


def sources_of(con: DuckDBPyConnection, log: Any, options: ReadOptions) -> list[Source]:
    """Return the sources of anything given as a log."""
    folder = str(con.execute("SELECT current_setting('temp_directory')").fetchall()[0][0])
    if isinstance(log, str | Path):
        log = [log]
    are_files = isinstance(log, list | tuple) and bool(log) and all(isinstance(item, str | Path) for item in log)
    if options.shape == "trajectories" and (are_files or _is_stream(log) or _has_columns(log)):
        raise FwrlError("trajectories are lists of states, not rows of a table; leave shape out")
    if are_files:
        return file_sources(con, discover(map(str, log), folder), options, folder)
    if _is_stream(log):
        return file_sources(con, [spooled(log, folder)], options, folder)
    table = _table(log, options)
    if _is_read_once(table):
        copy_in_order(con, COPIED, table)
        return [Source(COPIED, column_types(con, COPIED))]
    con.register(GIVEN, table)
    return [Source(GIVEN, column_types(con, GIVEN))]


def _table(log: Any, options: ReadOptions) -> Any:
    """Something with columns that DuckDB can scan."""
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
        import pyarrow as pa
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
