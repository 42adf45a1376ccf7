"""Rows to transitions, and transitions to edges, in DuckDB.

Rows are grouped by their labels, and only the distinct labels of the edges are encoded afterwards: encoding the labels
of all rows first takes several times as long.
"""

from __future__ import annotations

from typing import NamedTuple

from fwrl.planner.aging import Aging
from fwrl.planner.experience import DEFAULT_REWARD, LARGEST
from fwrl.planner.ingest.bad_rows import bad_log_error
from fwrl.planner.ingest.errors import NoTransitionsError
from fwrl.planner.ingest.latest import count_trips, keep_listed_trips, keep_trips
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.schema import EDGES, MOVES, VISITS, edge_key
from fwrl.planner.ingest.sql import any_of, listed, when
from fwrl.planner.ingest.visits import ROWS, make_visits, moves_of_visits, read_rows

MOST = 2**62  # transitions in all
UNFLAGGED = "count(*) - count(terminated) AS unflagged"
MISCOUNTED = f"miscounted > 0 OR NOT coalesce(count < {MOST}, false)"


class Counts(NamedTuple):
    """How much was read.

    Attributes:
        transitions: Number of transitions.
        trips: Number of trips; None where the log names none.
        skipped: Number of bad rows left out.
        aging: By which observations are weighted; None where all count once.

    """

    transitions: int
    trips: int | None
    skipped: int
    aging: Aging | None = None


def group(reader: Reader, log: Log, skip_bad: bool, aging: Aging | None = None) -> Counts:
    """Make `moves`, `edges` and, where the log has trips, `edge_trips`; a bad row is an error unless `skip_bad`.

    With `aging`, an observation weighs less the older it is (see `planner.aging`).
    """
    skipped = make_moves(reader, log, skip_bad)
    if aging is not None:
        aging = _dated(reader, aging)
        if aging.newest is None:
            raise _nothing(reader, log, skipped)
    n_edges, transitions = _make_edges(reader, log, aging)
    if n_edges == 0:
        raise _nothing(reader, log, skipped)
    trips, span = _count_trips(reader, log), _span(reader, log, skip_bad)
    if log.names_trips:
        keep_trips(reader, log.has, n_edges, transitions, span, _has_integer_trips(log))
    return Counts(transitions, trips, skipped, aging)


def _nothing(reader: Reader, log: Log, skipped: int) -> NoTransitionsError:
    """The error for a log without transitions."""
    within = "" if log.period == "true" else " in that period"
    bad = f" but {skipped} bad rows" if skipped else ""
    visited = log.shape == "visits" and bool(reader.one(f"SELECT count(*) FROM {VISITS}")[0])
    return NoTransitionsError(
        f"expected at least one transition, the log has none{within}{bad}", visited or skipped > 0
    )


def make_moves(reader: Reader, log: Log, skip_bad: bool) -> int:
    """Make `moves`, a view of transitions or of the table `visits`, which is made too. The number of rows skipped."""
    if log.shape == "visits":
        read_rows(reader, log)
    skipped = 0
    if skip_bad or log.shape == "visits":
        rows = ROWS if log.shape == "visits" else f"({log.rows})"
        skipped = int(reader.one(f"SELECT count(*) FILTER ({log.bad_row}) FROM {rows}")[0])
    if skipped and not skip_bad:
        raise bad_log_error(reader.con, log)
    if skip_bad and any(selection.source.is_text for selection in log.selections):
        # Lines that DuckDB could not split into columns, in any of the scans so far.
        rejected = "reject_errors JOIN reject_scans USING (scan_id, file_id)"
        skipped += int(reader.one(f"SELECT count(DISTINCT (file_path, line)) FROM {rejected}")[0])
    if log.shape == "transitions":
        # Cells are named once: naming hexagons takes longer than anything else.
        kind = "VIEW" if log.cells is None else "TABLE"
        reader.run("reading", f"CREATE TEMP {kind} {MOVES} AS {log.transitions(skip_bad)}")
        return skipped
    skipped += make_visits(reader, log, skip_bad)
    moves = moves_of_visits(log)
    if skip_bad:
        skipped += int(reader.one(f"SELECT count(*) FILTER ({log.bad_move}) FROM ({moves})")[0])
        moves += f" AND NOT ({log.bad_move})"
    reader.con.execute(f"CREATE TEMP VIEW {MOVES} AS {moves}")
    return skipped


def _dated(reader: Reader, aging: Aging) -> Aging:
    """The aging with the newest time of `moves`."""
    low, high = reader.one(f"SELECT min(time), max(time) FROM {MOVES}")
    if high is None:
        return aging
    aging = aging.until(int(high))
    aging.check_oldest(int(low))
    return aging


def _make_edges(reader: Reader, log: Log, aging: Aging | None) -> tuple[int, int]:
    """Make `edges`, without `last` where `latest` finds it; the number of edges and of transitions."""
    key, has_reward = edge_key(log.has), "reward" in log.has
    reward = "reward" if has_reward else f"{DEFAULT_REWARD}::DOUBLE"
    times = _times(log, aging)
    aggregates = [
        "try_cast(sum(count) AS BIGINT) AS count" if "count" in log.has else "count(*) AS count",
        f"sum({reward}) AS total" if times is None else f"sum({times} * {reward}) AS total",
        f"max({'best' if 'best' in log.has else reward}) AS best",
        *when(aging is not None, f"sum({times}) AS weight"),
        *when("time" in log.has and not log.names_trips, "max(time) AS last"),
        *when("terminated" in log.has, "bool_or(terminated) AS terminated", UNFLAGGED),
        f"{'count(*) - count(reward)' if has_reward else '0'} AS without_reward",
        *when(log.is_cost, "count(*) FILTER (reward > 0) AS negative_cost"),
        *when("count" in log.has, f"count(*) FILTER ({log.missing('count')}) AS miscounted"),
    ]
    grouped = f"SELECT {listed([*key, *aggregates])} FROM {MOVES} GROUP BY {listed(key)}"
    reader.run(
        "grouping",
        f"CREATE TEMP TABLE {EDGES} AS SELECT *, (row_number() OVER () - 1)::INTEGER AS edge FROM ({grouped})",
    )
    unlabelled = any_of(log.missing(name) for name in key)
    large = f"NOT greatest(abs(total), abs(best)) <= {LARGEST}"
    bad = [f"{unlabelled} OR {large}", *when(log.is_cost, "negative_cost > 0"), *when("count" in log.has, MISCOUNTED)]
    bad += when("terminated" in log.has, "unflagged > 0")
    n_edges, transitions, wrong = reader.one(
        "SELECT count(*), coalesce(sum(count), 0), "
        f"coalesce(sum(without_reward), 0) + count(*) FILTER ({any_of(bad)}) FROM {EDGES}"
    )
    if wrong:
        raise bad_log_error(reader.con, log)
    counted = ["without_reward", *when(log.is_cost, "negative_cost"), *when("count" in log.has, "miscounted")]
    for column in (*counted, *when("terminated" in log.has, "unflagged")):
        reader.con.execute(f"ALTER TABLE {EDGES} DROP COLUMN {column}")
    return int(n_edges), int(transitions)


def _times(log: Log, aging: Aging | None) -> str | None:
    """A term for how often a row counts; None where every row counts once."""
    if aging is None:
        return "count" if "count" in log.has else None
    if "weight" in log.has:
        return "weight"
    weight = f"pow(2.0, (time - {aging.newest}) / {aging.half_life!r})"
    return f"count * {weight}" if "count" in log.has else weight


def _count_trips(reader: Reader, log: Log) -> int | None:
    """The number of trips; None where the log names none."""
    if "trip" not in log.has:
        return None
    if "trips" in log.has:
        return keep_listed_trips(reader, log.has)
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
