"""CSV logs: delimiter, header and missing values; one source for all files with the same header.

Every value is read as text, without blanks around it. Columns without a name, those that share one, and all columns of
files without a header, are named by their number: `#1`, `#2`.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from fwrl.errors import FileError
from fwrl.planner.ingest.copies import TextFile, with_one_line_ending
from fwrl.planner.ingest.csv_beginning import (
    LONGEST_LINE,
    Beginning,
    as_utf8,
    beginning_of,
    lines_of_files,
    opened_by_duckdb,
)
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.folder_keys import folder_keys, with_folder_keys
from fwrl.planner.ingest.found_files import FoundFile
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.scan import FILE, Source
from fwrl.planner.ingest.schema import COLUMNS
from fwrl.planner.ingest.sql import identifier, listed, quoted, sql_bool

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

DELIMITERS = ",;\t|"
BLANKS = " "  # the delimiter of columns with one or more blanks between them
SHOWN = 80  # characters of a line in a message
QUOTED = re.compile(r'"(?:[^"]|"")*"?')


class Header(NamedTuple):
    """How the lines of a CSV file are divided.

    Attributes:
        delimiter: What stands between columns.
        names: What the columns are called here.
        has_line: Whether a line has their names.
        skipped: Number of lines before it.
        is_padded: Whether there are blanks around values.
        keys: Further columns, which folders name.

    """

    delimiter: str
    names: tuple[str, ...]
    has_line: bool
    skipped: int
    is_padded: bool
    keys: tuple[str, ...] = ()


def csv_sources(con: DuckDBPyConnection, files: list[FoundFile], options: ReadOptions, folder: str) -> list[Source]:
    """One source for the files with the same header."""
    by_header: dict[Header, list[FoundFile]] = {}
    for file in files:
        file = as_utf8(file, options, folder)
        beginning = beginning_of(con, file)
        if (beginning.is_mixed or options.one_line_ending) and not opened_by_duckdb(file):
            file = file._replace(path=with_one_line_ending(TextFile(file.path, file.shown), folder))
        header = _header(file, beginning, options)
        named = {name.casefold() for name in header.names}
        keys = tuple(key for key in folder_keys(file.shown) if key.casefold() not in named)
        by_header.setdefault(header._replace(keys=keys), []).append(file)
    return [_source(header, files, options) for header, files in by_header.items()]


def _source(header: Header, files: list[FoundFile], options: ReadOptions) -> Source:
    types = dict.fromkeys(header.names, "VARCHAR")
    pattern = _blank_separated(header, options) if header.delimiter == BLANKS else _delimited(header, types, options)
    paths, shown = tuple(file.path for file in files), {file.path: file.shown for file in files}
    pattern = with_folder_keys(pattern, header.keys, shown)
    return Source(pattern, types | dict.fromkeys(header.keys, "VARCHAR"), paths, is_text=True, shown=shown)


def _delimited(header: Header, types: dict[str, str], options: ReadOptions) -> str:
    terms = [
        f"columns={struct(types)}",
        f"delim={quoted(header.delimiter)}",
        "quote='\"'",
        "escape='\"'",
        f"header={sql_bool(header.has_line)}",
        f"skip={header.skipped}",
        f"max_line_size={LONGEST_LINE}",
        f"buffer_size={2 * LONGEST_LINE}",
        "auto_detect=false",
        "hive_partitioning=false",
        "null_padding=true",
        f"nullstr=[{listed(map(quoted, options.missing))}]",
        "allow_quoted_nulls=false",
        f"filename={quoted(FILE)}",
        f"store_rejects={sql_bool(options.skip_bad)}",
        f"parallel={sql_bool(not options.serial)}",
    ]
    missing = f"[{listed(map(quoted, options.missing))}]"
    read = f"read_csv({listed(['{files}', *terms])})"
    if not header.is_padded:
        return read
    columns = (_trimmed(identifier(name), missing) for name in header.names)
    return f"(SELECT {listed([*columns, FILE])} FROM {read})"


def _trimmed(column: str, missing: str) -> str:
    """A term for a column without blanks around its values; what is missing then is so before blanks, too."""
    bare = f"trim({column}, ' \t')"
    return f"CASE WHEN {column} = {bare} THEN {column} WHEN {bare} NOT IN {missing} THEN {bare} END AS {column}"


def _blank_separated(header: Header, options: ReadOptions) -> str:
    lines = lines_of_files(header.skipped + header.has_line, options.skip_bad)
    missing = f"[{listed(map(quoted, options.missing))}]"
    parts = f"(SELECT string_split_regex(trim(line, ' \t\r'), '[ \t]+') AS parts, {FILE} FROM {lines})"
    columns = (
        f"CASE WHEN parts[{k}] NOT IN {missing} THEN parts[{k}] END AS {identifier(name)}"
        for k, name in enumerate(header.names, start=1)
    )
    return f"(SELECT {listed([*columns, FILE])} FROM {parts} WHERE parts <> [''])"


def _header(file: FoundFile, beginning: Beginning, options: ReadOptions) -> Header:
    """How the lines of a file are divided."""
    line = beginning.line
    if not line.strip():
        raise FileError(f"{file.shown!r} is empty; leave it out, or write it again")
    unquoted = QUOTED.sub("", line)
    delimiter = beginning.delimiter or max(DELIMITERS, key=unquoted.count)
    if delimiter not in line and BLANKS in line.strip():
        delimiter = BLANKS
    fields = line.split() if delimiter == BLANKS else _fields(line, delimiter)
    if not options.has_header:
        names = _numbered(file, fields, options)
        return Header(delimiter, names, False, beginning.skipped, beginning.is_padded)
    if "\0" in line:
        raise LogError(f"the first line of {file.shown!r} is not text in UTF-8", "encoding")
    if not any(field.strip() for field in fields):
        raise LogError(f"expected a first line of column names in {file.shown!r}, got {line[:SHOWN]!r}", "header")
    names = _distinct(file, [field.strip() for field in fields], options)
    return Header(delimiter, names, True, beginning.skipped, beginning.is_padded)


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


def struct(types: dict[str, str]) -> str:
    """Types of columns as DuckDB's readers take them."""
    return "{" + listed(f"{quoted(column)}: {quoted(type_)}" for column, type_ in types.items()) + "}"
