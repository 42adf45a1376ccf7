"""The latest trips of each edge.

A query for the largest few of each group is slow in SQL. So the last rows of the log, which hold nearly all of the
latest trips, are read first and a kernel picks the trips; rows further back are read for edges that still have too few.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwrl.planner.experience import KEPT
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.schema import EDGE_TRIPS, EDGES, MOVES, TRIP_HASHES, edge_key
from fwrl.planner.ingest.sql import listed, when

if TYPE_CHECKING:
    from fwrl.kernels.recent_trips import Latest

ENOUGH = 6  # rows per edge, on average, to read first
ALL = 0.5  # of the time of a log, beyond which all of it is read
FURTHER = 4  # factor by which each further read goes back in time
KEPT_TRIPS, ROWS = 0, 1  # columns of `Latest.seen`


def latest_trips(rows: str, timed: bool) -> str:
    """A query for the latest few trips of each edge, with their rank, from rows with edge, trip and, if `timed`, time.

    Trips are ranked by time and then by hash; without times by number and then by name. An integer ranks the same
    whether it is logged as a number or as text.
    """
    order = "time DESC, hash(trip::VARCHAR) DESC" if timed else by_name("DESC")
    each = listed(["edge", "trip", *when(timed, "max(time) AS time")])
    return (
        f"SELECT *, row_number() OVER (PARTITION BY edge ORDER BY {order})::INTEGER - 1 AS rank "
        f"FROM (SELECT {each} FROM {rows} GROUP BY edge, trip) QUALIFY rank < {KEPT}"
    )


def by_name(direction: Literal["ASC", "DESC"]) -> str:
    """The order of trips without times: numbers rank above other names."""
    nulls = "NULLS LAST" if direction == "DESC" else "NULLS FIRST"
    return f"try_cast(trip AS BIGINT) {direction} {nulls}, trip::VARCHAR {direction}"


def count_trips(reader: Reader) -> tuple[int, int]:
    """Make `trip_hashes`; the number of trips in `moves`, and of missing names among them."""
    reader.run(
        "counting trips",
        f"CREATE TEMP TABLE {TRIP_HASHES} AS SELECT trip, hash(trip) AS hash FROM (SELECT DISTINCT trip FROM {MOVES})",
    )
    unnamed = "trip IS NULL OR trip::VARCHAR = ''"
    trips, missing = reader.one(f"SELECT count(*), count(*) FILTER ({unnamed}) FROM {TRIP_HASHES}")
    return int(trips), int(missing)


def keep_listed_trips(reader: Reader, has: Collection[str]) -> int:
    """Make `edge_trips` and `trip_hashes` of edges that are counted already, from their lists; the number of trips."""
    timed = "time" in has
    time = "unnest(trip_times) AS time" if "trip_times" in has else "time"
    terms = listed(["edge", "unnest(trips) AS trip", *when(timed, time)])
    listed_trips = f"(SELECT {terms} FROM {MOVES} JOIN {EDGES} USING ({listed(edge_key(has))}))"
    reader.con.execute(f"CREATE TEMP TABLE {EDGE_TRIPS} AS {latest_trips(listed_trips, timed)}")
    reader.con.execute(
        f"CREATE TEMP TABLE {TRIP_HASHES} AS SELECT trip, hash(trip) AS hash "
        f"FROM (SELECT DISTINCT trip FROM {EDGE_TRIPS})"
    )
    return int(reader.one(f"SELECT count(*) FROM {TRIP_HASHES}")[0])


def keep_trips(
    reader: Reader, has: Collection[str], n_edges: int, n_rows: int, span: tuple[int, int] | None, integers: bool
) -> None:
    """Make `edge_trips` from `moves` and `edges`; with times, add `last` to `edges`.

    `has` are the columns of the log, `span` its first and last time; `integers` says whether trips are.
    """
    if span is None:
        seen = f"(SELECT edge, trip FROM {MOVES} JOIN {EDGES} USING ({listed(edge_key(has))}))"
        reader.run("keeping trips", f"CREATE TEMP TABLE {EDGE_TRIPS} AS {latest_trips(seen, timed=False)}")
        return
    from fwrl.kernels.recent_trips import TIME, TRIP

    latest = _latest(reader, edge_key(has), n_edges, n_rows, span, integers)
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


def _latest(reader: Reader, key: list[str], n_edges: int, n_rows: int, span: tuple[int, int], integers: bool) -> Latest:
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
        lacking = np.flatnonzero((latest.seen[:, KEPT_TRIPS] < KEPT) & (latest.seen[:, ROWS] < counts))
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
