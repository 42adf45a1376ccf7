"""A DuckDB connection with a memory limit, progress reports, Ctrl-C and errors in the words of this package."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError, OptionError
from fwrl.files import scratch_folder
from fwrl.planner.ingest.copies import without_folder
from fwrl.planner.ingest.errors import BrokenLinesError, FitOption, LogError, MixedLinesError
from fwrl.planner.ingest.sql import quoted, sql_bool

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

T = TypeVar("T")
Progress = Callable[[str, float], None]
Columns = dict[str, NDArray[Any]]

POLL = 0.1  # seconds between two progress reports
AT_ONCE = 4_000_000  # rows fetched from DuckDB at once, at most
BYTES_OF_ROW = 250  # of memory for each row that is fetched at once, here and in DuckDB
SHARE = 0.75  # of the memory that DuckDB may take; it keeps some buffers beyond its limit
BOTH, LEAST_SHARE = 1.05, 0.3  # that DuckDB and arrays of the result may take together, and DuckDB in any case
LEAST = 10_000_000  # bytes
OF_THREAD = 20_000_000  # bytes of memory for each thread of DuckDB; how many of its buffers are in use is chance
PREFIXES = ("", "K", "M", "G", "T")
UNITS = {f"{prefix}B": 1000**k for k, prefix in enumerate(PREFIXES)}
UNITS |= {f"{prefix}IB": 1024**k for k, prefix in enumerate(PREFIXES) if prefix}
SIZE = re.compile(r"\s*(\d+(?:\.\d*)?)\s*([A-Za-z]*)\s*")
CTRL_C = ("Query interrupted", "KeyboardInterrupt")  # what DuckDB's message begins with after Ctrl-C
EXTENSION = re.compile(r"required extension '(\w+)")
CSV_LINE = re.compile(r"CSV Error on Line: (\d+)")
CSV_FILE = re.compile(r"^\s*file = (.*)$", re.MULTILINE)
CSV_COLUMNS = re.compile(r"Expected Number of Columns: (\d+) Found: ")
# What DuckDB says of a line of CSV, what that means, and the option that helps.
BAD_LINES: tuple[tuple[str, str, FitOption], ...] = (
    ("Invalid unicode", "not text in UTF-8", "encoding"),
    ("unterminated quote", "a quote that is not closed", "skip_bad"),
    ("Maximum line size", "a line of more than 2,000,000 bytes, or a quote that is not closed", "skip_bad"),
)
KIND = re.compile(r"^[A-Z][\w ]* Error: ")  # what DuckDB's messages begin with


class Reader:
    """Runs queries, and reports their progress.

    Args:
        con: The connection.
        progress: Called with the name of the step and the part of it that is done, from 0 to 1.
        memory: Bytes that reading may take in all.

    Attributes:
        con: The connection.
        at_once: Rows to fetch at once.

    """

    def __init__(self, con: DuckDBPyConnection, progress: Progress | None, memory: int) -> None:
        self.con, self._progress, self._memory = con, progress, memory
        self.at_once = min(AT_ONCE, memory // BYTES_OF_ROW)

    def run(self, step: str, query: str) -> None:
        """Execute a query as a `step` whose progress is reported."""
        self._stoppable(lambda: self.con.execute(query), step)

    def make_room(self, arrays: int, what: str) -> None:
        """Leave that many bytes to `arrays` of `what`; an error if they alone take more than the memory."""
        if arrays > self._memory:
            raise LogError(
                f"{what} take {arrays / 10**6:,.0f} MB, more than the {self._memory / 10**6:,.0f} MB of memory that "
                "reading may take",
                "memory",
            )
        share = max(LEAST_SHARE * self._memory, min(SHARE * self._memory, BOTH * self._memory - arrays))
        self.con.execute(f"SET memory_limit='{int(share)}B'")

    def pieces(self, step: str, query: str, most: int, ordered: bool = False) -> Iterator[Columns]:
        """The columns of an answer of at most `most` rows; a long one is stored first and fetched in pieces.

        Pieces are in the order of the query if `ordered`.
        """
        if most <= self.at_once:
            yield self.columns(query, step)
            return
        self.con.execute(f"SET preserve_insertion_order={sql_bool(ordered)}")
        self.run(step, f"CREATE OR REPLACE TEMP TABLE spooled AS {query}")
        for first in range(0, int(self.one("SELECT count(*) FROM spooled")[0]), self.at_once):
            yield self.columns(f"SELECT * FROM spooled WHERE rowid >= {first} AND rowid < {first + self.at_once}")
        self.con.execute("SET preserve_insertion_order=false; DROP TABLE spooled")

    def columns(self, query: str, step: str = "") -> Columns:
        """The columns of an answer without NULLs."""
        columns = self._stoppable(lambda: self.con.sql(query).fetchnumpy(), step)
        return {name: np.ma.getdata(column) for name, column in columns.items()}

    def one(self, query: str) -> tuple[Any, ...]:
        """The only row of an answer."""
        # All rows are fetched, or DuckDB would not finish the query.
        rows: list[tuple[Any, ...]] = self._stoppable(lambda: self.con.execute(query).fetchall())
        return rows[0]

    def _stoppable(self, work: Callable[[], T], step: str = "") -> T:
        """The result of `work`, done in another thread, since DuckDB may not notice Ctrl-C in this one.

        Progress is reported if the work is a named `step`.
        """
        promise: Future[T] = Future()
        thread = threading.Thread(target=lambda: _fulfil(promise, work))
        try:
            thread.start()
            self._report(step, 0.0)
            while not wait([promise], POLL).done:
                self._report(step, max(0.0, self.con.query_progress()) / 100)
        except BaseException:
            # Checks the promise, not the thread: after Ctrl-C during join, Python takes a thread for ended. The query
            # may not have begun yet, and is then interrupted again.
            while thread.ident is not None and not promise.done():
                self.con.interrupt()
                wait([promise], POLL)
            raise
        return promise.result()

    def _report(self, step: str, part: float) -> None:
        if step and self._progress is not None:
            self._progress(step, part)


def _fulfil(promise: Future[T], work: Callable[[], T]) -> None:
    try:
        promise.set_result(work())
    except BaseException as error:
        promise.set_exception(error)


def memory_size(text: str) -> int:
    """The bytes of a size such as "300MB" or "2GiB".

    >>> memory_size("1.5 GB")
    1500000000
    """
    found = SIZE.fullmatch(text)
    unit = UNITS.get(found[2].upper()) if found else None
    if found is None or unit is None:
        raise OptionError(f"expected an amount of memory such as 500MB or 2GB, got {text!r}")
    size = int(float(found[1]) * unit)
    if size < LEAST:
        raise OptionError(f"expected at least {LEAST // 10**6}MB of memory, got {text!r}")
    return size


@contextlib.contextmanager
def reading(
    memory: str,
    progress: Progress | None,
    what: str = "log",
    option: FitOption | None = None,
    threads: int | None = None,
) -> Iterator[Reader]:
    """A reader of `what`; DuckDB's errors become errors of this package.

    `option` is the option of `fit` that raises the limit on `memory`, None where there is none. `threads` is how many
    DuckDB may use, by default one per core; fewer where memory is little.
    """
    import duckdb

    size = memory_size(memory)
    with scratch_folder() as folder, duckdb.connect() as con:
        try:
            con.execute(f"SET memory_limit='{int(SHARE * size)}B'; SET temp_directory={quoted(str(folder))}")
            with contextlib.suppress(duckdb.Error):  # refused in notebooks that lack ipywidgets; then no share is known
                con.execute("SET enable_progress_bar=true; SET enable_progress_bar_print=false")
            con.execute("SET preserve_insertion_order=false; SET TimeZone='UTC'")
            wanted = threads or int(con.execute("SELECT current_setting('threads')").fetchall()[0][0])
            con.execute(f"SET threads={max(1, min(wanted, size // OF_THREAD))}")
            yield Reader(con, progress, size)
        except duckdb.OutOfMemoryException as error:
            problem = f"the {what} needs more memory than {memory} ({_sentence(error, str(folder))})"
            raise _with_remedy(problem, option) from error
        except (duckdb.Error, RuntimeError) as error:
            if _sentence(error).startswith(CTRL_C):
                raise KeyboardInterrupt from error
            if not isinstance(error, duckdb.Error):
                raise
            bad_line = _bad_line(error, str(folder))
            if bad_line is not None:
                raise _with_remedy(bad_line[0], option and bad_line[1]) from error
            problem = f"cannot read the {what}: {_sentence(error, str(folder))}"
            raise _error_kind(str(error))(problem) from error


def _with_remedy(problem: str, option: FitOption | None) -> FwrlError:
    return FwrlError(problem) if option is None else LogError(problem, option)


def _error_kind(message: str) -> type[FwrlError]:
    """The error for a message of DuckDB's: some are remedied by reading again in another way."""
    if "quoted new lines" in message:
        return BrokenLinesError
    return MixedLinesError if "state machine reached an invalid state" in message else FwrlError


def _bad_line(error: Exception, folder: str) -> tuple[str, FitOption] | None:
    """What is wrong with the line of a CSV file that DuckDB's message names, and the option that helps."""
    text = str(error)
    line, file = CSV_LINE.search(text), CSV_FILE.search(text)
    if line is None or file is None or _error_kind(text) is not FwrlError:
        return None
    where = f"{without_folder(file[1].strip(), folder)}, line {int(line[1]):,}"
    wanted = CSV_COLUMNS.search(text)
    if wanted is not None:
        return f"{where}: expected {wanted[1]} values, as many as there are columns, got more", "skip_bad"
    for said, problem, option in BAD_LINES:
        if said in text:
            return f"{where}: {problem}", option
    return None


def _sentence(error: Exception, folder: str = "") -> str:
    """The sentence of DuckDB's message that says what is wrong, and the file it names; `folder` is left out."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    extension = EXTENSION.search(str(error))
    if extension is not None:
        return (
            f"DuckDB's extension {extension[1]} cannot be loaded, which reads from such addresses; install it where "
            f"there is a network (INSTALL {extension[1]} in DuckDB), or copy the files here first"
        )
    said = KIND.sub("", lines[0])
    more = ""
    if said.startswith("CSV Error"):
        more = next((line for line in lines[1:] if not line.startswith("Original Line")), "")
    file = next((line.removeprefix("file = ") for line in lines if line.startswith("file = ")), "")
    sentence = " ".join(part for part in (f"{file}:" if file else "", said, more) if part).replace("\0", "")
    return without_folder(sentence, folder) if folder else sentence
