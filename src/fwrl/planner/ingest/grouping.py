"""Reading and grouping a log with DuckDB.

Rows are grouped by their labels as they are, and only the few groups that are left are numbered: joining labels to
numbers first takes several times as long.
"""

from __future__ import annotations

from typing import NamedTuple

from fwrl.errors import FwrlError
from fwrl.planner.experience import LARGEST
from fwrl.planner.ingest.latest import count_trips, keep_trips
from fwrl.planner.ingest.log import SPAN, Log, first_bad
from fwrl.planner.ingest.reader import Reader

WITHOUT = -1.0  # the reward of a step where none is logged


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
    moves = log.moves(skip_bad)
    if log.shape == "visits":
        reader.run("ordering visits", f"CREATE TEMP TABLE moves AS {moves}")
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
        f"CREATE TEMP TABLE grouped AS SELECT *, (row_number() OVER () - 1)::INTEGER AS no FROM (SELECT {_keys(log)}, "
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
    trips, span = _trips(reader, log), _span(reader, log, skip_bad)
    if trips is not None:
        keep_trips(reader, _keys(log), int(n), int(transitions), span, _numbers(log))
    return Counts(int(transitions), trips, skipped)


def _trips(reader: Reader, log: Log) -> int | None:
    """The number of trips; None where the log names none."""
    if "trip" not in log.has:
        return None
    trips, unnamed = count_trips(reader, _numbers(log))
    if unnamed:
        raise _bad(reader, log)
    return trips


def _numbers(log: Log) -> bool:
    return log.kinds["trip"] == "integer"


def _span(reader: Reader, log: Log, skip_bad: bool) -> tuple[int, int] | None:
    """The first and the last time; None where the log has none."""
    if "time" not in log.has:
        return None
    low, high, untimed = reader.one(log.span)
    if untimed and not skip_bad:
        raise _bad(reader, log)
    if untimed:
        low, high, _ = reader.one(SPAN)
    return low, high


def _or_empty(log: Log, key: str) -> str:
    return f" OR {key} = ''" if log.kinds.get(key, log.kinds["state"]) != "integer" else ""


def _keys(log: Log) -> str:
    return "state, action, next_state" if "action" in log.has else "state, next_state"


def _bad(reader: Reader, log: Log) -> FwrlError:
    place = first_bad(reader.con, log)
    if place is None:
        return FwrlError(f"expected rewards that sum up to at most {LARGEST:g} in size; those of one edge do not")
    return FwrlError(f"{place}; correct it, or leave such rows out with --skip-bad")
