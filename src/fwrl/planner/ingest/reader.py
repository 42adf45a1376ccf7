"""A DuckDB connection with a limit on memory, a watch on how far it is, and errors in our words."""

from __future__ import annotations

import contextlib
import re
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

T = TypeVar("T")
Progress = Callable[[str, float], None]
Columns = dict[str, NDArray[Any]]

POLL = 0.1  # seconds between two looks at how far DuckDB is
AT_ONCE = 4_000_000  # rows taken from DuckDB in one go
CTRL_C = ("Query interrupted", "KeyboardInterrupt")  # what DuckDB makes of it
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
        self._stoppable(lambda: self.con.execute(query), what)

    def pieces(self, what: str, query: str, most: int) -> Iterator[Columns]:
        """The columns of an answer of at most `most` rows: a long one is written down first, and read bit by bit."""
        if most <= AT_ONCE:
            yield self.columns(query, what)
            return
        self.run(what, f"CREATE OR REPLACE TEMP TABLE spooled AS {query}")
        for first in range(0, int(self.one("SELECT count(*) FROM spooled")[0]), AT_ONCE):
            yield self.columns(f"SELECT * FROM spooled WHERE rowid >= {first} AND rowid < {first + AT_ONCE}")
        self.con.execute("DROP TABLE spooled")

    def columns(self, query: str, what: str = "") -> Columns:
        """The columns of an answer that lacks no value."""
        found = self._stoppable(lambda: self.con.sql(query).fetchnumpy(), what)
        return {name: np.ma.getdata(column) for name, column in found.items()}

    def one(self, query: str) -> tuple[Any, ...]:
        """The only row of an answer."""
        # All rows are fetched, or DuckDB would not finish the query.
        rows: list[tuple[Any, ...]] = self._stoppable(lambda: self.con.execute(query).fetchall())
        return rows[0]

    def _stoppable(self, work: Callable[[], T], what: str = "") -> T:
        """What `work` returns, done in another thread, since DuckDB may not notice Ctrl-C in this one.

        If it is called `what`, the watch is told how far it is.
        """
        promise: Future[T] = Future()
        thread = threading.Thread(target=lambda: _fulfil(promise, work))
        try:
            thread.start()
            self._tell(what, 0.0)
            while not wait([promise], POLL).done:
                self._tell(what, max(0.0, self.con.query_progress()) / 100)
        except BaseException:
            # By its promise: Ctrl-C while joining a thread makes Python take it for ended. The query may not have
            # begun yet, and then does not stop at once.
            while thread.ident is not None and not promise.done():
                self.con.interrupt()
                wait([promise], POLL)
            raise
        return promise.result()

    def _tell(self, what: str, part: float) -> None:
        if what and self._progress is not None:
            self._progress(what, part)


def _fulfil(promise: Future[T], work: Callable[[], T]) -> None:
    try:
        promise.set_result(work())
    except BaseException as error:
        promise.set_exception(error)


@contextlib.contextmanager
def reading(memory: str, progress: Progress | None, what: str = "log", more: str = "") -> Iterator[Reader]:
    """A reader; what DuckDB says against `what` it reads becomes one of our errors, with how to allow `more` memory."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="fwrl-") as folder, duckdb.connect() as con:
        try:
            con.execute(f"SET memory_limit={quoted(memory)}; SET temp_directory={quoted(folder)}")
            con.execute("SET enable_progress_bar=true; SET enable_progress_bar_print=false")
            con.execute("SET preserve_insertion_order=false; SET TimeZone='UTC'")
            yield Reader(con, progress)
        except duckdb.OutOfMemoryException as error:
            raise FwrlError(f"the {what} needs more memory than {memory}{more}: {_first(error)}") from error
        except (duckdb.Error, RuntimeError) as error:
            if _first(error).startswith(CTRL_C):
                raise KeyboardInterrupt from error
            if not isinstance(error, duckdb.Error):
                raise
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
