"""Logs in files: Parquet, CSV and JSON-lines, as sources for DuckDB.

The files of one format make one source; CSV files one for each distinct header. Every value of CSV is read as text.
"""

from __future__ import annotations

import contextlib
import csv
import glob
import gzip
import io
import json
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from fwrl.errors import FileError
from fwrl.planner.ingest.scan import Source, column_types
from fwrl.planner.ingest.sql import listed, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FORMATS = {
    "csv": (".csv", ".tsv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "json": (".jsonl", ".ndjson", ".json"),
}
DELIMITERS = ",;\t|"
LONGEST_HEADER = 1 << 20  # bytes
UNQUOTED = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "BOOLEAN")  # DuckDB's types of what JSON does not quote
SHOWN = 60  # characters of a line that cannot be read


def file_sources(con: DuckDBPyConnection, patterns: list[str], skip_bad: bool, serial: bool) -> list[Source]:
    """The sources of the files that are named or match a pattern; `serial` as in `sources_of`."""
    by_format: dict[str, list[str]] = {}
    for path in _matching(patterns):
        by_format.setdefault(_format(path), []).append(path)
    sources = []
    for format_, paths in by_format.items():
        if format_ == "csv":
            sources += _csv(paths, skip_bad, serial)
        elif format_ == "json":
            sources.append(_json(con, paths, skip_bad))
        else:
            sources.append(_parquet(con, paths))
    return sources


def _matching(patterns: Iterable[str]) -> list[str]:
    """The files that are named or match a pattern."""
    files = []
    for pattern in patterns:
        found = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        if not found:
            raise FileError(f"cannot read {pattern!r}: there is no such file")
        for path in found:
            if Path(path).is_dir():
                raise FileError(f"{path!r} is a folder; name its files: {path}/*.parquet")
        files += found
    return files


def _format(path: str) -> str:
    name = path.lower().removesuffix(".gz")
    for format_, suffixes in FORMATS.items():
        if name.endswith(suffixes):
            return format_
    known = ", ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)
    raise FileError(f"expected a log that ends in one of {known} (or the same with .gz), got {path!r}")


def _parquet(con: DuckDBPyConnection, paths: list[str]) -> Source:
    untyped = Source("read_parquet({files}, union_by_name=true)", {}, tuple(paths))
    return replace(untyped, types=column_types(con, untyped.scan))


def _json(con: DuckDBPyConnection, paths: list[str], skip_bad: bool) -> Source:
    import duckdb

    options = [f"ignore_errors={_sql_bool(skip_bad)}", "format='newline_delimited'", "records=true"]
    untyped = Source(
        f"read_json({listed(['{files}', 'union_by_name=true', 'sample_size=-1', *options])})", {}, tuple(paths)
    )
    try:
        detected = column_types(con, untyped.scan)
    except duckdb.Error as error:
        raise _no_object(paths) or error from error
    # Scalars other than numbers are read as text: DuckDB would rewrite a name that looks like a date.
    types = {
        column: type_ if type_ in UNQUOTED or type_.endswith(("]", ")")) else "VARCHAR"
        for column, type_ in detected.items()
    }
    return Source(f"read_json({listed(['{files}', f'columns={_struct(types)}', *options])})", types, tuple(paths))


def _no_object(paths: list[str]) -> FileError | None:
    """The error that names the first line which is not a JSON object; None where Python reads all of them."""
    for path in paths:
        with _opened(path) as file, contextlib.suppress(OSError, EOFError, zlib.error):
            for number, line in enumerate(filter(bytes.strip, file), start=1):
                if not _is_object(line):
                    shown = line.decode(errors="replace").strip()
                    return FileError(
                        f"{path}, row {number:,}: expected a line with a JSON object, got {shown[:SHOWN]!r}"
                    )
    return None


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _opened(path: str) -> IO[bytes]:
    return gzip.open(path, "rb") if path.lower().endswith(".gz") else Path(path).open("rb")  # type: ignore[return-value]


def _csv(paths: list[str], skip_bad: bool, serial: bool) -> list[Source]:
    by_header: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for path in paths:
        by_header.setdefault(_csv_header(path), []).append(path)
    sources = []
    for (delimiter, header), files in by_header.items():
        types = dict.fromkeys(header, "VARCHAR")
        options = [
            f"columns={_struct(types)}",
            f"delim={quoted(delimiter)}",
            "quote='\"'",
            "escape='\"'",
            "header=true",
            "auto_detect=false",
            "null_padding=true",
            f"store_rejects={_sql_bool(skip_bad)}",
            f"parallel={_sql_bool(not serial)}",
        ]
        sources.append(Source(f"read_csv({listed(['{files}', *options])})", types, tuple(files), is_text=True))
    return sources


def _csv_header(path: str) -> tuple[str, tuple[str, ...]]:
    """The delimiter and the column names of a CSV file."""
    try:
        with _opened(path) as file:
            line = file.readline(LONGEST_HEADER).decode("utf-8-sig").rstrip("\r\n").partition("\r")[0]
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"the first line of {path!r} is not text in UTF-8") from error
    delimiter = max(DELIMITERS, key=line.count)
    try:
        header = next(csv.reader(io.StringIO(line), delimiter=delimiter), [])
    except csv.Error:
        header = []
    names = [name.strip() for name in header]
    folded = {name.casefold() for name in names}
    if not names or "" in names or len(folded) < len(names) or "\0" in line:
        raise FileError(f"expected a first line of distinct column names in {path!r}, got {line[:80]!r}")
    return delimiter, tuple(names)


def _struct(types: dict[str, str]) -> str:
    return "{" + listed(f"{quoted(column)}: {quoted(type_)}" for column, type_ in types.items()) + "}"


def _sql_bool(value: bool) -> str:
    return str(value).lower()
