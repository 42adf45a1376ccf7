"""Logs in files as sources for DuckDB: Parquet, CSV, JSON and Arrow.

The files of one format make one source; CSV files one for each distinct header (see `csv_format`).
"""

from __future__ import annotations

import contextlib
import json
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fwrl.errors import FileError, FwrlError
from fwrl.planner.ingest.copies import opened
from fwrl.planner.ingest.csv_beginning import as_utf8, first_line, opened_by_duckdb
from fwrl.planner.ingest.csv_format import csv_sources, struct
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.found_files import FoundFile
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.scan import FILE, Source, column_types, name_in_duckdb
from fwrl.planner.ingest.sql import listed, quoted, sql_bool, when

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

UNQUOTED = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "BOOLEAN")  # DuckDB's types of what JSON does not quote
SHOWN = 60  # characters of a line that cannot be read
SKIP = "ignore_errors=true"
PARTITION = re.compile(r"[\\/][^\\/=]+=[^\\/=]*(?=[\\/])")  # a folder named key=value
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
            sources += _json(con, [as_utf8(file, options, folder) for file in of_format], options)
        elif format_ == "parquet":
            sources.append(_parquet(con, of_format))
        elif format_ == "arrow":
            sources += [_arrow(con, file, number) for number, file in enumerate(of_format)]
        else:
            raise NotImplementedError(f"FORMATS lists {format_!r}, which nothing here reads")
    return sources


def _parquet(con: DuckDBPyConnection, files: list[FoundFile]) -> Source:
    import duckdb

    hive = all(PARTITION.search(file.path) for file in files)
    terms = ["union_by_name=true", f"hive_partitioning={sql_bool(hive)}", f"filename={quoted(FILE)}"]
    untyped = Source(f"read_parquet({listed(['{files}', *terms])})", {}, *_named(files))
    try:
        return replace(untyped, types=column_types(con, untyped.scan))
    except duckdb.Error as error:
        raise (_no_parquet(files, error) or error) from error


def _no_parquet(files: list[FoundFile], error: Exception) -> FileError | None:
    """The error that names the first file which is no Parquet file; None where DuckDB's `error` is another one."""
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


def _json(con: DuckDBPyConnection, files: list[FoundFile], options: ReadOptions) -> list[Source]:
    """A source for the files with an object per line, and one for those with one array."""
    arrays = [file for file in files if _is_array(con, file)]
    lines = [file for file in files if file not in arrays]
    sources = []
    if lines:
        sources.append(_json_source(con, lines, ["format='newline_delimited'", *when(options.skip_bad, SKIP)]))
    if arrays:
        sources.append(_json_source(con, arrays, ["format='array'"]))
    return sources


def _json_source(con: DuckDBPyConnection, files: list[FoundFile], options: list[str]) -> Source:
    import duckdb

    options = [*options, "records=true", f"filename={quoted(FILE)}"]
    named = _named(files)
    untyped = Source(f"read_json({listed(['{files}', 'union_by_name=true', 'sample_size=-1', *options])})", {}, *named)
    try:
        detected = column_types(con, untyped.scan)
    except duckdb.Error as error:
        broken = _broken_array if "format='array'" in options else _no_object
        problem = None if SKIP in options else broken(files)
        raise (problem or _not_objects(files, error) or error) from error
    # Scalars other than numbers are read as text: DuckDB would rewrite a name that looks like a date.
    types = {
        column: type_ if type_ in UNQUOTED or type_.endswith(("]", ")")) else "VARCHAR"
        for column, type_ in detected.items()
    }
    return Source(f"read_json({listed(['{files}', f'columns={struct(types)}', *options])})", types, *named)


def _is_array(con: DuckDBPyConnection, file: FoundFile) -> bool:
    """Whether its first line begins with a bracket."""
    if opened_by_duckdb(file):
        return first_line(con, file).lstrip()[:1] == "["
    with contextlib.suppress(OSError, EOFError, zlib.error), opened(file.path) as text:
        return text.read(SHOWN).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["
    return False


def _not_objects(files: list[FoundFile], error: Exception) -> FileError | None:
    """The error for files without JSON objects; None where DuckDB's `error` is another one."""
    if "expected records" not in str(error):
        return None
    named = listed(repr(file.shown) for file in files)
    return FileError(f"expected JSON objects in {named}, there are none; write one in each line, or all in one array")


def _broken_array(files: list[FoundFile]) -> FileError | None:
    """The error that names where the first array is broken; None where Python reads all of them."""
    for file in files:
        if opened_by_duckdb(file):
            continue
        with opened(file.path) as text, contextlib.suppress(OSError, EOFError, zlib.error, RecursionError):
            try:
                json.load(text)
            except json.JSONDecodeError as error:
                return FileError(
                    f"{file.shown}, line {error.lineno:,}, character {error.colno:,}: the array of JSON objects is "
                    f"broken ({error.msg}); write it again, or one object in each line; bad ones can be left out then"
                )
            except UnicodeDecodeError:
                return FileError(f"{file.shown} begins as an array of JSON objects, but is not text; write it as UTF-8")
    return None


def _no_object(files: list[FoundFile]) -> FwrlError | None:
    """The error that names the first line which is not a JSON object; None where Python reads all of them."""
    for file in files:
        if opened_by_duckdb(file):
            continue
        with opened(file.path) as lines, contextlib.suppress(OSError, EOFError, zlib.error):
            for number, line in enumerate(filter(bytes.strip, lines), start=1):
                if not _is_object(line):
                    shown = line.decode(errors="replace").strip()
                    problem = f"{file.shown}, row {number:,}: expected a line with a JSON object, got {shown[:SHOWN]!r}"
                    return LogError(problem, "skip_bad")
    return None


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
