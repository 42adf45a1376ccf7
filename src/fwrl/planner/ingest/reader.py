"""DuckDB: what it can scan, SQL from lists of terms, and a connection.

The connection has a memory limit, progress reports, Ctrl-C and errors in the words of this package.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fwrl.arguments import shown
from fwrl.errors import FwrlError, OptionError
from fwrl.files import scratch_folder
from fwrl.planner.ingest.discover import ADDRESS, without_folder
from fwrl.planner.ingest.read_options import (
    FitOption,
    LogError,
    MemorySize,
    memory_size,
)

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

T = TypeVar("T")


def quoted(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(column: str) -> str:
    """Quote the name of a column."""
    return '"' + column.replace('"', '""') + '"'


def listed(terms: Iterable[str]) -> str:
    """Terms with commas between them.

    >>> listed(["state", "count(*) AS n"])
    'state, count(*) AS n'
    """
    return ", ".join(terms)


def any_of(conditions: Iterable[str]) -> str:
    """Whether any of the conditions holds; false where there are none."""
    return " OR ".join(conditions) or "false"


def union_all(queries: Iterable[str]) -> str:
    """The rows of all queries."""
    return " UNION ALL ".join(queries)


def when(present: bool, *terms: str) -> list[str]:
    """The terms if `present`, otherwise none."""
    return list(terms) if present else []


def all_of(conditions: Iterable[str]) -> str:
    """Whether all of the conditions hold; true where there are none."""
    return " AND ".join(conditions) or "true"


def sql_bool(value: bool) -> str:
    """A truth value in SQL."""
    return str(value).lower()


SIGNED = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")  # fit into 64 signed bits
INTEGERS = (*SIGNED, "UBIGINT", "HUGEINT", "UHUGEINT")
EMPTY = '"NULL"'  # DuckDB's type of a column without any value, which is read as text without any
FILE = "fwrl_file"  # the column for the file of a row, which readers add


@dataclass(frozen=True)
class Source:
    """Rows of one table, or of files of one format with the same columns."""

    pattern: str  # FROM clause, with `{files}` for the list of files
    types: Mapping[str, str]  # DuckDB's type of each column
    files: tuple[str, ...] = ()  # the files; none for a table in memory
    is_text: bool = False  # whether every value is text, as in CSV
    # names in messages, for files that were unpacked or came from standard input
    shown: Mapping[str, str] = field(default_factory=dict)

    @property
    def scan(self) -> str:
        """The FROM clause that reads all of it."""
        return self.scan_of(self.files)

    def scan_of(self, files: Iterable[str]) -> str:
        """Return the FROM clause that reads some of its files."""
        return scan_of_files(self.pattern, files)

    @property
    def name(self) -> str:
        """Its name in messages."""
        return repr(self.file_name(self.files[0])) if self.files else "the table"

    def file_name(self, file: str) -> str:
        """Return the name of one of its files in messages."""
        return self.shown.get(file, file)

    @property
    def has_parts(self) -> bool:
        """Whether the order of some rows is unknown; the address of several files may have a `*` in it."""
        return len(self.files) > 1 or any("*" in file for file in self.files)

    @property
    def part(self) -> str:
        """A term that is the same for rows whose order is known: those of one file, or of one table."""
        return f"hash({FILE})" if self.files else "0::UBIGINT"


def scan_of_files(pattern: str, files: Iterable[str]) -> str:
    """`pattern` with `files` in place of `{files}`.

    DuckDB reads every path as a pattern, so escape `*`, `?` and `[` in local ones; an
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


Progress = Callable[[str, float], None]
Columns = dict[str, NDArray[Any]]

POLL = 0.1  # seconds between two progress reports
AT_ONCE = 4_000_000  # most rows fetched from DuckDB in one go
BYTES_OF_ROW = 250  # of memory per fetched row, here and in DuckDB
SHARE = 0.75  # of the memory that DuckDB may take; it keeps some buffers beyond its limit
BOTH, LEAST_SHARE = 1.05, 0.3  # that DuckDB and arrays of the result may take together, and DuckDB in any case
LEAST = 10_000_000  # bytes
OF_THREAD = 20_000_000  # bytes of memory for each thread of DuckDB; how many of its buffers are in use is chance
CTRL_C = ("Query interrupted", "KeyboardInterrupt")  # what DuckDB's message begins with after Ctrl-C
EXTENSION = re.compile(r"required extension '(\w+)")
CSV_LINE = re.compile(r"CSV Error on Line: (\d+)")
CSV_FILE = re.compile(r"^\s*file = (.*)$", re.MULTILINE)
LONG_LINE = "does not support a full read on this file"
MIXED_LINES = "state machine reached an invalid state"
CSV_VALUE = re.compile(r'converting column "(.*?)"\. Could not convert string "(.*?)" to', re.DOTALL)
CSV_COLUMNS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
# What DuckDB says of a line of CSV, what that means, and the option that helps.
BAD_LINES: tuple[tuple[str, str, FitOption], ...] = (
    ("Invalid unicode", "not text in UTF-8", "encoding"),
    ("unterminated quote", "a quote that is not closed", "skip_bad"),
    ("Maximum line size", "a line of more than 2,000,000 bytes, or a quote that is not closed", "skip_bad"),
)
KIND = re.compile(r"^[A-Z][\w ]* Error: ")  # what DuckDB's messages begin with


class Reader:
    """Runs queries, and reports their progress: the name of a step and the part of it that is done, from 0 to 1.

    Reading may take `memory` bytes; `at_once` is the number of rows to fetch in one go.
    """

    def __init__(self, con: DuckDBPyConnection, progress: Progress | None, memory: int) -> None:
        self.con, self._progress, self._memory = con, progress, memory
        self.at_once = min(AT_ONCE, memory // BYTES_OF_ROW)
        self._queries: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # One thread for all queries: starting a thread for each took a fifth of the time of fitting a short log. It's a
        # daemon and starts with the first query, since a signal may come before `close` can be called.
        self._thread = threading.Thread(target=_work_off, args=(self._queries,), daemon=True)

    def close(self) -> None:
        """End the thread of queries."""
        self._queries.put(None)
        if self._thread.ident is not None:
            self._thread.join()

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
        try:
            if self._thread.ident is None:
                self._thread.start()
            self._queries.put(lambda: _fulfil(promise, work))
            self._report(step, 0.0)
            while not wait([promise], POLL).done:
                self._report(step, max(0.0, self.con.query_progress()) / 100)
        except BaseException:
            # Work that was queued may not have begun, and is cancelled; a query may not have begun either, and is
            # interrupted again.
            while not promise.cancel() and not promise.done():
                self.con.interrupt()
                wait([promise], POLL)
            raise
        return promise.result()

    def _report(self, step: str, part: float) -> None:
        if step and self._progress is not None:
            self._progress(step, part)


def _work_off(queries: SimpleQueue[Callable[[], None] | None]) -> None:
    while (query := queries.get()) is not None:
        query()
        del query  # and its answer, which would stay in memory until the next one


def _fulfil(promise: Future[T], work: Callable[[], T]) -> None:
    if not promise.set_running_or_notify_cancel():
        return
    try:
        promise.set_result(work())
    except BaseException as error:
        promise.set_exception(error)


@contextlib.contextmanager
def reading(
    memory: MemorySize,
    progress: Progress | None,
    what: str = "log",
    option: FitOption | None = None,
    threads: int | None = None,
) -> Iterator[Reader]:
    """A reader of `what`; DuckDB's errors become errors of this package.

    `option` is the option of `fit` that raises the limit on `memory`, None if there isn't one. `threads` is how many
    DuckDB may use, by default one per core; fewer where memory is little.
    """
    import duckdb

    size = memory_size(memory)
    if size < LEAST:
        raise OptionError(f"expected at least {LEAST // 10**6}MB of memory, got {shown(memory)}")
    with scratch_folder() as folder, duckdb.connect() as con:
        try:
            con.execute(f"SET memory_limit='{int(SHARE * size)}B'; SET temp_directory={quoted(str(folder))}")
            with contextlib.suppress(duckdb.Error):  # refused in notebooks that lack ipywidgets; then no share is known
                con.execute("SET enable_progress_bar=true; SET enable_progress_bar_print=false")
            con.execute("SET preserve_insertion_order=false; SET TimeZone='UTC'")
            wanted = threads or int(con.execute("SELECT current_setting('threads')").fetchall()[0][0])
            con.execute(f"SET threads={max(1, min(wanted, size // OF_THREAD))}")
            with contextlib.closing(Reader(con, progress, size)) as reader:
                yield reader
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
            raise FwrlError(f"cannot read the {what}: {_sentence(error, str(folder))}") from error


def _with_remedy(problem: str, option: FitOption | None) -> FwrlError:
    return FwrlError(problem) if option is None else LogError(problem, option)


def _bad_line(error: Exception, folder: str) -> tuple[str, FitOption] | None:
    """Explain what is wrong with the CSV line that DuckDB's message names, and name the option that helps."""
    text = str(error)
    line, file = CSV_LINE.search(text), CSV_FILE.search(text)
    if line is None or file is None:
        return None
    where = f"{without_folder(file[1].strip(), folder)}, line {int(line[1]):,}"
    value = CSV_VALUE.search(text)
    if value is not None:
        return f"{where}: expected a number in the column {value[1]!r}, got {value[2]!r}", "skip_bad"
    wanted = CSV_COLUMNS.search(text)
    if wanted is not None:
        more = "more" if int(wanted[2]) > int(wanted[1]) else "fewer"
        return f"{where}: expected {wanted[1]} values, one for each column, got {more}", "skip_bad"
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
    if MIXED_LINES in said:
        said = "its lines have different endings; give them all the same one first, as dos2unix does"
    if LONG_LINE in said:
        said = "it has a line of more than 2,000,000 bytes, or a quote that is not closed; correct it"
    if said.startswith("CSV Error"):
        more = next((line for line in lines[1:] if not line.startswith("Original Line")), "")
    file = next((line.removeprefix("file = ") for line in lines if line.startswith("file = ")), "")
    sentence = " ".join(part for part in (f"{file}:" if file else "", said, more) if part).replace("\0", "")
    return without_folder(sentence, folder) if folder else sentence
