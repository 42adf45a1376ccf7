"""A source of rows: something that DuckDB can scan, with the types of its columns."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fwrl.planner.ingest.found_files import ADDRESS
from fwrl.planner.ingest.sql import listed, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")  # fit into 64 signed bits
INTEGERS = (*SIGNED, "UBIGINT", "HUGEINT", "UHUGEINT")
EMPTY = '"NULL"'  # DuckDB's type of a column without any value, which is read as text without any
FILE = "fwrl_file"  # the column for the file of a row, which readers add
ROW = "fwrl_row"  # the column for the number of a row in a source without order


@dataclass(frozen=True)
class Source:
    """Rows of one table, or of files of one format with the same columns.

    Attributes:
        pattern: What stands after FROM; `{files}` in it is replaced by a list of files.
        types: DuckDB's type of each column.
        files: The files; none for a table in memory.
        is_text: Whether every value is text, as in CSV.
        shown: What messages call a file, where it differs: one that was unpacked or came from standard input.

    """

    pattern: str
    types: Mapping[str, str]
    files: tuple[str, ...] = ()
    is_text: bool = False
    shown: Mapping[str, str] = field(default_factory=dict)

    @property
    def scan(self) -> str:
        """What stands after FROM to read all of it."""
        return self.scan_of(self.files)

    def scan_of(self, files: Iterable[str]) -> str:
        """What stands after FROM to read some of its files."""
        return scan_of_files(self.pattern, files)

    @property
    def name(self) -> str:
        """What messages call it."""
        return repr(self.file_name(self.files[0])) if self.files else "the table"

    def file_name(self, file: str) -> str:
        """What messages call one of its files."""
        return self.shown.get(file, file)

    @property
    def has_parts(self) -> bool:
        """Whether the order of some rows is unknown; the address of several files may have a `*` in it."""
        return len(self.files) > 1 or ROW in self.types or any("*" in file for file in self.files)

    @property
    def part(self) -> str:
        """A term that is the same for rows whose order is known: those of one file, or of one table."""
        if self.files:
            return f"hash({FILE})"
        return f"hash({ROW})" if ROW in self.types else "0::UBIGINT"


def scan_of_files(pattern: str, files: Iterable[str]) -> str:
    """`pattern` with `files` in place of `{files}`.

    DuckDB takes every path for a pattern. The characters `*`, `?` and `[` of a local one stand for themselves; an
    address may be a pattern.
    """
    paths = (file if ADDRESS.match(file) else glob.escape(file) for file in files)
    return pattern.replace("{files}", f"[{listed(map(quoted, paths))}]")


def name_in_duckdb(file: str) -> str:
    """What DuckDB calls a file in rows and in messages: without `.` and `..` if the name has characters of patterns.

    >>> name_in_duckdb("./log.csv"), name_in_duckdb("./log[1].csv")
    ('./log.csv', 'log[1].csv')
    """
    return file if ADDRESS.match(file) or glob.escape(file) == file else os.path.normpath(file)


def column_types(con: DuckDBPyConnection, scan: str) -> dict[str, str]:
    """DuckDB's type of each column."""
    described = con.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    types = {str(row[0]): str(row[1]) for row in described if row[0] != FILE}
    return {column: "VARCHAR" if type_ == EMPTY else type_ for column, type_ in types.items()}
