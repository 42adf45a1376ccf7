"""Visits to transitions: in each trip, ordered by time, every visit but the last is a transition to the next one.

Visits at the same time keep the order of their rows. Where their rows are in different files, or come from a source
without order, their order is unknown: such visits are bad, unless they are alike in all columns.

Where states are cells, successive visits of one cell are one visit, a stay: its reward is the sum of theirs, its action
that of the last. A move begins at the last of them, which is in the log that has the move also where a stay began in an
earlier log; time elapses from the first.
"""

from __future__ import annotations

import warnings
from typing import Any

from fwrl.errors import FwrlWarning
from fwrl.planner.experience import time_unit
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.schema import COLUMNS, LABELS, VISITS
from fwrl.planner.ingest.sql import all_of, any_of, listed, union_all, when

NAMED = 5  # trips in a message
ROWS = "visit_rows"  # what DuckDB calls the rows of the log in order, so that `rowid` is their number
ORDER = "WINDOW w AS (PARTITION BY trip ORDER BY time, row)"


def read_rows(reader: Reader, log: Log) -> None:
    """Make `visit_rows`: the rows of the log, with the column `part` where the order of some is unknown."""
    rows = union_all(selection.rows(part=log.has_parts) for selection in log.selections)
    reader.con.execute("SET preserve_insertion_order=true")
    reader.run("reading visits", f"CREATE TEMP TABLE {ROWS} AS {rows}")
    reader.con.execute("SET preserve_insertion_order=false")


def make_visits(reader: Reader, log: Log, skip_bad: bool) -> int:
    """Make `visits` from `visit_rows`, which is dropped; the number of visits whose order is unknown.

    A visit without trip or time is left out.
    """
    disordered = _make_disordered(reader, log, skip_bad) if log.has_parts else 0
    visits = _placed(log, disordered > 0)
    if "stays" in log.has:
        visits = _stays(log, visits)
    terms = [
        *(name for name in COLUMNS if name in log.has and not (name == "reward" and log.elapsed)),
        *when(log.elapsed, f"{_elapsed(log)} AS reward"),
        *when("stays" in log.has, "arrival"),
        "lead(state) OVER w AS next_state",
        *when("terminated" in log.has, "lead(terminated) OVER w AS next_terminated"),
        "lag(time) OVER w IS NULL AS first",
        "lead(time) OVER w IS NULL AS last",
    ]
    reader.run("ordering visits", f"CREATE TEMP TABLE {VISITS} AS SELECT {listed(terms)} FROM ({visits}) {ORDER}")
    reader.con.execute(f"DROP TABLE {ROWS}")
    return disordered


def moves_of_visits(log: Log) -> str:
    """A query for the transitions in `visits` that begin in the period.

    A visit without a state interrupts its trip: no transition leads across it.
    """
    gap = any_of(log.missing(name) for name in LABELS[:2])
    kept = [name for name in COLUMNS if (name in log.has and name != "terminated") or name == "next_state"]
    kept += when("terminated" in log.has, "next_terminated AS terminated")
    return f"SELECT {listed(kept)} FROM {VISITS} WHERE NOT ({gap}) AND {log.period}"


def _placed(log: Log, some_disordered: bool) -> str:
    """A query for visits with a trip and a time; those whose order or end is unknown have no state."""
    unplaced = any_of(log.missing(name) for name in ("trip", "time"))
    columns = [name for name in COLUMNS if name in log.selections[0].terms]
    known = [*when(some_disordered, "visits IS NULL"), *when("terminated" in log.has, "terminated IS NOT NULL")]
    state = f"CASE WHEN {all_of(known)} THEN state END AS state" if known else "state"
    terms = [state if name == "state" else name for name in columns]
    if not some_disordered:
        return f"SELECT {listed([*terms, 'rowid AS row'])} FROM {ROWS} WHERE NOT ({unplaced})"
    return (
        f"SELECT {listed([*terms, 'v.rowid AS row'])} FROM {ROWS} v LEFT JOIN disordered USING (trip, time) "
        f"WHERE NOT ({unplaced})"
    )


def _stays(log: Log, visits: str) -> str:
    """A query in which successive visits of one state are one, with the time of the first as `arrival`."""
    marked = f"SELECT *, (lag(state) OVER w IS DISTINCT FROM state)::INTEGER AS changed FROM ({visits}) {ORDER}"
    numbered = f"SELECT *, sum(changed) OVER w AS stay FROM ({marked}) {ORDER}"
    terms = {
        "state": "any_value(state)",
        "action": "arg_max(action, (time, row))",
        "reward": "sum(reward ORDER BY time, row)",
        "terminated": "bool_or(terminated)",
        "time": "max(time)",
        "trip": "trip",
    }
    columns = [f"{terms[name]} AS {name}" for name in COLUMNS if name in log.selections[0].terms]
    more = ["min(time) AS arrival", "min(row) AS row"]
    return f"SELECT {listed([*columns, *more])} FROM ({numbered}) GROUP BY trip, stay"


def _elapsed(log: Log) -> str:
    """A term for minus the time to the next visit, in seconds or in the unit of the log's numbers."""
    return f"({log.arrival} - lead({log.arrival}) OVER w) / {time_unit(log.time)}.0::DOUBLE"


def _make_disordered(reader: Reader, log: Log, skip_bad: bool) -> int:
    """Make `disordered`: trips and times of visits whose order is unknown; the number of such visits.

    They are an error unless `skip_bad`, which warns.
    """
    differing = [name for name in ("state", "action", "reward", "terminated") if name in log.selections[0].terms]
    differ = any_of(f"min({name}) IS DISTINCT FROM max({name})" for name in differing)
    reader.con.execute(
        f"CREATE TEMP TABLE disordered AS SELECT trip, time, count(*) AS visits FROM {ROWS} GROUP BY trip, time "
        f"HAVING trip IS NOT NULL AND time IS NOT NULL AND min(part) <> max(part) AND ({differ})"
    )
    trips = reader.con.execute("SELECT DISTINCT trip FROM disordered ORDER BY trip").fetchall()
    if not trips:
        return 0
    named = _named([trip for (trip,) in trips])
    problem = f"the order of visits at the same time is unknown, since their rows are not in one file, of {named}"
    if not skip_bad:
        raise LogError(problem, "skip_bad")
    warnings.warn(f"{problem}; they are left out", FwrlWarning, stacklevel=2)
    return int(reader.one("SELECT sum(visits) FROM disordered")[0])


def _named(trips: list[Any]) -> str:
    more = f" and {len(trips) - NAMED:,} more" if len(trips) > NAMED else ""
    return f"trip{'s' * (len(trips) > 1)} {', '.join(repr(trip) for trip in trips[:NAMED])}{more}"
