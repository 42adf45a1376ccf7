"""CSV logs: delimiter, header and missing values; one source for all files with the same header.

Every value is read as text. Columns without a name, and all columns of files without a header, are named by their
number: `#1`, `#2`.
"""

from __future__ import annotations

import csv
import io
import zlib
from typing import TYPE_CHECKING, NamedTuple

from fwrl.errors import FileError
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.found_files import FoundFile, opened, with_one_line_ending
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.scan import FILE, Source
from fwrl.planner.ingest.schema import COLUMNS
from fwrl.planner.ingest.sql import identifier, listed, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DELIMITERS = ",;\t|"
BLANKS = " "  # the delimiter of columns with one or more blanks between them
LONGEST_HEADER = 1 << 20  # bytes
NO_DELIMITER = "\x01"  # a character that no line has
SHOWN = 80  # characters of a line in a message


class Header(NamedTuple):
    """How the lines of a CSV file are divided."""

    delimiter: str
    names: tuple[str, ...]
    has_line: bool


def csv_sources(con: DuckDBPyConnection, files: list[FoundFile], options: ReadOptions, folder: str) -> list[Source]:
    """One source for the files with the same header."""
    by_header: dict[Header, list[FoundFile]] = {}
    for file in files:
        header, mixed = _header(con, file, options)
        if (mixed or options.one_line_ending) and not file.is_address:
            file = with_one_line_ending(file, folder)
        by_header.setdefault(header, []).append(file)
    return [_source(header, files, options) for header, files in by_header.items()]


def _source(header: Header, files: list[FoundFile], options: ReadOptions) -> Source:
    types = dict.fromkeys(header.names, "VARCHAR")
    pattern = _blank_separated(header, options) if header.delimiter == BLANKS else _delimited(header, types, options)
    paths, shown = tuple(file.path for file in files), {file.path: file.shown for file in files}
    return Source(pattern, types, paths, is_text=True, shown=shown)


def _delimited(header: Header, types: dict[str, str], options: ReadOptions) -> str:
    terms = [
        f"columns={struct(types)}",
        f"delim={quoted(header.delimiter)}",
        "quote='\"'",
        "escape='\"'",
        f"header={sql_bool(header.has_line)}",
        "auto_detect=false",
        "null_padding=true",
        f"nullstr=[{listed(map(quoted, options.missing))}]",
        "allow_quoted_nulls=false",
        f"filename={quoted(FILE)}",
        f"store_rejects={sql_bool(options.skip_bad)}",
        f"parallel={sql_bool(not options.serial)}",
    ]
    return f"read_csv({listed(['{files}', *terms])})"


def _blank_separated(header: Header, options: ReadOptions) -> str:
    lines = _lines(header.has_line, options.skip_bad)
    missing = f"[{listed(map(quoted, options.missing))}]"
    parts = f"(SELECT string_split_regex(trim(line, ' \t\r'), '[ \t]+') AS parts, {FILE} FROM {lines})"
    columns = (
        f"CASE WHEN parts[{k}] NOT IN {missing} THEN parts[{k}] END AS {identifier(name)}"
        for k, name in enumerate(header.names, start=1)
    )
    return f"(SELECT {listed([*columns, FILE])} FROM {parts} WHERE parts <> [''])"


def _lines(skip_first: bool = False, skip_bad: bool = False) -> str:
    terms = [
        "columns={'line': 'VARCHAR'}",
        f"delim={quoted(NO_DELIMITER)}",
        "quote=''",
        "escape=''",
        "header=false",
        "auto_detect=false",
        f"skip={int(skip_first)}",
        f"filename={quoted(FILE)}",
        f"store_rejects={sql_bool(skip_bad)}",
    ]
    return f"read_csv({listed(['{files}', *terms])})"


def _header(con: DuckDBPyConnection, file: FoundFile, options: ReadOptions) -> tuple[Header, bool]:
    """How lines are divided, and whether the first lines differ in how they end."""
    line, mixed = _first_line(con, file)
    delimiter = max(DELIMITERS, key=line.count)
    if delimiter not in line and BLANKS in line.strip():
        delimiter = BLANKS
    fields = line.split() if delimiter == BLANKS else _fields(line, delimiter)
    if not options.has_header:
        return Header(delimiter, _numbered(file, fields, options), False), mixed
    names = [name.strip() or f"#{number}" for number, name in enumerate(fields, start=1)]
    folded = {name.casefold() for name in names}
    if not any(field.strip() for field in fields) or len(folded) < len(names) or "\0" in line:
        raise LogError(
            f"expected a first line of distinct column names in {file.shown!r}, got {line[:SHOWN]!r}", "header"
        )
    return Header(delimiter, tuple(names), True), mixed


def _numbered(file: FoundFile, fields: list[str], options: ReadOptions) -> tuple[str, ...]:
    """The names of the columns of a file without a header."""
    if not fields:
        raise FileError(f"{file.shown!r} is empty")
    named = {field.strip().casefold() for field in fields} & set(COLUMNS)
    if named and options.header is None:
        problem = f"columns are given by number, but the first line of {file.shown!r} has the name {min(named)!r}"
        raise LogError(problem, "header")
    return tuple(f"#{number}" for number in range(1, len(fields) + 1))


def _fields(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(line), delimiter=delimiter), [])
    except csv.Error:
        return []


def _first_line(con: DuckDBPyConnection, file: FoundFile) -> tuple[str, bool]:
    """The first line, and whether the first lines differ in how they end."""
    if opened_by_duckdb(file):
        return first_line(con, file), False
    try:
        with opened(file.path) as lines:
            head = lines.read(LONGEST_HEADER)
        line = head.partition(b"\n")[0].partition(b"\r")[0].decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise FileError(f"cannot read {file.shown!r}: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise FileError(f"the first line of {file.shown!r} is not text in UTF-8") from error
    both = head.count(b"\r\n")
    alone = head.count(b"\n") - both, head.count(b"\r") - both - head.endswith(b"\r")
    return line, sum(n > 0 for n in (both, *alone)) > 1


def opened_by_duckdb(file: FoundFile) -> bool:
    """Whether only DuckDB can open it."""
    return file.is_address or file.path.lower().endswith(".zst")


def first_line(con: DuckDBPyConnection, file: FoundFile) -> str:
    """The first line of a file, read by DuckDB."""
    query = _lines().replace("{files}", f"[{quoted(file.path)}]")
    rows = con.execute(f"SELECT line FROM {query} LIMIT 1").fetchall()
    return (str(rows[0][0]) if rows and rows[0][0] is not None else "").lstrip("\ufeff").rstrip("\r")


def struct(types: dict[str, str]) -> str:
    """Types of columns as DuckDB's readers take them."""
    return "{" + listed(f"{quoted(column)}: {quoted(type_)}" for column, type_ in types.items()) + "}"


def sql_bool(value: bool) -> str:
    """A truth value in SQL."""
    return str(value).lower()
