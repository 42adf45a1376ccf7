"""The latest trips of each edge.

Finding the largest few of each group is slow in SQL, so they are looked for among the last rows of the log first, where
nearly all of them are, and picked by a kernel; only for edges that had too few trips there it looks further back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fwrl.planner.experience import KEPT, NONE
from fwrl.planner.reader import Reader

if TYPE_CHECKING:
    from fwrl.kernels.latest import Latest

ENOUGH = 6  # rows of an edge, on average, to look for its latest trips among
FURTHER = 4  # how many times as far back to look for those of the edges that had too few
AT_ONCE = 4_000_000  # rows taken from DuckDB in one go


def _latest_first(timed: bool) -> str:
    """How the trips of an edge are ranked: by time, chance breaking ties, and without times by name."""
    return "time DESC, hash(trip::VARCHAR) DESC" if timed else "trip DESC"


def latest_trips(rows: str, timed: bool) -> str:
    """A query for the latest few trips of each edge, with their rank, from rows with its number, a trip and a time?."""
    each = "no, trip, max(time) AS time" if timed else "no, trip"
    return (
        f"SELECT *, row_number() OVER (PARTITION BY no ORDER BY {_latest_first(timed)})::INTEGER - 1 AS rank "
        f"FROM (SELECT {each} FROM {rows} GROUP BY no, trip) QUALIFY rank < {KEPT}"
    )


def keep_trips(reader: Reader, keys: str, edges: int, rows: int, span: tuple[int, int] | None) -> None:
    """Make `kept` (no, trip, time?, rank) from `moves` and `grouped`; with times, `grouped` gets its `last`.

    `span` are the first and the last time of the log.
    """
    if span is None:
        seen = f"(SELECT no, trip FROM moves JOIN grouped USING ({keys}))"
        reader.run("keeping trips", f"CREATE TEMP TABLE kept AS {latest_trips(seen, timed=False)}")
        return
    latest = _latest(reader, keys, edges, ENOUGH * edges / rows, span)
    edge, rank = np.nonzero(latest.row != NONE)
    reader.con.register("picked", {"place": latest.row[edge, rank], "rank": rank.astype(np.int32)})
    reader.con.execute(
        "CREATE TEMP TABLE kept AS SELECT no, trip, time, rank FROM picked JOIN candidates ON place = candidates.rowid"
    )
    reader.con.execute("DROP TABLE candidates")
    reader.con.register("seen", {"no": np.arange(edges), "last": latest.time[:, 0]})
    reader.con.execute(
        "CREATE OR REPLACE TEMP TABLE grouped AS SELECT grouped.*, last FROM grouped JOIN seen USING (no)"
    )


def _latest(reader: Reader, keys: str, edges: int, part: float, span: tuple[int, int]) -> Latest:
    """The latest trips of each edge, as rows of a new table `candidates`."""
    from fwrl.kernels.latest import no_trips

    low, high = span
    until, wanted, looked_at = high + 1, "grouped", 0
    counts: Any = np.ma.getdata(reader.con.execute("SELECT count FROM grouped ORDER BY no").fetchnumpy()["count"])
    latest = no_trips(edges, KEPT)
    reader.con.execute("CREATE TEMP TABLE candidates AS SELECT 0 AS no, trip, time FROM moves LIMIT 0")
    while until > low:
        since = low if part > 0.5 else max(low, high - int((high - low) * part))
        reader.run(
            "keeping trips",
            f"INSERT INTO candidates SELECT no, trip, time FROM moves JOIN {wanted} USING ({keys}) "
            f"WHERE time >= {since} AND time < {until}",
        )
        looked_at = _take(reader, latest, looked_at)
        lacking = np.flatnonzero((latest.row[:, KEPT - 1] == NONE) & (latest.rows < counts))
        if not len(lacking):
            break
        reader.con.register("few", {"no": lacking})
        reader.con.execute(
            f"CREATE OR REPLACE TEMP TABLE lacking AS SELECT {keys}, grouped.no FROM grouped SEMI JOIN few USING (no)"
        )
        until, part, wanted = since, part * FURTHER, "lacking"
    return latest


def _take(reader: Reader, latest: Latest, begin: int) -> int:
    """Show the kernel what came to `candidates` from row `begin` on; the number of rows there are."""
    from fwrl.kernels.latest import keep_latest

    end = int(reader.one("SELECT count(*) FROM candidates")[0])
    for first in range(begin, end, AT_ONCE):
        found = reader.con.execute(
            "SELECT no, time::BIGINT AS time, hash(trip::VARCHAR) AS mark, rowid AS place FROM candidates "
            f"WHERE rowid >= {first} AND rowid < {first + AT_ONCE}"
        ).fetchnumpy()
        edge, time, mark, place = (np.ma.getdata(found[name]) for name in ("no", "time", "mark", "place"))
        keep_latest(
            edge.astype(np.int32), time.astype(np.int64), mark.astype(np.uint64), place.astype(np.int64), latest
        )
    return end
