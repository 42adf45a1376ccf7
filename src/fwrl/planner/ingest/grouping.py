"""Rows to transitions, and transitions to edges, in DuckDB.

Rows are grouped by their labels, and only the distinct labels of the edges are encoded afterwards: encoding the labels
of all rows first takes several times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fwrl.errors import FwrlError
from fwrl.planner.aging import Aging
from fwrl.planner.experience import DEFAULT_REWARD, LARGEST, MOST
from fwrl.planner.ingest.bad_rows import bad_log_error
from fwrl.planner.ingest.errors import LogError, NoTransitionsError
from fwrl.planner.ingest.exact_sums import (
    ROOM,
    USUAL,
    Aggregate,
    Grouping,
    are_alike,
    beyond_short,
    exponent_of,
    imprecise,
)
from fwrl.planner.ingest.latest import count_trips, keep_listed_trips, keep_trips
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.schema import EDGES, MOVES, VISITS, edge_key
from fwrl.planner.ingest.sql import any_of, listed, when
from fwrl.planner.ingest.visits import ROWS, make_visits, moves_of_visits, read_rows

SAMPLED = 50  # one row in so many is looked at to guess how many rows edges have
BYTES_OF_EDGE = 52  # in arrays of the result
BYTES_OF_TRIPS = 52  # further ones for the latest trips of an edge, and for finding them


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


def group(reader: Reader, log: Log, skip_bad: bool, aging: Aging | None = None, min_trips: int = 1) -> Counts:
    """Make `moves`, `edges` and, where the log has trips, `edge_trips`; a bad row is an error unless `skip_bad`.

    With `aging`, an observation weighs less the older it is (see `planner.aging`). Edges that fewer than `min_trips`
    distinct trips made are left out.
    """
    skipped = make_moves(reader, log, skip_bad)
    if aging is not None:
        aging = _dated(reader, aging)
        if aging.newest is None:
            raise _nothing(reader, log, skipped)
    n_edges, transitions = _make_edges(reader, log, aging)
    if n_edges == 0:
        raise _nothing(reader, log, skipped)
    if min_trips > 1:
        n_edges, transitions = _keep_supported(reader, log, min_trips)
    bytes_of_edge = BYTES_OF_EDGE + (BYTES_OF_TRIPS if "trip" in log.has else 0)
    reader.make_room(n_edges * bytes_of_edge, f"the {n_edges:,} edges of the log")
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
        f"expected at least one transition, the log has none{within}{bad}; give rows of transitions, or at least two "
        "visits of one trip",
        visited or skipped > 0,
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
    grouping = _edge_grouping(log, aging)
    numbered = "SELECT * REPLACE (try_cast(count AS BIGINT) AS count), (row_number() OVER () - 1)::INTEGER AS edge"
    for query, is_imprecise in _ways_to_add(reader, log, grouping):
        reader.run("grouping", f"CREATE OR REPLACE TEMP TABLE {EDGES} AS {numbered} FROM ({query})")
        if not reader.one(f"SELECT count(*) FILTER ({is_imprecise}) FROM {EDGES}")[0]:
            break
    unlabelled = any_of(log.missing(name) for name in grouping.key)
    large = f"NOT greatest(abs(total), abs(best)) <= {LARGEST}"
    lost = [f"{name}_lost" for name in grouping.sums]
    counted = [*lost, *when(log.is_cost, "negative_cost"), *when("count" in log.has, "miscounted")]
    counted += when("terminated" in log.has, "unflagged")
    bad = [unlabelled, large, *(f"{name} > 0" for name in counted)]
    too_many = f"NOT coalesce(count < {MOST}, false)" if "count" in log.has else "false"
    n_edges, transitions, wrong, crowded = reader.one(
        f"SELECT count(*), coalesce(sum(count), 0), count(*) FILTER ({any_of(bad)}), count(*) FILTER ({too_many}) "
        f"FROM {EDGES}"
    )
    if wrong or crowded:
        raise bad_log_error(reader.con, log, crowded > 0)
    for column in counted:
        reader.con.execute(f"ALTER TABLE {EDGES} DROP COLUMN {column}")
    return int(n_edges), int(transitions)


def _keep_supported(reader: Reader, log: Log, min_trips: int) -> tuple[int, int]:
    """Limit `edges` and `moves` to what enough distinct trips made; the number of edges and of transitions left."""
    if not log.names_trips:
        raise LogError("a minimum of trips needs rows that name their trip, the log's don't", "columns")
    if reader.one(f"SELECT count(*) FILTER ({log.missing('trip')}) FROM {MOVES}")[0]:
        raise bad_log_error(reader.con, log)
    key = listed(edge_key(log.has))
    reader.run(
        "counting trips of steps",
        f"CREATE TEMP TABLE supported AS SELECT {key} FROM {MOVES} GROUP BY {key} "
        f"HAVING count(DISTINCT trip) >= {min_trips}",
    )
    reader.con.execute(
        f"CREATE OR REPLACE TEMP TABLE {EDGES} AS SELECT * REPLACE ((row_number() OVER () - 1)::INTEGER AS edge) "
        f"FROM {EDGES} SEMI JOIN supported USING ({key})"
    )
    kind = reader.one(f"SELECT table_type FROM information_schema.tables WHERE table_name = '{MOVES}'")[0]
    reader.con.execute(f"ALTER {'VIEW' if kind == 'VIEW' else 'TABLE'} {MOVES} RENAME TO all_moves")
    reader.con.execute(f"CREATE TEMP VIEW {MOVES} AS SELECT * FROM all_moves SEMI JOIN supported USING ({key})")
    n_edges, transitions = reader.one(f"SELECT count(*), coalesce(sum(count), 0) FROM {EDGES}")
    if n_edges == 0:
        raise FwrlError(f"no step was made by {min_trips} distinct trips or more; ask for fewer, or give more logs")
    return int(n_edges), int(transitions)


def _edge_grouping(log: Log, aging: Aging | None) -> Grouping:
    """What is computed of each edge."""
    has_reward, times = "reward" in log.has, _times(log, aging)
    reward = "reward" if has_reward else f"{DEFAULT_REWARD}::DOUBLE"
    aggregates = [
        Aggregate("count", "sum(count)" if "count" in log.has else "count(*)", "sum"),
        Aggregate("best", f"max({'best' if 'best' in log.has else reward})", "max"),
    ]
    if "time" in log.has and not log.names_trips:
        aggregates.append(Aggregate("last", "max(time)", "max"))
    if "terminated" in log.has:
        aggregates.append(Aggregate("terminated", "bool_or(terminated)", "bool_or"))
        aggregates.append(Aggregate("unflagged", "count(*) - count(terminated)", "sum"))
    if log.is_cost:
        aggregates.append(Aggregate("negative_cost", "count(*) FILTER (reward > 0)", "sum"))
    if "count" in log.has:
        aggregates.append(Aggregate("miscounted", f"count(*) FILTER ({log.missing('count')})", "sum"))
    if not has_reward and times is None:
        aggregates.append(Aggregate("total", f"{DEFAULT_REWARD}::DOUBLE * count(*)", "sum"))
        return Grouping(MOVES, edge_key(log.has), aggregates, {})
    sums = {"total": reward if times is None else f"({times} * {reward})"}
    if aging is not None and times is not None:
        sums["weight"] = times
    return Grouping(MOVES, edge_key(log.has), aggregates, sums)


def _ways_to_add(reader: Reader, log: Log, grouping: Grouping) -> Iterator[tuple[str, str]]:
    """Queries for edges, the fastest first, each with a condition for edges whose sum it does not find exactly."""
    if not grouping.sums:
        yield grouping.in_fixed_point(0, 1), "false"
        return
    if grouping.sums == {"total": "reward"}:
        ways = [(USUAL, 2)]
        if log.shape == "visits" or not any(selection.source.is_text for selection in log.selections):
            # From the statistics of a Parquet file; text would have to be read for it.
            low, high, given, rows = reader.one(
                f"SELECT min(reward), max(reward), count(reward), count(*) FROM {MOVES}"
            )
            exponent = None if low is None else exponent_of(max(abs(low), abs(high)))
            ways = [] if exponent is None else [(exponent, 1), (exponent, 2)]
            if exponent is not None and given == rows and are_alike(low, high):
                for limbs in (2,) if _has_heavy_edges(reader, grouping, rows) else (1, 2):
                    yield grouping.short(exponent, limbs), beyond_short("total", exponent, limbs)
        for exponent, limbs in ways:
            is_imprecise = imprecise("total", "abs(best)", exponent, limbs)
            yield grouping.in_fixed_point(exponent, limbs), f"total_lost > 0 OR ({is_imprecise})"
    yield grouping.by_exponent(), "false"


def _has_heavy_edges(reader: Reader, grouping: Grouping, rows: int) -> bool:
    """Whether some edge, by a part of the log, has too many rows for short sums with one limb."""
    key = listed(grouping.key)
    part = f"SELECT {key} FROM {MOVES} LIMIT {rows // SAMPLED}"
    most = reader.one(f"SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM ({part}) GROUP BY {key})")[0]
    return bool(most * SAMPLED > 2 ** (ROOM[1] + 1))


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
