"""How CSV files begin: the line that names their columns, and what stands before it."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from fwrl.errors import FileError
from fwrl.planner.ingest.copies import TextFile, in_utf8, opened
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.found_files import FoundFile
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.scan import FILE, scan_of_files
from fwrl.planner.ingest.sql import listed, quoted, sql_bool

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LONGEST_HEADER = 1 << 20  # bytes
LONGEST_LINE = 2_000_000  # bytes; DuckDB reads twice as many at once: its own 32 MB would not fit into a small memory
NO_DELIMITER = "\x01"  # a character that no line has
UNREADABLE = (OSError, EOFError, zlib.error)
PADDED = re.compile(rb"(?:\A|[,;|\t\r\n]) | (?:[,;|\t\r\n]|\Z)|[,;|]\t|\t[,;|]")  # a blank beside a delimiter
SEPARATOR = re.compile(r"sep=(.)\s*", re.IGNORECASE)  # a first line by which spreadsheets name the delimiter


class Beginning(NamedTuple):
    """How a CSV file begins.

    Attributes:
        line: Its first line with values or names; one with line breaks in quotes whole.
        skipped: Number of lines before it: blank ones, and one that names the delimiter.
        delimiter: The delimiter that such a line names, or an empty text.
        is_mixed: Whether the first lines differ in how they end.
        is_padded: Whether some of them have blanks around values. Leaving these out of all values takes as long again
            as reading them, so it is done only where there are any.

    """

    line: str
    skipped: int = 0
    delimiter: str = ""
    is_mixed: bool = False
    is_padded: bool = False


def beginning_of(con: DuckDBPyConnection, file: FoundFile) -> Beginning:
    """How a CSV file begins."""
    if opened_by_duckdb(file):
        line = first_line(con, file)
        return Beginning(line, is_padded=PADDED.search(line.encode()) is not None)
    try:
        with opened(file.path) as lines:
            head = lines.read(LONGEST_HEADER)
    except UNREADABLE as error:
        raise _unreadable(file, error) from error
    both = head.count(b"\r\n")
    alone = head.count(b"\n") - both, head.count(b"\r") - both - head.endswith(b"\r")
    is_mixed, is_padded = sum(n > 0 for n in (both, *alone)) > 1, PADDED.search(head) is not None
    return _first_record(file, head)._replace(is_mixed=is_mixed, is_padded=is_padded)


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


def opened_by_duckdb(file: FoundFile) -> bool:
    """Whether DuckDB alone can open it."""
    return file.is_address or file.path.lower().endswith(".zst")


def first_line(con: DuckDBPyConnection, file: FoundFile) -> str:
    """The first line of a file, read by DuckDB."""
    rows = con.execute(f"SELECT line FROM {scan_of_files(lines_of_files(), [file.path])} LIMIT 1").fetchall()
    return (str(rows[0][0]) if rows and rows[0][0] is not None else "").lstrip("\ufeff").rstrip("\r")


def lines_of_files(skipped: int = 0, skip_bad: bool = False) -> str:
    """What stands after FROM to read `{files}` line by line, without the first ones that are `skipped`."""
    terms = [
        "columns={'line': 'VARCHAR'}",
        f"delim={quoted(NO_DELIMITER)}",
        "quote=''",
        "escape=''",
        "header=false",
        "auto_detect=false",
        "hive_partitioning=false",
        f"skip={skipped}",
        f"max_line_size={LONGEST_LINE}",
        f"buffer_size={2 * LONGEST_LINE}",
        f"filename={quoted(FILE)}",
        f"store_rejects={sql_bool(skip_bad)}",
    ]
    return f"read_csv({listed(['{files}', *terms])})"


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


def _unreadable(file: FoundFile, error: Exception) -> FileError:
    return FileError(f"cannot read {file.shown!r}: {getattr(error, 'strerror', None) or error}")
