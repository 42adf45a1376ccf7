"""Where rows come from: each part of a log is something DuckDB can read, with the types of its columns.

Files are grouped by format and columns: Parquet, CSV (every value is text until it is asked for), JSON-lines. What
is in memory is handed to DuckDB as it is: Arrow tables and data frames, NumPy record arrays, and rows collected from
an iterable (see `rows`).
"""

from __future__ import annotations

import contextlib
import csv
import glob
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from fwrl.errors import FileError, FwrlError
from fwrl.planner.ingest.reader import quoted
from fwrl.planner.ingest.rows import collected

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FORMATS = {
    "csv": (".csv", ".tsv", ".txt"),
    "parquet": (".parquet", ".pq"),
    "json": (".jsonl", ".ndjson", ".json"),
}
DELIMITERS = ",;\t|"
LONGEST_HEADER = 1 << 20
INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT")
NUMBERS = ("BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "BOOLEAN")  # DuckDB's types of what JSON does not quote
SHOWN = 60  # characters of a line that cannot be read


@dataclass(frozen=True)
class Source:
    """Rows that are read in one go; `{file}` in `pattern` takes the files to read, as a list in SQL."""

    pattern: str
    types: Mapping[str, str]  # DuckDB's, by column
    files: tuple[str, ...] = ()
    is_text: bool = False  # every value is text, whatever it stands for
    options: str = ""

    @property
    def scan(self) -> str:
        """What stands after FROM."""
        return self.scan_of(self.files)

    def scan_of(self, files: Iterable[str]) -> str:
        """The same for some of its files."""
        return self.pattern.replace("{files}", "[" + ", ".join(map(quoted, files)) + "]")

    @property
    def name(self) -> str:
        """For messages."""
        return repr(self.files[0]) if self.files else "the table"


def named(column: str) -> str:
    """A column in SQL."""
    return '"' + column.replace('"', '""') + '"'


def sources_of(con: DuckDBPyConnection, source: Any, skip_bad: bool, serial: bool = False) -> list[Source]:
    """The parts of whatever was given as a log; CSV read by one thread if `serial` (see `BrokenLinesError`)."""
    if isinstance(source, str | Path):
        return _of_files(con, [str(source)], skip_bad, serial)
    if isinstance(source, list | tuple) and source and all(isinstance(item, str | Path) for item in source):
        return _of_files(con, [str(item) for item in source], skip_bad, serial)
    table = source
    if isinstance(source, np.ndarray):
        if source.dtype.names is None or source.ndim != 1:
            raise FwrlError(
                f"expected a NumPy record array with named columns, got {source.dtype} of shape {source.shape}; "
                "name them with np.rec.fromarrays(..., names='state,next_state')"
            )
        table = {name: _plain(source[name]) for name in source.dtype.names}
    elif not hasattr(source, "__arrow_c_stream__") and type(source).__module__.split(".")[0] != "pandas":
        table = collected(source)
    con.register("given", table)
    return [Source("given", _described(con, "given"))]


def _plain(column: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return column.astype(object) if column.dtype.kind in "US" else np.ascontiguousarray(column)


def _described(con: DuckDBPyConnection, scan: str) -> dict[str, str]:
    return {str(row[0]): str(row[1]) for row in con.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()}


def _of_files(con: DuckDBPyConnection, patterns: list[str], skip_bad: bool, serial: bool) -> list[Source]:
    by_format: dict[str, list[str]] = {}
    for path in _matching(patterns):
        by_format.setdefault(_format(path), []).append(path)
    parts = []
    for format_, paths in by_format.items():
        if format_ == "csv":
            parts += _csv(paths, skip_bad, serial)
        else:
            parts += _json(con, paths, skip_bad) if format_ == "json" else _parquet(con, paths)
    return parts


def _matching(patterns: Iterable[str]) -> list[str]:
    """The files that are named or match a pattern."""
    files = []
    for pattern in patterns:
        found = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        if not found:
            raise FileError(f"expected a log at {pattern!r}, there is no such file")
        for path in found:
            if Path(path).is_dir():
                raise FileError(f"expected a file as log, {path!r} is a folder; name its files: {path}/*.parquet")
        files += found
    return files


def _format(path: str) -> str:
    name = path.lower().removesuffix(".gz")
    for format_, suffixes in FORMATS.items():
        if name.endswith(suffixes):
            return format_
    known = ", ".join(suffix for suffixes in FORMATS.values() for suffix in suffixes)
    raise FileError(f"expected a log that ends in one of {known} (or the same with .gz), got {path!r}")


def _parquet(con: DuckDBPyConnection, paths: list[str]) -> list[Source]:
    pattern = "read_parquet({files}, union_by_name=true)"
    part = Source(pattern, {}, tuple(paths))
    return [Source(pattern, _described(con, part.scan), tuple(paths))]


def _json(con: DuckDBPyConnection, paths: list[str], skip_bad: bool) -> list[Source]:
    import duckdb

    options = f"ignore_errors={str(skip_bad).lower()}, format='newline_delimited', records=true"
    looked = Source(f"read_json({{files}}, union_by_name=true, sample_size=-1, {options})", {}, tuple(paths))
    try:
        found = _described(con, looked.scan)
    except duckdb.Error as error:
        raise _no_object(paths) or error from error
    # What is neither a number nor made of parts stays text: a name that looks like a date must not be rewritten.
    types = {
        column: type_ if type_ in NUMBERS or type_.endswith(("]", ")")) else "VARCHAR"
        for column, type_ in found.items()
    }
    columns = "{" + ", ".join(f"{quoted(column)}: {quoted(type_)}" for column, type_ in types.items()) + "}"
    return [Source(f"read_json({{files}}, columns={columns}, {options})", types, tuple(paths))]


def _no_object(paths: list[str]) -> FileError | None:
    """The first line that is no JSON object, in words; None where each is one for Python."""
    for path in paths:
        with _opened(path) as file, contextlib.suppress(OSError, EOFError, zlib.error):
            for number, line in enumerate(filter(bytes.strip, file), start=1):
                if not _is_object(line):
                    shown = line.decode(errors="replace").strip()
                    return FileError(
                        f"{path}, row {number:,}: expected a line with a JSON object, got {shown[:SHOWN]!r}; correct it"
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
    alike: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for path in paths:
        alike.setdefault(_csv_header(path), []).append(path)
    parts = []
    for (delimiter, header), files in alike.items():
        columns = "{" + ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in header) + "}"
        pattern = (
            f"read_csv({{files}}, columns={columns}, delim={quoted(delimiter)}, quote='\"', escape='\"', header=true, "
            f"auto_detect=false, null_padding=true, store_rejects={str(skip_bad).lower()}, "
            f"parallel={str(not serial).lower()})"
        )
        parts.append(Source(pattern, dict.fromkeys(header, "VARCHAR"), tuple(files), is_text=True))
    return parts


def _csv_header(path: str) -> tuple[str, tuple[str, ...]]:
    """The delimiter and the column names of a CSV file."""
    try:
        with _opened(path) as file:
            line = file.readline(LONGEST_HEADER).decode("utf-8-sig").rstrip("\r\n").partition("\r")[0]
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"expected {path!r} as text in UTF-8, its first line is not") from error
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
