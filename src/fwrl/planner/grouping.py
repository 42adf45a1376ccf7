"""Reading and grouping a log with DuckDB.

Rows are grouped by their labels as they are, and only the few groups that are left are numbered: joining labels to
numbers first takes several times as long. The latest trips of an edge are looked for among the last rows of a large
log first, where nearly all of them are, since finding the largest few of each group is slow; only for edges that had
too few rows there it looks further back.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from fwrl.errors import FwrlError
from fwrl.planner.experience import KEPT, LARGEST
from fwrl.planner.log import Log, first_bad

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Progress = Callable[[str, float], None]

POLL = 0.1  # seconds between two looks at how far DuckDB is
ENOUGH = 6  # rows of an edge, on average, to look for its latest trips among
FURTHER = 4  # how many times as far back to look for those of the edges that had too few
WITHOUT = -1.0  # the reward of a step where none is logged


class Reader:
    """A DuckDB connection with a limit on memory, and a watch on how far it is."""

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
def reading(memory: str, progress: Progress | None) -> Iterator[Reader]:
    """A reader for one log; what DuckDB says against the log becomes one of our errors."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="fwrl-") as folder, duckdb.connect() as con:
        try:
            con.execute(f"SET memory_limit='{memory}'; SET temp_directory='{folder}'; SET enable_progress_bar=false")
            con.execute("SET preserve_insertion_order=false; SET TimeZone='UTC'")
            yield Reader(con, progress)
        except duckdb.OutOfMemoryException as error:
            raise FwrlError(
                f"the log needs more memory than {memory}; allow more with --memory: {_first(error)}"
            ) from error
        except duckdb.Error as error:
            raise FwrlError(f"cannot read the log: {_first(error)}") from error


def _first(error: Exception) -> str:
    """The sentence of DuckDB's message that matters, and the file it names."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0].partition(": ")[2] or lines[0]
    more = next((line for line in lines[1:] if line.startswith("Expected")), "") if said.startswith("CSV Error") else ""
    file = next((line.removeprefix("file = ") for line in lines if line.startswith("file = ")), "")
    return " ".join(part for part in (f"{file}:" if file else "", said, more) if part).replace("\0", "")


class Counts(NamedTuple):
    """Of what was read."""

    transitions: int
    trips: int | None
    skipped: int


def group(reader: Reader, log: Log, skip_bad: bool) -> Counts:
    """Make `moves`, `grouped` and `kept`; what there was.

    `grouped` has state, action?, next_state, count, total, best, last?, and a number; `kept` has for the latest few
    trips of an edge its number, the trip and the time?.
    """
    con = reader.con
    rows = log.rows
    skipped = 0
    if skip_bad:
        skipped = int(reader.one(f"SELECT count(*) FILTER ({log.bad_row}) FROM ({rows})")[0])
        if any(part.is_text for part in log.parts):  # lines that DuckDB could not even split into columns
            skipped += int(reader.one("SELECT count(DISTINCT (scan_id, file_id, line)) FROM reject_errors")[0])
    elif log.shape == "visits" and reader.one(f"SELECT count(*) FILTER ({log.bad_row}) FROM ({rows})")[0]:
        raise _bad(reader, log)
    moves = log.moves
    if skip_bad:
        moves = moves.replace(rows, f"SELECT * FROM ({rows}) WHERE NOT ({log.bad_row})")
    if log.shape == "visits":
        reader.run("ordering visits", f"CREATE TEMP TABLE moves AS {moves}")
        moves = "SELECT * FROM moves"
        if skip_bad:
            skipped += int(reader.one(f"SELECT count(*) FILTER ({log.bad_move}) FROM moves")[0])
            con.execute(f"DELETE FROM moves WHERE {log.bad_move}")
    else:
        con.execute(f"CREATE TEMP VIEW moves AS {moves}")
    reward = "reward" if "reward" in log.has else f"{WITHOUT}::DOUBLE"
    last = ", max(time) AS last" if "time" in log.has and "trip" not in log.has else ""
    bad = "count(*) - count(reward)" if "reward" in log.has else "0"
    reader.run(
        "grouping",
        f"CREATE TEMP TABLE grouped AS SELECT *, row_number() OVER ()::INTEGER AS no FROM (SELECT {_keys(log)}, "
        f"count(*) AS count, sum({reward}) AS total, max({reward}) AS best{last}, {bad} AS bad FROM moves "
        f"GROUP BY {_keys(log)})",
    )
    empty = " OR ".join(f"{key} IS NULL" + _or_empty(log, key) for key in _keys(log).split(", "))
    large = f"NOT greatest(abs(total), abs(best)) <= {LARGEST}"
    n, transitions, wrong = reader.one(
        f"SELECT count(*), sum(count), sum(bad) + count(*) FILTER ({empty} OR {large}) FROM grouped"
    )
    if n == 0:
        raise FwrlError(
            "expected at least one transition, the log has none" + (f" but {skipped} bad rows" * bool(skipped))
        )
    if wrong:
        raise _bad(reader, log)
    trips, span = _trips_and_times(reader, log)
    if "trip" in log.has:
        _keep_trips(reader, log, int(n), int(transitions), span)
    return Counts(int(transitions), trips, skipped)


def _trips_and_times(reader: Reader, log: Log) -> tuple[int | None, tuple[int, int]]:
    """The number of trips, and the first and the last time: 0 where the log has none."""
    trip = "count(DISTINCT trip), count(*) - count(trip)" if "trip" in log.has else "NULL, 0"
    empty = " + count(*) FILTER (trip = '')" if log.kinds.get("trip", "integer") != "integer" else ""
    time = "min(time), max(time), count(*) - count(time)" if "time" in log.has else "0, 0, 0"
    trips, unnamed, low, high, untimed = reader.one(f"SELECT {trip}{empty}, {time} FROM moves")
    if unnamed or untimed:
        raise _bad(reader, log)
    return trips, (low, high)


def _or_empty(log: Log, key: str) -> str:
    return f" OR {key} = ''" if log.kinds.get(key, log.kinds["state"]) != "integer" else ""


def _keys(log: Log) -> str:
    return "state, action, next_state" if "action" in log.has else "state, next_state"


def _bad(reader: Reader, log: Log) -> FwrlError:
    place = first_bad(reader.con, log)
    if place is None:
        return FwrlError(f"expected rewards that sum up to at most {LARGEST:g} in size; those of one edge do not")
    return FwrlError(f"{place}; correct it, or leave such rows out with --skip-bad")


def latest_first(log_has_time: bool) -> str:
    """How the trips of an edge are ranked: by time, chance breaking ties, and without times by name."""
    return "time DESC, hash(trip::VARCHAR) DESC" if log_has_time else "trip DESC"


def _keep_trips(reader: Reader, log: Log, edges: int, rows: int, span: tuple[int, int]) -> None:
    """Make `kept` from the latest rows of each edge; `grouped` gets its `last` from it."""
    keys = _keys(log)
    if "time" in log.has:
        _latest_candidates(reader, keys, ENOUGH * edges / rows, span)
    else:
        reader.run(
            "keeping trips", f"CREATE TEMP TABLE candidates AS SELECT no, trip FROM moves JOIN grouped USING ({keys})"
        )
    reader.run(
        "keeping trips",
        f"CREATE TEMP TABLE kept AS SELECT * FROM candidates QUALIFY "
        f"row_number() OVER (PARTITION BY no ORDER BY {latest_first('time' in log.has)}) <= {KEPT}",
    )
    reader.con.execute("DROP TABLE candidates")
    if "time" in log.has:
        reader.con.execute(
            "CREATE OR REPLACE TEMP TABLE grouped AS SELECT grouped.*, last FROM grouped JOIN "
            "(SELECT no, max(time) AS last FROM kept GROUP BY no) USING (no)"
        )


def _latest_candidates(reader: Reader, keys: str, part: float, span: tuple[int, int]) -> None:
    """Make `candidates`: rows of each edge with its latest among them, looking further back until each has enough."""
    low, high = span
    until, wanted = high + 1, "grouped"
    reader.con.execute("CREATE TEMP TABLE candidates AS SELECT 0 AS no, trip, time FROM moves LIMIT 0")
    while until > low:
        since = low if part > 0.5 else max(low, high - int((high - low) * part))
        reader.run(
            "keeping trips",
            f"INSERT INTO candidates SELECT no, trip, time FROM moves JOIN {wanted} USING ({keys}) "
            f"WHERE time >= {since} AND time < {until}",
        )
        reader.con.execute(
            f"CREATE OR REPLACE TEMP TABLE lacking AS SELECT {keys}, no FROM grouped LEFT JOIN "
            f"(SELECT no, count(*) AS have FROM candidates GROUP BY no) USING (no) "
            f"WHERE coalesce(have, 0) < least(count, {KEPT})"
        )
        if not reader.one("SELECT count(*) FROM lacking")[0]:
            return
        until, part, wanted = since, part * FURTHER, "lacking"
