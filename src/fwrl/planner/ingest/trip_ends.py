"""The first and the last visit of each trip, by which a trip is joined to its continuation in another log."""

from __future__ import annotations

import numpy as np

from fwrl.planner.experience import NONE, TripEnds
from fwrl.planner.ingest.label_codes import encode
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.schema import VISITS
from fwrl.planner.ingest.sql import listed, when

DEFAULT_REWARD = -1.0  # of a transition where none is logged


def trip_ends(reader: Reader, log: Log) -> TripEnds:
    """The ends of the trips in `visits`."""
    has_action = "action" in log.has
    reader.run("keeping ends of trips", f"CREATE TEMP TABLE ends AS {_ends(log)}")
    trips = encode(reader, "end_trips", "ends", ("trip",), log, "trip")
    states = encode(reader, "end_states", "ends", ("first_state", "last_state"), log, "state")
    actions = encode(reader, "end_actions", "ends", ("last_action",), log, "action") if has_action else None
    terms = [
        "first_time",
        "last_time",
        f"coalesce(f.code, {NONE}) AS first_code",
        f"coalesce(l.code, {NONE}) AS last_code",
        "coalesce(last_reward, 'nan'::DOUBLE) AS reward",
        *when(has_action, f"coalesce(a.code, {NONE}) AS action_code"),
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
        np.ascontiguousarray(rows["reward"], np.float64),
    )


def _ends(log: Log) -> str:
    """A query for one row for each trip; what is missing is NULL."""

    def at(end: str, name: str) -> str:
        value = f"CASE WHEN {log.missing(name)} THEN NULL ELSE {name} END"
        return f"any_value({value}) FILTER ({end})"

    terms = [
        "trip",
        "any_value(time) FILTER (first) AS first_time",
        "any_value(time) FILTER (last) AS last_time",
        f"{at('first', 'state')} AS first_state",
        f"{at('last', 'state')} AS last_state",
        *when("action" in log.has, f"{at('last', 'action')} AS last_action"),
        f"{at('last', 'reward') if 'reward' in log.has else f'{DEFAULT_REWARD}::DOUBLE'} AS last_reward",
    ]
    return f"SELECT {listed(terms)} FROM {VISITS} WHERE first OR last GROUP BY trip"
