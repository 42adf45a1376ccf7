"""Reading and grouping a log with DuckDB.

Rows are grouped by their labels as they are, and only the few groups that are left are numbered: joining labels to
numbers first takes several times as long. The latest trips of an edge are looked for among the last rows of a large log
first, where nearly all of them are, since finding the largest few of each group is slow; what that leaves out
is looked for among all.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from fwrl.errors import FwrlError
from fwrl.planner.experience import KEPT
from fwrl.planner.log import Log, first_bad

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Progress = Callable[[str, float], None]

POLL = 0.1  # seconds between two looks at how far DuckDB is
ENOUGH = 20  # rows of an edge, on average, among which its latest trips surely are
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
        row = self.con.execute(query).fetchone()
        assert row is not None
        return row


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
            raise FwrlError(f"the log needs more memory than {memory}; allow more with --memory: {_first(error)}") from error
        except duckdb.Error as error:
            raise FwrlError(f"cannot read the log: {_first(error)}") from error


def _first(error: Exception) -> str:
    """The sentence of DuckDB's message that matters, and the file it names."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0].partition(": ")[2] or lines[0]
    more = lines[1] if said.startswith("CSV Error") and len(lines) > 1 else ""
    file = next((line.removeprefix("file = ") for line in lines if line.startswith("file = ")), "")
    return " ".join(part for part in (f"{file}:" if file else "", said, more) if part).replace("\0", "")


def group(reader: Reader, log: Log, skip_bad: bool) -> tuple[int, int]:
    """Make the tables `moves` (or a view), `edge` and `kept`; the number of transitions, and of rows left out.

    `edge` has state, action?, next_state, count, total, best, last?; `kept` has an edge's labels, trip and time? of its
    latest few.
    """
    con = reader.con
    rows = log.rows
    skipped = 0
    if skip_bad:
        whole = reader.one(f"SELECT count(*), count(*) FILTER ({log.bad_row}) FROM ({rows})")
        skipped = int(whole[1])
    elif log.shape == "visits" and reader.one(f"SELECT count(*) FILTER ({log.bad_row}) FROM ({rows})")[0]:
        raise _bad(reader, log)
    moves = log.moves
    if skip_bad:
        moves = moves.replace(rows, f"SELECT * FROM ({rows}) WHERE NOT ({log.bad_row})")
    if log.shape == "visits":
        reader.run("ordering visits", f"CREATE TEMP TABLE moves AS {moves}")
        moves = "SELECT * FROM moves"
        if skip_bad:
            wrong = f"{log.bad_move}" + (" OR action IS NULL" if "action" in log.has else "")
            skipped += int(reader.one(f"SELECT count(*) FILTER ({wrong}) FROM moves")[0])
            con.execute(f"DELETE FROM moves WHERE {wrong}")
    else:
        con.execute(f"CREATE TEMP VIEW moves AS {moves}")
    reward = "reward" if "reward" in log.has else f"{WITHOUT}::DOUBLE"
    last = ", max(time) AS last" if "time" in log.has and "trip" not in log.has else ""
    bad = "0" if skip_bad else f"count(*) FILTER ({log.bad_move})"
    reader.run(
        "grouping",
        f"CREATE TEMP TABLE grouped AS SELECT {_keys(log)}, count(*) AS count, sum({reward}) AS total, "
        f"max({reward}) AS best{last}, {bad} AS bad FROM moves GROUP BY {_keys(log)}",
    )
    empty = " OR ".join(f"{key} IS NULL" + _or_empty(log, key) for key in _keys(log).split(", "))
    n, transitions, wrong = reader.one(f"SELECT count(*), sum(count), sum(bad) + count(*) FILTER ({empty}) FROM grouped")
    if n == 0:
        raise FwrlError("expected at least one transition, the log has none" + (f" but {skipped} bad rows" * bool(skipped)))
    if wrong:
        raise _bad(reader, log)
    if reader.one("SELECT count(*) FROM grouped WHERE NOT isfinite(total)")[0]:
        raise FwrlError("expected rewards whose sum is a finite number; those of one edge are too large")
    if "trip" in log.has:
        _keep_trips(reader, log, int(n), int(transitions))
    return int(transitions), skipped


def _or_empty(log: Log, key: str) -> str:
    return f" OR {key} = ''" if log.kinds.get(key, log.kinds["state"]) != "integer" else ""


def _keys(log: Log) -> str:
    return "state, action, next_state" if "action" in log.has else "state, next_state"


def _bad(reader: Reader, log: Log) -> FwrlError:
    place = first_bad(reader.con, log) or "a row lacks a value"
    return FwrlError(f"{place}; correct it, or leave such rows out with --skip-bad")


def latest_first(log_has_time: bool) -> str:
    """How the trips of an edge are ranked: by time, chance breaking ties, and without times by name."""
    return "time DESC, hash(trip::VARCHAR) DESC" if log_has_time else "trip DESC"


def _keep_trips(reader: Reader, log: Log, edges: int, rows: int) -> None:
    """Make `kept`; `grouped` gets its `last` from it."""
    keys = _keys(log)
    if "time" not in log.has:
        reader.run(
            "keeping trips",
            f"CREATE TEMP TABLE kept AS SELECT {keys}, unnest(trips) AS trip FROM "
            f"(SELECT {keys}, max(trip, {KEPT}) AS trips FROM moves GROUP BY {keys})",
        )
        return
    part = ENOUGH * edges / rows
    since = None
    if part < 0.5:
        low, high = reader.one("SELECT min(time), max(time) FROM moves")
        since = high - int((high - low) * part)
    where = "" if since is None else f"WHERE time >= {since}"
    reader.run("keeping trips", f"CREATE TEMP TABLE kept AS {_latest(keys, f'moves {where}')}")
    if since is not None:
        reader.con.execute(
            f"CREATE TEMP TABLE lacking AS SELECT {keys} FROM grouped LEFT JOIN "
            f"(SELECT {keys}, count(*) AS have FROM kept GROUP BY {keys}) USING ({keys}) "
            f"WHERE coalesce(have, 0) < least(count, {KEPT})"
        )
        if reader.one("SELECT count(*) FROM lacking")[0]:
            reader.con.execute(f"DELETE FROM kept USING lacking WHERE {_same('kept', 'lacking', keys)}")
            some = f"moves SEMI JOIN lacking USING ({keys})"
            reader.run("keeping the trips of rare edges", f"INSERT INTO kept {_latest(keys, some)}")
    reader.con.execute(
        f"CREATE OR REPLACE TEMP TABLE grouped AS SELECT grouped.*, last FROM grouped JOIN "
        f"(SELECT {keys}, max(time) AS last FROM kept GROUP BY {keys}) USING ({keys})"
    )


def _same(one: str, other: str, keys: str) -> str:
    return " AND ".join(f"{one}.{key} = {other}.{key}" for key in keys.split(", "))


def _latest(keys: str, rows: str) -> str:
    # Time first and then a hash of the name, in one number: among equal times any trip will do, but always the same.
    rank = "time::HUGEINT * 18446744073709551616 + hash(trip::VARCHAR)::HUGEINT"
    return (
        f"SELECT {keys}, unnest(trips) AS trip, unnest(times) AS time FROM (SELECT {keys}, "
        f"arg_max(trip, {rank}, {KEPT}) AS trips, max(time, {KEPT}) AS times FROM {rows} GROUP BY {keys})"
    )
