"""Adding the edges of an older experience to those of a new log.

Everything kept of an edge can be merged: counts and sums are added, the best reward and the latest trips compared. So
two logs one after the other give the same experience as both at once, provided that no trip is cut in two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fwrl.errors import FwrlError
from fwrl.planner.experience import MILLION, NONE, Experience, TimeKind
from fwrl.planner.ingest.latest import latest_trips
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.schema import EDGE_TRIPS, EDGES, edge_key
from fwrl.planner.ingest.sql import listed, union_all, when
from fwrl.planner.ingest.times import LARGEST


class Scale(NamedTuple):
    """Factors that bring old and new times to one unit, and what times are then."""

    old: int
    new: int
    time: TimeKind | None


def fold(reader: Reader, log: Log, old: Experience, integer: Mapping[str, bool]) -> TimeKind | None:
    """Add the old edges to `edges` and their trips to `edge_trips`; what times are after that.

    `integer` says for state, action and trip whether the labels of both are integers; otherwise they become text.
    """
    _check_columns(log, old)
    scale = _common_time(old.time, log.time)
    if old.time != log.time:
        _check_range(reader, log, old if scale.old > 1 else None)
    key, timed = edge_key(log.has), log.time is not None
    types = {name: "BIGINT" if whole else "VARCHAR" for name, whole in integer.items()}
    types["next_state"] = types["state"]
    labels = [f"{name}::{types[name]} AS {name}" for name in key]
    old_edges = _old_edges(old, integer, scale)
    reader.con.register("old_edges", old_edges)
    both = union_all(
        f"SELECT {listed([*labels, 'count', 'total', 'best', *when('age' in log.has, 'weight'), *last])} FROM {table}"
        for table, last in ((EDGES, when(timed, f"last * {scale.new} AS last")), ("old_edges", when(timed, "last")))
    )
    merged = [
        "sum(count)::BIGINT AS count",
        "sum(total) AS total",
        "max(best) AS best",
        *when("age" in log.has, "sum(weight) AS weight"),
        *when(timed, "max(last) AS last"),
    ]
    united = f"SELECT {listed([*key, *merged])} FROM ({both}) GROUP BY {listed(key)}"
    reader.con.execute(
        f"CREATE TEMP TABLE united AS SELECT *, (row_number() OVER () - 1)::INTEGER AS edge FROM ({united})"
    )
    if "trip" in log.has:
        trip = f"trip::{types['trip']} AS trip"
        _fold_trips(reader, old, {name: old_edges[name] for name in key}, [*labels, trip], integer["trip"], scale)
    reader.con.execute(f"DROP TABLE {EDGES}; ALTER TABLE united RENAME TO {EDGES}")
    return scale.time


def _check_columns(log: Log, old: Experience) -> None:
    """Refuse a log whose columns or times differ from those of the older logs."""
    had = {"action": old.action is not None, "trip": old.evidence.trip is not None, "time": old.time is not None}
    for name, before in had.items():
        if before != (name in log.has):
            one, other = ("have", "does not") if before else ("do not have", "does")
            raise FwrlError(f"the older logs {one} a column {name}, the new log {other}; all must have the same")
    if old.aging is not None and old.time != log.time:
        raise FwrlError("weights by age need times of one kind; write those of the older and the new logs alike")
    if (old.time == "timestamp") != (log.time == "timestamp"):
        raise FwrlError(f"the times of the older logs are of kind {old.time}, those of the new log {log.time}")


def _common_time(old: TimeKind | None, new: TimeKind | None) -> Scale:
    """Integers become millionths where the other times are."""
    if old == new:
        return Scale(1, 1, old)
    return Scale(MILLION, 1, "number") if old == "integer" else Scale(1, MILLION, "number")


def _check_range(reader: Reader, log: Log, old: Experience | None) -> None:
    """Refuse integers too large for millionths: those of `old`, or else the new ones."""
    if old is None:
        times = [f"SELECT last AS time FROM {EDGES}", *when("trip" in log.has, f"SELECT time FROM {EDGE_TRIPS}")]
        low, high = reader.one(f"SELECT min(time), max(time) FROM ({union_all(times)})")
    else:
        arrays = [array for array in (old.evidence.last, old.evidence.trip_time) if array is not None]
        low, high = min(int(array.min()) for array in arrays), max(int(array.max()) for array in arrays)
    if max(-low, high) > LARGEST:
        raise FwrlError(
            f"expected times up to {LARGEST:,} in size where some are integers and some are not, got "
            f"{high if high > LARGEST else low:,}; write them all alike"
        )


def _old_edges(old: Experience, integer: Mapping[str, bool], scale: Scale) -> dict[str, Any]:
    """The old edges as columns of `edges`."""
    columns: dict[str, Any] = {
        "state": old.states.column(old.source, not integer["state"]),
        "next_state": old.states.column(old.target, not integer["state"]),
        "count": np.ascontiguousarray(old.count),
        "total": np.ascontiguousarray(old.total),
        "best": np.ascontiguousarray(old.best),
    }
    if old.action is not None and old.actions is not None:
        columns["action"] = old.actions.column(old.action, not integer["action"])
    if old.weight is not None:
        columns["weight"] = np.ascontiguousarray(old.weight)
    if old.evidence.last is not None:
        columns["last"] = old.evidence.last * scale.old
    return columns


def _fold_trips(
    reader: Reader, old: Experience, key: dict[str, Any], labels: list[str], integer: bool, scale: Scale
) -> None:
    """Merge the old trips into `edge_trips`; `key` are the columns that tell the old edges from one another."""
    evidence = old.evidence
    assert evidence.trip is not None
    assert evidence.trips is not None
    timed = evidence.trip_time is not None
    edge, rank = np.nonzero(evidence.trip != NONE)
    old_trips = {name: column[edge] for name, column in key.items()}
    old_trips["trip"] = evidence.trips.column(evidence.trip[edge, rank], not integer)
    if evidence.trip_time is not None:
        old_trips["time"] = evidence.trip_time[edge, rank] * scale.old
    reader.con.register("old_trips", old_trips)
    new = f"(SELECT {listed([*key, 'trip', *when(timed, 'time')])} FROM {EDGE_TRIPS} JOIN {EDGES} USING (edge))"
    both = union_all(
        f"SELECT {listed([*labels, *time])} FROM {table}"
        for table, time in ((new, when(timed, f"time * {scale.new} AS time")), ("old_trips", when(timed, "time")))
    )
    columns = listed(["edge", "trip", *when(timed, "time")])
    rows = f"(SELECT {columns} FROM ({both}) JOIN united USING ({listed(key)}))"
    reader.con.execute(f"CREATE OR REPLACE TEMP TABLE {EDGE_TRIPS} AS {latest_trips(rows, timed)}")
