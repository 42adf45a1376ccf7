"""The first and the last visit of each trip, by which a trip is joined to its continuation in another log."""

from __future__ import annotations

import numpy as np

from fwrl.planner.experience import NONE, OUTSIDE, TERMINATED, TripEnds
from fwrl.planner.ingest.label_codes import encode
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.schema import VISITS
from fwrl.planner.ingest.sql import listed, when


def trip_ends(reader: Reader, log: Log) -> TripEnds:
    """The ends of the trips in `visits`."""
    has_action, has_reward = "action" in log.has, "reward" in log.has and not log.elapsed
    limited = log.period != "true"
    reader.run("keeping ends of trips", f"CREATE TEMP TABLE ends AS {_ends(log)}")
    trips = encode(reader, "end_trips", "ends", ("trip",), log, "trip")
    states = encode(reader, "end_states", "ends", ("first_state", "last_state"), log, "state")
    actions = encode(reader, "end_actions", "ends", ("last_action",), log, "action") if has_action else None
    terms = [
        "first_time",
        "last_time",
        f"coalesce(f.code, {NONE}) AS first_code",
        f"coalesce(l.code, {NONE}) AS last_code",
        *when(has_action, f"coalesce(a.code, {NONE}) AS action_code"),
        *when(has_reward, "coalesce(last_reward, 'nan'::DOUBLE) AS reward"),
        *when(log.elapsed, "last_arrival"),
        *when(limited, "last_kept"),
        *when("terminated" in log.has, "first_terminated"),
    ]
    joins = [
        "ends JOIN end_trips t ON trip = t.label",
        "LEFT JOIN end_states f ON first_state = f.label",
        "LEFT JOIN end_states l ON last_state = l.label",
        *when(has_action, "LEFT JOIN end_actions a ON last_action = a.label"),
    ]
    rows = reader.columns(f"SELECT {listed(terms)} FROM {' '.join(joins)} ORDER BY t.code")
    return TripEnds(
        trips,
        states,
        actions,
        rows["first_time"].astype(np.int64),
        rows["first_code"].astype(np.int32),
        rows["last_time"].astype(np.int64),
        rows["last_code"].astype(np.int32),
        rows["action_code"].astype(np.int32) if has_action else None,
        np.ascontiguousarray(rows["reward"], np.float64) if has_reward else None,
        rows["last_arrival"].astype(np.int64) if log.elapsed else None,
        rows["last_kept"].astype(np.uint8) if limited else None,
        rows["first_terminated"].astype(np.uint8) if "terminated" in log.has else None,
    )


def _ends(log: Log) -> str:
    """A query for one row for each trip; what is missing is NULL."""

    def at(end: str, name: str) -> str:
        value = f"CASE WHEN {log.missing(name)} THEN NULL ELSE {name} END"
        return f"any_value({value}) FILTER ({end}) AS {end}_{name}"

    flag = f"CASE WHEN NOT terminated THEN 0 WHEN {log.period} THEN {TERMINATED} ELSE {OUTSIDE} END"
    terms = [
        "trip",
        f"any_value({log.arrival}) FILTER (first) AS first_time",
        "any_value(time) FILTER (last) AS last_time",
        at("first", "state"),
        at("last", "state"),
        *when("action" in log.has, at("last", "action")),
        *when("reward" in log.has and not log.elapsed, at("last", "reward")),
        *when(log.elapsed, f"any_value({log.arrival}) FILTER (last) AS last_arrival"),
        *when(log.period != "true", f"any_value(({log.period})::UTINYINT) FILTER (last) AS last_kept"),
        *when("terminated" in log.has, f"coalesce(any_value({flag}) FILTER (first), 0) AS first_terminated"),
    ]
    return f"SELECT {listed(terms)} FROM {VISITS} WHERE first OR last GROUP BY trip"
