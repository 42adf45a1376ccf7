"""A DuckDB connection with a limit on memory, a watch on how far it is, and errors in our words."""

from __future__ import annotations

import contextlib
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from fwrl.errors import FwrlError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Progress = Callable[[str, float], None]

POLL = 0.1  # seconds between two looks at how far DuckDB is
KIND = re.compile(r"^[A-Z][\w ]* Error: ")  # what DuckDB's messages begin with


class BrokenLinesError(FwrlError):
    """A CSV file has line breaks inside quotes, which only one thread can read."""


def quoted(text: str) -> str:
    """A string in SQL."""
    return "'" + text.replace("'", "''") + "'"


class Reader:
    """Runs queries, telling how far they are."""

    def __init__(self, con: DuckDBPyConnection, progress: Progress | None) -> None:
        self.con, self._progress = con, progress

    def run(self, what: str, query: str) -> None:
        """Execute a query, telling the watch."""
        if self._progress is None:
            self.con.execute(query)
            return
        failed: list[BaseException] = []

        def work() -> None:
            try:
                self.con.execute(query)
            except BaseException as error:
                failed.append(error)

        worker = threading.Thread(target=work)
        worker.start()
        try:
            while worker.is_alive():
                worker.join(POLL)
                self._progress(what, max(0.0, self.con.query_progress()) / 100)
        except BaseException:
            self.con.interrupt()
            worker.join()
            raise
        if failed:
            raise failed[0]

    def one(self, query: str) -> tuple[Any, ...]:
        """The only row of an answer."""
        rows: list[tuple[Any, ...]] = self.con.execute(query).fetchall()  # all, or DuckDB would not finish the query
        return rows[0]


@contextlib.contextmanager
def reading(memory: str, progress: Progress | None, what: str = "log", more: str = "") -> Iterator[Reader]:
    """A reader; what DuckDB says against `what` it reads becomes one of our errors, with how to allow `more` memory."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="fwrl-") as folder, duckdb.connect() as con:
        try:
            con.execute(f"SET memory_limit={quoted(memory)}; SET temp_directory={quoted(folder)}")
            con.execute("SET enable_progress_bar=false")
            con.execute("SET preserve_insertion_order=false; SET TimeZone='UTC'")
            yield Reader(con, progress)
        except duckdb.OutOfMemoryException as error:
            raise FwrlError(f"the {what} needs more memory than {memory}{more}: {_first(error)}") from error
        except duckdb.Error as error:
            kind = BrokenLinesError if "quoted new lines" in str(error) else FwrlError
            raise kind(f"cannot read the {what}: {_first(error)}") from error


def _first(error: Exception) -> str:
    """The sentence of DuckDB's message that matters, and the file it names."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = KIND.sub("", lines[0])
    more = ""
    if said.startswith("CSV Error"):
        more = next((line for line in lines[1:] if not line.startswith("Original Line")), "")
    file = next((line.removeprefix("file = ") for line in lines if line.startswith("file = ")), "")
    return " ".join(part for part in (f"{file}:" if file else "", said, more) if part).replace("\0", "")
