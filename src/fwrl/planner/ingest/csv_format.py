"""CSV logs: delimiter, header and missing values; one source for all files with the same header.

Every value is read as text, without blanks around it. Columns without a name, those that share one, and all columns of
files without a header, are named by their number: `#1`, `#2`.
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from fwrl.errors import FileError
from fwrl.planner.ingest.copies import TextFile, in_utf8, opened, with_one_line_ending
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.found_files import FoundFile
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
UNREADABLE = (OSError, EOFError, zlib.error)
QUOTED = re.compile(r'"(?:[^"]|"")*"?')
SEPARATOR = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # a first line by which spreadsheets name the delimiter


class Header(NamedTuple):
    """How the lines of a CSV file are divided.

    Attributes:
        delimiter: What stands between columns.
        names: What the columns are called here.
        has_line: Whether a line has their names.
        skipped: Number of lines before it.

    """

    delimiter: str
    names: tuple[str, ...]
    has_line: bool
    skipped: int


class Beginning(NamedTuple):
    """How a CSV file begins.

    Attributes:
        line: Its first line with values or names; one with line breaks in quotes whole.
        skipped: Number of lines before it: blank ones, and one that names the delimiter.
        delimiter: The delimiter that such a line names, or an empty text.
        is_mixed: Whether the first lines differ in how they end.

    """

    line: str
    skipped: int = 0
    delimiter: str = ""
    is_mixed: bool = False


def csv_sources(con: DuckDBPyConnection, files: list[FoundFile], options: ReadOptions, folder: str) -> list[Source]:
    """One source for the files with the same header."""
    by_header: dict[Header, list[FoundFile]] = {}
    for file in files:
        file = as_utf8(file, options, folder)
        beginning = _beginning(con, file)
        if (beginning.is_mixed or options.one_line_ending) and not opened_by_duckdb(file):
            file = file._replace(path=with_one_line_ending(TextFile(file.path, file.shown), folder))
        by_header.setdefault(_header(file, beginning, options), []).append(file)
    return [_source(header, files, options) for header, files in by_header.items()]


def as_utf8(file: FoundFile, options: ReadOptions, folder: str) -> FoundFile:
    """A text file in UTF-8, copied if it is not; what only DuckDB can open stays as it is."""
    if opened_by_duckdb(file):
        if not options.is_utf8:
            raise FileError(f"{file.shown!r} can only be read in UTF-8; copy it here unpacked first")
        return file
    try:
        return file._replace(path=in_utf8(TextFile(file.path, file.shown), options.encoding, folder, f".{file.format}"))
    except UNREADABLE as error:
        raise _unreadable(file, error) from error


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
        f"skip={header.skipped}",
        "auto_detect=false",
        "null_padding=true",
        f"nullstr=[{listed(map(quoted, options.missing))}]",
        "allow_quoted_nulls=false",
        f"filename={quoted(FILE)}",
        f"store_rejects={sql_bool(options.skip_bad)}",
        f"parallel={sql_bool(not options.serial)}",
    ]
    missing = f"[{listed(map(quoted, options.missing))}]"
    columns = (_trimmed(identifier(name), missing) for name in header.names)
    return f"(SELECT {listed([*columns, FILE])} FROM read_csv({listed(['{files}', *terms])}))"


def _trimmed(column: str, missing: str) -> str:
    """A term for a column without blanks around its values; what is missing then is so before blanks, too."""
    bare = f"trim({column}, ' \t')"
    return f"CASE WHEN {column} = {bare} THEN {column} WHEN {bare} NOT IN {missing} THEN {bare} END AS {column}"


def _blank_separated(header: Header, options: ReadOptions) -> str:
    lines = _lines(header.skipped + header.has_line, options.skip_bad)
    missing = f"[{listed(map(quoted, options.missing))}]"
    parts = f"(SELECT string_split_regex(trim(line, ' \t\r'), '[ \t]+') AS parts, {FILE} FROM {lines})"
    columns = (
        f"CASE WHEN parts[{k}] NOT IN {missing} THEN parts[{k}] END AS {identifier(name)}"
        for k, name in enumerate(header.names, start=1)
    )
    return f"(SELECT {listed([*columns, FILE])} FROM {parts} WHERE parts <> [''])"


def _lines(skipped: int = 0, skip_bad: bool = False) -> str:
    terms = [
        "columns={'line': 'VARCHAR'}",
        f"delim={quoted(NO_DELIMITER)}",
        "quote=''",
        "escape=''",
        "header=false",
        "auto_detect=false",
        f"skip={skipped}",
        f"filename={quoted(FILE)}",
        f"store_rejects={sql_bool(skip_bad)}",
    ]
    return f"read_csv({listed(['{files}', *terms])})"


def _header(file: FoundFile, beginning: Beginning, options: ReadOptions) -> Header:
    """How the lines of a file are divided."""
    line = beginning.line
    if not line.strip():
        raise FileError(f"{file.shown!r} is empty")
    unquoted = QUOTED.sub("", line)
    delimiter = beginning.delimiter or max(DELIMITERS, key=unquoted.count)
    if delimiter not in line and BLANKS in line.strip():
        delimiter = BLANKS
    fields = line.split() if delimiter == BLANKS else _fields(line, delimiter)
    if not options.has_header:
        return Header(delimiter, _numbered(file, fields, options), False, beginning.skipped)
    if "\0" in line:
        raise LogError(f"the first line of {file.shown!r} is not text in UTF-8", "encoding")
    if not any(field.strip() for field in fields):
        raise LogError(f"expected a first line of column names in {file.shown!r}, got {line[:SHOWN]!r}", "header")
    return Header(delimiter, _distinct(file, [field.strip() for field in fields], options), True, beginning.skipped)


def _distinct(file: FoundFile, names: list[str], options: ReadOptions) -> tuple[str, ...]:
    """The names of columns; their numbers where they have none, or share one that is not needed."""
    times = Counter(name.casefold() for name in names)
    for name in COLUMNS:
        if times[name] > 1 and name not in options.columns:
            raise LogError(f"{file.shown!r} has {times[name]} columns named {name!r}", "columns")
    return tuple(
        name if name and times[name.casefold()] == 1 else f"#{number}" for number, name in enumerate(names, start=1)
    )


def _numbered(file: FoundFile, fields: list[str], options: ReadOptions) -> tuple[str, ...]:
    """The names of the columns of a file without a header."""
    named = {field.strip().casefold() for field in fields} & set(COLUMNS)
    if named and options.header is None:
        problem = f"columns are given by number, but the first line of {file.shown!r} has the name {min(named)!r}"
        raise LogError(problem, "header")
    return tuple(f"#{number}" for number in range(1, len(fields) + 1))


def _fields(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


def _beginning(con: DuckDBPyConnection, file: FoundFile) -> Beginning:
    """How a CSV file begins."""
    if opened_by_duckdb(file):
        return Beginning(first_line(con, file))
    try:
        with opened(file.path) as lines:
            head = lines.read(LONGEST_HEADER)
    except UNREADABLE as error:
        raise _unreadable(file, error) from error
    both = head.count(b"\r\n")
    alone = head.count(b"\n") - both, head.count(b"\r") - both - head.endswith(b"\r")
    return _first_record(file, head)._replace(is_mixed=sum(n > 0 for n in (both, *alone)) > 1)


def _first_record(file: FoundFile, head: bytes) -> Beginning:
    """The first line of `head` with values or names, and what is before it."""
    lines = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    delimiter, first = "", 0
    try:
        while first < len(lines) and not lines[first].strip():
            first += 1
        if first < len(lines) and (found := SEPARATOR.fullmatch(lines[first].decode("utf-8-sig"))):
            delimiter, first = found[1], first + 1
        last = first + 1
        while last < len(lines) and b"".join(lines[first:last]).count(b'"') % 2:
            last += 1
        if last == len(lines) and last > first + 1:
            last = first + 1  # a quote that is never closed
        return Beginning(b"\n".join(lines[first:last]).decode("utf-8-sig"), first, delimiter)
    except UnicodeDecodeError:
        raise LogError(f"the first line of {file.shown!r} is not text in UTF-8", "encoding") from None


def _unreadable(file: FoundFile, error: Exception) -> FileError:
    return FileError(f"cannot read {file.shown!r}: {getattr(error, 'strerror', None) or error}")


def opened_by_duckdb(file: FoundFile) -> bool:
    """Whether DuckDB alone can open it."""
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
