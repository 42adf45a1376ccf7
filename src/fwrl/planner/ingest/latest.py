"""The latest trips of each edge.

Finding the largest few of each group is slow in SQL, so they are looked for among the last rows of the log first, where
nearly all of them are, and picked by a kernel; only for edges that had too few trips there it looks further back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fwrl.planner.experience import KEPT
from fwrl.planner.ingest.reader import AT_ONCE, Reader

if TYPE_CHECKING:
    from fwrl.kernels.latest import Latest

ENOUGH = 6  # rows of an edge, on average, to look for its latest trips among
FURTHER = 4  # how many times as far back to look for those of the edges that had too few


def _latest_first(timed: bool) -> str:
    """How the trips of an edge are ranked: by time, chance breaking ties, and without times by number, then by name.

    A number ranks the same whether it came as a number or as text.
    """
    by_name = "try_cast(trip AS BIGINT) DESC NULLS LAST, trip::VARCHAR DESC"
    return "time DESC, hash(trip::VARCHAR) DESC" if timed else by_name


def latest_trips(rows: str, timed: bool) -> str:
    """A query for the latest few trips of each edge, with their rank, from rows with its number, a trip and a time?."""
    each = "no, trip, max(time) AS time" if timed else "no, trip"
    return (
        f"SELECT *, row_number() OVER (PARTITION BY no ORDER BY {_latest_first(timed)})::INTEGER - 1 AS rank "
        f"FROM (SELECT {each} FROM {rows} GROUP BY no, trip) QUALIFY rank < {KEPT}"
    )


def count_trips(reader: Reader, numbers: bool) -> tuple[int, int]:
    """How many trips `moves` has, and how many of its rows name none.

    Where trips are `numbers`, their hashes differ too, and are quicker to tell apart. Where they are not, `journeys`
    keeps their names and hashes.
    """
    if numbers:
        trips, unnamed = reader.one("SELECT count(DISTINCT hash(trip)), count(*) - count(trip) FROM moves")
        return int(trips), int(unnamed)
    reader.run(
        "counting trips",
        "CREATE TEMP TABLE journeys AS SELECT trip, hash(trip) AS mark FROM (SELECT DISTINCT trip FROM moves)",
    )
    trips, unnamed = reader.one("SELECT count(*), count(*) FILTER (trip IS NULL OR trip = '') FROM journeys")
    return int(trips), int(unnamed)


def keep_trips(reader: Reader, keys: str, edges: int, rows: int, span: tuple[int, int] | None, numbers: bool) -> None:
    """Make `kept` (no, trip, time?, rank) from `moves` and `grouped`; with times, `grouped` gets its `last`.

    `span` are the first and the last time of the log; `numbers` tells that trips are.
    """
    if span is None:
        seen = f"(SELECT no, trip FROM moves JOIN grouped USING ({keys}))"
        reader.run("keeping trips", f"CREATE TEMP TABLE kept AS {latest_trips(seen, timed=False)}")
        return
    from fwrl.kernels.latest import TIME, TRIP

    con, latest = reader.con, _latest(reader, keys, edges, rows, span, numbers)
    edge, rank = np.nonzero(np.arange(KEPT) < latest.seen[:, :1])
    time, trip = latest.sight[edge, rank, TIME], latest.sight[edge, rank, TRIP]
    picked = {"no": edge.astype(np.int32), "time": time, "rank": rank.astype(np.int32)}
    con.register("picked", {**picked, "trip": trip} if numbers else {**picked, "mark": trip.view(np.uint64)})
    named = "picked" if numbers else "picked JOIN journeys USING (mark)"
    con.execute(f"CREATE TEMP TABLE kept AS SELECT no, trip, time, rank FROM {named}")
    con.register("seen", {"no": np.arange(edges), "last": np.ascontiguousarray(latest.sight[:, 0, TIME])})
    con.execute("CREATE OR REPLACE TEMP TABLE grouped AS SELECT grouped.*, last FROM grouped JOIN seen USING (no)")


def _latest(reader: Reader, keys: str, edges: int, rows: int, span: tuple[int, int], numbers: bool) -> Latest:
    """The latest trips of each edge; those that are not numbers by their hashes."""
    from fwrl.kernels.latest import keep_latest, no_trips

    (low, high), part = span, ENOUGH * edges / rows
    until, wanted, most = high + 1, "grouped", rows
    latest, counts = no_trips(edges, KEPT), np.empty(edges, np.int64)
    for found in reader.pieces("keeping trips", "SELECT no, count FROM grouped", edges):
        counts[found["no"]] = found["count"]
    while until > low:
        since = low if part > 0.5 else max(low, high - int((high - low) * part))
        within = f"time >= {since} AND time < {until}"
        if most > AT_ONCE:
            most = int(reader.one(f"SELECT count(*) FROM moves WHERE {within}")[0])
        trip = ", trip" * numbers
        query = (
            f"SELECT no, time::BIGINT AS time, hash(trip::VARCHAR) AS mark{trip} "
            f"FROM moves JOIN {wanted} USING ({keys}) WHERE {within}"
        )
        for found in reader.pieces("keeping trips", query, most):
            mark: Any = found["mark"]
            keep_latest(found["no"], found["time"], mark, found["trip"] if numbers else mark.view(np.int64), latest)
        lacking = np.flatnonzero((latest.seen[:, 0] < KEPT) & (latest.seen[:, 1] < counts))
        if not len(lacking):
            break
        reader.con.register("few", {"no": lacking})
        reader.con.execute(
            f"CREATE OR REPLACE TEMP TABLE lacking AS SELECT {keys}, grouped.no FROM grouped SEMI JOIN few USING (no)"
        )
        until, part, wanted, most = since, part * FURTHER, "lacking", int(counts[lacking].sum())
    return latest
