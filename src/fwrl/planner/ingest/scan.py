"""A source of rows: something that DuckDB can scan, with the types of its columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fwrl.planner.ingest.sql import listed, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT")


@dataclass(frozen=True)
class Source:
    """Rows of one table, or of files of one format with the same columns.

    Attributes:
        pattern: What stands after FROM; `{files}` in it is replaced by a list of files.
        types: DuckDB's type of each column.
        files: The files; none for a table in memory.
        is_text: Whether every value is text, as in CSV.

    """

    pattern: str
    types: Mapping[str, str]
    files: tuple[str, ...] = ()
    is_text: bool = False

    @property
    def scan(self) -> str:
        """What stands after FROM to read all of it."""
        return self.scan_of(self.files)

    def scan_of(self, files: Iterable[str]) -> str:
        """What stands after FROM to read some of its files."""
        return self.pattern.replace("{files}", f"[{listed(map(quoted, files))}]")

    @property
    def name(self) -> str:
        """What messages call it."""
        return repr(self.files[0]) if self.files else "the table"


def column_types(con: DuckDBPyConnection, scan: str) -> dict[str, str]:
    """DuckDB's type of each column."""
    return {str(row[0]): str(row[1]) for row in con.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()}
