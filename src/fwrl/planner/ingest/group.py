"""Rows to transitions, transitions to edges, and the latest trips of each edge, in DuckDB.

Rows are grouped by their labels, and only the distinct labels of the edges are encoded afterwards: encoding the labels
of all rows first takes several times as long. A query for the largest few of each group is slow in SQL. So the last
rows of the log, which hold nearly all of the latest trips, are read first and a kernel picks the trips; rows further
back are read for edges that still have too few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.planner.ingest.log import EDGE_TRIPS, EDGES, MOVES, TRIP_HASHES, Log, edge_key
from fwrl.planner.ingest.read_options import LogError, NoTransitionsError
from fwrl.planner.ingest.reader import Reader, any_of, listed, when
from fwrl.planner.ingest.visits import ROWS, bad_log_error, make_visits, moves_of_visits, read_rows
from fwrl.planner.transition_counts import DEFAULT_REWARD, KEPT, LARGEST, MOST, Aging

if TYPE_CHECKING:
    from fwrl.kernels.recent_trips import RecentTrips

BYTES_OF_EDGE = 52  # in arrays of the result
BYTES_OF_TRIPS = 52  # further ones for the latest trips of an edge, and for finding them


class Counts(NamedTuple):
    """How much was read."""

    transitions: int  # number of transitions
    trips: int | None  # number of trips; None if the log names none
    skipped: int  # number of bad rows left out
    aging: Aging | None = None  # by which observations are weighted; None if all count once


def group(reader: Reader, log: Log, skip_bad: bool, aging: Aging | None = None, min_trips: int = 1) -> Counts:
    """Make `moves`, `edges` and, where the log has trips, `edge_trips`; a bad row is an error unless `skip_bad`.

    With `aging`, an observation weighs less the older it is (see `planner.experience`). Edges that fewer than
    `min_trips` distinct trips made are left out.
    """
    skipped = make_moves(reader, log, skip_bad)
    if aging is not None:
        aging = _dated(reader, aging)
        if aging.newest is None:
            raise _nothing(log, skipped)
    n_edges, transitions = _make_edges(reader, log, aging)
    if n_edges == 0:
        raise _nothing(log, skipped)
    if min_trips > 1:
        n_edges, transitions = _keep_supported(reader, log, min_trips)
    bytes_of_edge = BYTES_OF_EDGE + (BYTES_OF_TRIPS if "trip" in log.has else 0)
    reader.make_room(n_edges * bytes_of_edge, f"the {n_edges:,} edges of the log")
    trips = _count_trips(reader, log) if "trip" in log.has else None
    span = _span(reader, log)
    if trips is not None:
        _keep_trips(reader, log, n_edges, transitions, span)
    return Counts(transitions, trips, skipped, aging)


def _nothing(log: Log, skipped: int) -> NoTransitionsError:
    """The error for a log without transitions."""
    within = "" if log.period == "true" else " in that period"
    bad = f" but {skipped} bad rows" if skipped else ""
    return NoTransitionsError(
        f"expected at least one transition, the log has none{within}{bad}; give rows of transitions, or at least two "
        "visits of one trip"
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
        swallowed = (
            "any_value((file_path, line)) FILTER (error_type = 'UNQUOTED VALUE' AND contains(csv_line, chr(10)))"
        )
        lines, quote = reader.one(f"SELECT count(DISTINCT (file_path, line)), {swallowed} FROM {rejected}")
        if quote is not None:
            path, line = quote
            names = (selection.source.shown.get(path) for selection in log.selections)
            file = next(filter(None, names), path)
            raise FwrlError(
                f"{file}, line {line:,}: a quote that isn't closed hides the rows after it; close or remove it"
            )
        skipped += int(lines)
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
    key = edge_key(log.has)
    unsound = [
        *when("reward" in log.has, "count(*) - count(reward)"),  # less memory than a filter takes
        *when(log.is_cost, "count(*) FILTER (reward > 0)"),
        *when("count" in log.has, f"count(*) FILTER ({log.missing('count')})"),
        *when("terminated" in log.has, "count(*) - count(terminated)"),
    ]
    terms = [*_edge_sql(log, aging), *when(bool(unsound), f"{' + '.join(unsound)} AS unsound")]
    grouped = f"SELECT {listed([*key, *terms])} FROM {MOVES} GROUP BY {listed(key)}"
    numbered = "SELECT * REPLACE (try_cast(count AS BIGINT) AS count), (row_number() OVER () - 1)::INTEGER AS edge"
    reader.run("grouping", f"CREATE TEMP TABLE {EDGES} AS {numbered} FROM ({grouped})")
    bad = [
        *(log.missing(name) for name in key),
        f"NOT coalesce(greatest(abs(total), abs(best)) <= {LARGEST}, false)",
        *when(bool(unsound), "unsound > 0"),
    ]
    too_many = f"NOT coalesce(count < {MOST}, false)" if "count" in log.has else "false"
    n_edges, transitions, wrong, crowded = reader.one(
        f"SELECT count(*), coalesce(sum(count), 0), count(*) FILTER ({any_of(bad)}), count(*) FILTER ({too_many}) "
        f"FROM {EDGES}"
    )
    if wrong or crowded:
        raise bad_log_error(reader.con, log, crowded > 0)
    if unsound:
        reader.con.execute(f"ALTER TABLE {EDGES} DROP COLUMN unsound")
    return int(n_edges), int(transitions)


def _keep_supported(reader: Reader, log: Log, min_trips: int) -> tuple[int, int]:
    """Limit `edges` and `moves` to what enough distinct trips made; the number of edges and of transitions left."""
    if "trip" not in log.has:
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


def _edge_sql(log: Log, aging: Aging | None) -> list[str]:
    """The sums of each edge. The last bits of a sum depend on the order in which DuckDB's threads finish."""
    times, reward = _times(log, aging), "reward" if "reward" in log.has else f"{DEFAULT_REWARD}::DOUBLE"
    return [
        "sum(count) AS count" if "count" in log.has else "count(*) AS count",
        f"max({'best' if 'best' in log.has else reward}) AS best",
        f"sum({reward if times is None else f'{times} * {reward}'}) AS total",
        *when(aging is not None, f"sum({times}) AS weight"),
        *when("time" in log.has and "trip" not in log.has, "max(time) AS last"),
        *when("terminated" in log.has, "bool_or(terminated) AS terminated"),
    ]


def _times(log: Log, aging: Aging | None) -> str | None:
    """A term for how often a row counts; None if every row counts once."""
    if aging is None:
        return "count" if "count" in log.has else None
    weight = f"pow(2.0, (time - {aging.newest}) / {aging.half_life!r})"
    return f"count * {weight}" if "count" in log.has else weight


def _span(reader: Reader, log: Log) -> tuple[int, int] | None:
    """Bounds on the times of `moves`; None if the log has none. Stored timestamps give them without reading rows."""
    if "time" not in log.has:
        return None
    if reader.one(f"SELECT count(*) - count(time) FROM {MOVES}")[0]:
        raise bad_log_error(reader.con, log)
    low = high = None
    if log.timestamps:
        low, high = reader.one(f"SELECT epoch_us(min(time)), epoch_us(max(time)) FROM ({log.timestamps})")
    if low is None or high is None:  # none stored, or infinite ones among the rows that are skipped
        low, high = reader.one(f"SELECT min(time), max(time) FROM {MOVES}")
    return low, high


ENOUGH = 6  # rows per edge, on average, to read first
ALL = 0.5  # of the time of a log, beyond which all of it is read
FURTHER = 4  # factor by which each further read goes back in time
KEPT_TRIPS, ROWS_READ = 0, 1  # columns of `RecentTrips.seen`


def by_name(direction: Literal["ASC", "DESC"]) -> str:
    """The order of trips without times: numbers rank above other names."""
    nulls = "NULLS LAST" if direction == "DESC" else "NULLS FIRST"
    return f"try_cast(trip AS BIGINT) {direction} {nulls}, trip::VARCHAR {direction}"


def _count_trips(reader: Reader, log: Log) -> int:
    """Make `trip_hashes`; the number of trips in `moves`."""
    reader.run(
        "counting trips",
        f"CREATE TEMP TABLE {TRIP_HASHES} AS SELECT trip, hash(trip) AS hash FROM (SELECT DISTINCT trip FROM {MOVES})",
    )
    trips, unnamed = reader.one(f"SELECT count(*), count(*) FILTER ({log.missing('trip')}) FROM {TRIP_HASHES}")
    if unnamed:
        raise bad_log_error(reader.con, log)
    return int(trips)


def _keep_trips(reader: Reader, log: Log, n_edges: int, n_rows: int, span: tuple[int, int] | None) -> None:
    """Make `edge_trips` from `moves` and `edges`; with times, add `last` to `edges`. `span` has first and last time.

    Trips are ranked by time and then by hash; without times by number and then by name. An integer ranks the same
    whether it is logged as a number or as text.
    """
    key = edge_key(log.has)
    if span is None:
        ranked = f"row_number() OVER (PARTITION BY edge ORDER BY {by_name('DESC')})::INTEGER - 1 AS rank"
        reader.run(
            "keeping trips",
            f"CREATE TEMP TABLE {EDGE_TRIPS} AS SELECT *, {ranked} FROM "
            f"(SELECT DISTINCT edge, trip FROM {MOVES} JOIN {EDGES} USING ({listed(key)})) QUALIFY rank < {KEPT}",
        )
        return
    from fwrl.kernels.recent_trips import TIME, TRIP

    integers = log.kinds["trip"] == "integer"
    latest = _latest(reader, key, n_edges, n_rows, span, integers)
    named = "picked" if integers else f"picked JOIN {TRIP_HASHES} USING (hash)"
    at_once = reader.at_once // KEPT
    for first in range(0, n_edges, at_once):
        kept, sight = latest.seen[first : first + at_once], latest.sight[first : first + at_once]
        edge, rank = np.nonzero(np.arange(KEPT) < kept[:, KEPT_TRIPS, None])
        trip = sight[edge, rank, TRIP]
        reader.con.register(
            "picked",
            {
                "edge": (edge + first).astype(np.int32),
                "time": sight[edge, rank, TIME],
                "rank": rank.astype(np.int32),
                **({"trip": trip} if integers else {"hash": trip.view(np.uint64)}),
            },
        )
        _add_rows(reader, EDGE_TRIPS, f"SELECT edge, trip, time, rank FROM {named}", new=first == 0)
        last = np.ascontiguousarray(sight[:, 0, TIME])
        reader.con.register("picked", {"edge": np.arange(first, first + len(last)), "last": last})
        _add_rows(reader, "last_times", "SELECT edge, last FROM picked", new=first == 0)
    reader.con.unregister("picked")
    del latest
    reader.con.execute(
        f"CREATE OR REPLACE TEMP TABLE {EDGES} AS SELECT {EDGES}.*, last FROM {EDGES} JOIN last_times USING (edge)"
    )


def _add_rows(reader: Reader, table: str, query: str, new: bool) -> None:
    """Add the rows of a query to a table, which is made if it is `new`."""
    reader.con.execute(f"CREATE TEMP TABLE {table} AS {query}" if new else f"INSERT INTO {table} {query}")


def _latest(
    reader: Reader, key: list[str], n_edges: int, n_rows: int, span: tuple[int, int], integers: bool
) -> RecentTrips:
    """The latest trips of each edge, by number where trips are `integers`, otherwise by hash."""
    from fwrl.kernels.recent_trips import keep_latest, no_sights

    (low, high), part = span, ENOUGH * n_edges / n_rows
    until, wanted, most = high + 1, EDGES, n_rows
    latest, counts = no_sights(n_edges, KEPT), _edge_counts(reader, n_edges)
    terms = listed(["edge", "time::BIGINT AS time", "hash(trip::VARCHAR) AS hash", *when(integers, "trip")])
    while until > low:
        since = low if part > ALL else max(low, high - int((high - low) * part))
        within = f"time >= {since} AND time < {until}"
        if most > reader.at_once:
            most = int(reader.one(f"SELECT count(*) FROM {MOVES} WHERE {within}")[0])
        query = f"SELECT {terms} FROM {MOVES} JOIN {wanted} USING ({listed(key)}) WHERE {within}"
        for rows in reader.pieces("keeping trips", query, most):
            hash_: Any = rows["hash"]
            keep_latest(rows["edge"], rows["time"], hash_, rows["trip"] if integers else hash_.view(np.int64), latest)
        lacking = np.flatnonzero((latest.seen[:, KEPT_TRIPS] < KEPT) & (latest.seen[:, ROWS_READ] < counts))
        if not len(lacking):
            break
        _make_lacking(reader, key, lacking)
        until, part, wanted, most = since, part * FURTHER, "lacking", int(counts[lacking].sum())
    return latest


def _edge_counts(reader: Reader, n_edges: int) -> NDArray[np.int64]:
    counts = np.empty(n_edges, np.int64)
    for rows in reader.pieces("keeping trips", f"SELECT edge, count FROM {EDGES}", n_edges):
        counts[rows["edge"]] = rows["count"]
    return counts


def _make_lacking(reader: Reader, key: list[str], lacking: NDArray[np.int64]) -> None:
    """Make `lacking`: the edges of which too few trips were read so far."""
    reader.con.register("few", {"edge": lacking})
    columns = listed([*key, f"{EDGES}.edge"])
    reader.con.execute(
        f"CREATE OR REPLACE TEMP TABLE lacking AS SELECT {columns} FROM {EDGES} SEMI JOIN few USING (edge)"
    )
