"""CSV logs: the line that names the columns, delimiter, missing values; one source for all files with the same header.

Every value is read as text, without blanks around it. Columns without a name, those that share one, and all columns of
files without a header, are named by their number: `#1`, `#2`. Folders such as `day=2024-05-01` (Hive's partitions) name
further columns.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple

from fwrl.errors import FileError
from fwrl.planner.ingest.discover import PIECE, FoundFile, as_utf8, folder_keys, opened, pieces_of, readable
from fwrl.planner.ingest.read_options import COLUMNS, LogError, ReadOptions
from fwrl.planner.ingest.reader import FILE, Source, identifier, listed, quoted, scan_of_files, sql_bool

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LONGEST_HEADER = 1 << 20  # bytes
LONGEST_LINE = 2_000_000  # bytes; DuckDB buffers twice that; its default, 32 MB, wouldn't fit a small memory limit
LOST = 8 << 20  # bytes before the end of a file that DuckDB may leave out: two buffers, rounded up
NO_DELIMITER = "\x01"  # a character that no line has
LINE_END = re.compile(rb"[\r\n]")
PADDED = re.compile(rb"(?:\A|[,;|\t\r\n]) | (?:[,;|\t\r\n]|\Z)|[,;|]\t|\t[,;|]")  # a blank next to a delimiter
SEPARATOR = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # a first line by which spreadsheets name the delimiter


def _refuse_lost_rows(file: FoundFile, delimiter: str) -> None:
    """Refuse a long last line, or a quote that isn't closed: DuckDB would leave out what follows, silently."""
    with readable(file.shown), opened(file.path) as lines:
        if isinstance(lines, io.BufferedReader):  # not packed
            lines.seek(max(0, lines.seek(0, os.SEEK_END) - LOST))
        end = b"".join(deque(pieces_of(lines), LOST // PIECE + 1)).rstrip(b"\r\n")
    if len(end) > LONGEST_LINE and not LINE_END.search(end, len(end) - LONGEST_LINE):
        raise _long_line(file, "the last line", LONGEST_LINE)
    quote, around = end.rfind(b'"', 0, -LONGEST_LINE), (delimiter + "\r\n").encode()
    if quote > 0 and end.rfind(b'"') == quote and end[quote - 1] in around and end[quote + 1] not in around:
        value = end[quote + 1 : quote + 1 + SHOWN].decode(errors="replace").splitlines()[0]
        raise FileError(f"{file.shown!r} has a quote before {value!r} that isn't closed; close it, or remove it")


def _long_line(file: FoundFile, which: str, most: int) -> FileError:
    rows = "write every row on a separate line" if which == "the first line" else "correct it"
    return FileError(f"{which} of {file.shown!r} is a line of more than {most:,} bytes; {rows}")


DELIMITERS = ",;\t|"
SHOWN = 80  # characters of a line in a message
QUOTED = re.compile(r'"(?:[^"]|"")*"?')


class Header(NamedTuple):
    """How the lines of a CSV file are divided."""

    delimiter: str  # between columns
    names: tuple[str, ...]  # of the columns, as fwrl calls them
    has_line: bool  # whether a line has their names
    skipped: int  # number of lines before it
    is_padded: bool  # whether there are blanks around values
    keys: tuple[str, ...] = ()  # further columns, which folders name


def csv_sources(con: DuckDBPyConnection, files: list[FoundFile], options: ReadOptions, folder: str) -> list[Source]:
    """One source for the files with the same header."""
    by_header: dict[Header, list[FoundFile]] = {}
    for file in files:
        file = as_utf8(file, options, folder)
        header = _header(con, file, options)
        if not file.is_address:
            _refuse_lost_rows(file, header.delimiter)
        keys, named = folder_keys(file.path), {name.casefold() for name in header.names}
        if named.isdisjoint(key.casefold() for key in keys):  # a column of the file comes before one of its folder
            header = header._replace(keys=keys)
        by_header.setdefault(header, []).append(file)
    return [_source(header, files, options) for header, files in by_header.items()]


def _source(header: Header, files: list[FoundFile], options: ReadOptions) -> Source:
    types = dict.fromkeys(header.names, "VARCHAR")
    missing = f"[{listed(map(quoted, options.missing))}]"
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
        f"hive_partitioning={sql_bool(bool(header.keys))}",
        "hive_types_autocast=false",
        f"nullstr={missing}",
        "allow_quoted_nulls=false",
        f"filename={quoted(FILE)}",
        f"store_rejects={sql_bool(options.skip_bad)}",
    ]
    pattern = f"read_csv({listed(['{files}', *terms])})"
    if header.is_padded:
        columns = [_trimmed(identifier(name), missing) for name in header.names]
        pattern = f"(SELECT {listed([*columns, *map(identifier, header.keys), FILE])} FROM {pattern})"
    paths, shown = tuple(file.path for file in files), {file.path: file.shown for file in files}
    return Source(pattern, types | dict.fromkeys(header.keys, "VARCHAR"), paths, is_text=True, shown=shown)


def _trimmed(column: str, missing: str) -> str:
    """A term for a column without blanks around its values; what is missing then is so before blanks, too."""
    bare = f"trim({column}, ' \t')"
    return f"CASE WHEN {column} = {bare} THEN {column} WHEN {bare} NOT IN {missing} THEN {bare} END AS {column}"


def _header(con: DuckDBPyConnection, file: FoundFile, options: ReadOptions) -> Header:
    """How the lines of a file are divided."""
    head = _head(con, file)
    lines = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    delimiter, first = "", 0
    try:
        while first < len(lines) and not lines[first].strip():
            first += 1
        if first < len(lines) and (found := SEPARATOR.fullmatch(lines[first].decode("utf-8-sig"))):
            delimiter, first = found[1], first + 1
        last = first + 1
        while last < len(lines) and b"".join(lines[first:last]).count(b'"') % 2:
            last += 1  # a name with line breaks
        if last == len(lines) and last > first + 1:
            last = first + 1  # a quote that is never closed
        line = b"\n".join(lines[first:last]).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LogError(f"the first line of {file.shown!r} is not text in UTF-8", "encoding") from None
    if not line.strip():
        raise FileError(f"{file.shown!r} is empty; leave it out, or write it again")
    delimiter = delimiter or max(DELIMITERS, key=QUOTED.sub("", line).count)
    if delimiter not in line and " " in line.strip():
        raise FileError(f"{file.shown!r} has only blanks between its columns; put commas there, as with tr -s ' ' ,")
    names = _names(file, line, delimiter, options)
    return Header(delimiter, names, options.has_header, first, PADDED.search(head) is not None)


def _head(con: DuckDBPyConnection, file: FoundFile) -> bytes:
    """The first bytes of a file; of one at an address, which DuckDB reads, the first line."""
    if file.is_address:
        terms = ["columns={'line': 'VARCHAR'}", f"delim={quoted(NO_DELIMITER)}", "quote=''", "header=false"]
        terms += ["auto_detect=false", f"max_line_size={LONGEST_LINE}", f"buffer_size={2 * LONGEST_LINE}"]
        scan = scan_of_files(f"read_csv({listed(['{files}', *terms])})", [file.path])
        rows = con.execute(f"SELECT line FROM {scan} LIMIT 1").fetchall()
        return str(rows[0][0]).encode() if rows and rows[0][0] is not None else b""
    with readable(file.shown), opened(file.path) as lines:
        head = lines.read(LONGEST_HEADER)
    if len(head) == LONGEST_HEADER and not LINE_END.search(head):
        raise _long_line(file, "the first line", LONGEST_HEADER)
    return head


def _names(file: FoundFile, line: str, delimiter: str, options: ReadOptions) -> tuple[str, ...]:
    """The names of columns; their numbers where they have none, or share one that is not needed."""
    try:
        names = [name.strip() for name in next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter), [])]
    except csv.Error:
        names = []
    times = Counter(name.casefold() for name in names)
    if not options.has_header:
        named = times.keys() & set(COLUMNS)
        if named and options.header is None:
            problem = f"columns are given by number, but the first line of {file.shown!r} has the name {min(named)!r}"
            raise LogError(problem, "header")
        return tuple(f"#{number}" for number in range(1, len(names) + 1))
    if "\0" in line:
        raise LogError(f"the first line of {file.shown!r} is not text in UTF-8", "encoding")
    if not any(names):
        raise LogError(f"expected a first line of column names in {file.shown!r}, got {line[:SHOWN]!r}", "header")
    for name in COLUMNS:
        if times[name] > 1 and name not in options.columns:
            raise LogError(f"{file.shown!r} has {times[name]} columns named {name!r}", "columns")
    return tuple(
        name if name and times[name.casefold()] == 1 else f"#{number}" for number, name in enumerate(names, start=1)
    )


def struct(types: dict[str, str]) -> str:
    """Types of columns as DuckDB's readers take them."""
    return "{" + listed(f"{quoted(column)}: {quoted(type_)}" for column, type_ in types.items()) + "}"
