"""Rows to transitions, and transitions to edges, in DuckDB.

Rows are grouped by their labels, and only the distinct labels of the edges are encoded afterwards: encoding the labels
of all rows first takes several times as long.
"""

from __future__ import annotations

from typing import NamedTuple

from fwrl.errors import FwrlError
from fwrl.planner.experience import LARGEST
from fwrl.planner.ingest.bad_rows import bad_log_error
from fwrl.planner.ingest.latest import count_trips, keep_trips
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.schema import EDGES, MOVES, VISITS, edge_key
from fwrl.planner.ingest.sql import any_of, listed, when
from fwrl.planner.ingest.trip_ends import DEFAULT_REWARD


class Counts(NamedTuple):
    """How much was read.

    Attributes:
        transitions: Number of transitions.
        trips: Number of trips; None where the log names none.
        skipped: Number of bad rows left out.

    """

    transitions: int
    trips: int | None
    skipped: int


def group(reader: Reader, log: Log, skip_bad: bool) -> Counts:
    """Make `moves`, `edges` and, where the log has trips, `edge_trips`; a bad row is an error unless `skip_bad`."""
    skipped = make_moves(reader, log, skip_bad)
    n_edges, transitions = _make_edges(reader, log)
    if n_edges == 0:
        raise FwrlError(
            "expected at least one transition, the log has none" + (f" but {skipped} bad rows" if skipped else "")
        )
    trips, span = _count_trips(reader, log), _span(reader, log, skip_bad)
    if trips is not None:
        keep_trips(reader, log.has, n_edges, transitions, span, _has_integer_trips(log))
    return Counts(transitions, trips, skipped)


def make_moves(reader: Reader, log: Log, skip_bad: bool) -> int:
    """Make `moves`, a view of transitions or of the table `visits`, which is made too. The number of rows skipped."""
    skipped = 0
    if skip_bad or log.shape == "visits":
        skipped = int(reader.one(f"SELECT count(*) FILTER ({log.bad_row}) FROM ({log.rows})")[0])
    if skipped and not skip_bad:
        raise bad_log_error(reader.con, log)
    if skip_bad and any(selection.source.is_text for selection in log.selections):
        # Lines that DuckDB could not split into columns.
        skipped += int(reader.one("SELECT count(DISTINCT (scan_id, file_id, line)) FROM reject_errors")[0])
    if log.shape == "transitions":
        reader.con.execute(f"CREATE TEMP VIEW {MOVES} AS {log.moves(skip_bad)}")
        return skipped
    reader.run("ordering visits", f"CREATE TEMP TABLE {VISITS} AS {log.visits}")
    moves = log.moves(skip_bad)
    if skip_bad:
        skipped += int(reader.one(f"SELECT count(*) FILTER ({log.bad_move}) FROM ({moves})")[0])
        moves += f" AND NOT ({log.bad_move})"
    reader.con.execute(f"CREATE TEMP VIEW {MOVES} AS {moves}")
    return skipped


def _make_edges(reader: Reader, log: Log) -> tuple[int, int]:
    """Make `edges`, without `last` where `latest` finds it; the number of edges and of transitions."""
    key, has_reward = edge_key(log.has), "reward" in log.has
    reward = "reward" if has_reward else f"{DEFAULT_REWARD}::DOUBLE"
    aggregates = [
        "count(*) AS count",
        f"sum({reward}) AS total",
        f"max({reward}) AS best",
        *when("time" in log.has and "trip" not in log.has, "max(time) AS last"),
        f"{'count(*) - count(reward)' if has_reward else '0'} AS without_reward",
    ]
    grouped = f"SELECT {listed([*key, *aggregates])} FROM {MOVES} GROUP BY {listed(key)}"
    reader.run(
        "grouping",
        f"CREATE TEMP TABLE {EDGES} AS SELECT *, (row_number() OVER () - 1)::INTEGER AS edge FROM ({grouped})",
    )
    unlabelled = any_of(log.missing(name) for name in key)
    large = f"NOT greatest(abs(total), abs(best)) <= {LARGEST}"
    n_edges, transitions, wrong = reader.one(
        "SELECT count(*), coalesce(sum(count), 0), "
        f"coalesce(sum(without_reward), 0) + count(*) FILTER ({unlabelled} OR {large}) FROM {EDGES}"
    )
    if wrong:
        raise bad_log_error(reader.con, log)
    reader.con.execute(f"ALTER TABLE {EDGES} DROP COLUMN without_reward")
    return int(n_edges), int(transitions)


def _count_trips(reader: Reader, log: Log) -> int | None:
    """The number of trips; None where the log names none."""
    if "trip" not in log.has:
        return None
    trips, unnamed = count_trips(reader)
    if unnamed:
        raise bad_log_error(reader.con, log)
    return trips


def _has_integer_trips(log: Log) -> bool:
    return log.kinds["trip"] == "integer"


def _span(reader: Reader, log: Log, skip_bad: bool) -> tuple[int, int] | None:
    """The first and the last time; None where the log has none."""
    if "time" not in log.has:
        return None
    low, high, untimed = reader.one(log.span)
    if untimed and not skip_bad:
        raise bad_log_error(reader.con, log)
    if untimed:
        low, high, _ = reader.one(log.exact_span)
    return low, high
