"""Label encoding: labels to codes, and the tables in DuckDB to the arrays of an `Experience`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fwrl.planner.aging import Aging
from fwrl.planner.experience import KEPT, NONE, Evidence, Experience, Indices, Ints
from fwrl.planner.ingest.folding import fold
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Columns, Reader
from fwrl.planner.ingest.schema import (
    ACTION_CODES,
    EDGE_TRIPS,
    EDGES,
    STATE_CODES,
    TRIP_CODES,
    TRIP_HASHES,
    SharedTable,
)
from fwrl.planner.ingest.sql import listed, when
from fwrl.planner.labels import IntegerLabels, Labels, TextLabels


def encoded_experience(reader: Reader, log: Log, old: Experience | None, aging: Aging | None = None) -> Experience:
    """The experience in the tables, merged with `old`; its summary and the counts of connections are not filled in.

    `aging` is how the new observations were weighted, at a newest time not before that of `old`.
    """
    integer = {name: _is_integer(reader, log, name, old) for name in ("state", "action", "trip")}
    time = log.time if old is None else fold(reader, log, old, integer)
    states = _encode(reader, STATE_CODES, EDGES, ("state", "next_state"), integer["state"])
    actions = _encode(reader, ACTION_CODES, EDGES, ("action",), integer["action"]) if "action" in log.has else None
    edges = _edges(reader, log)
    evidence = Evidence(last=edges["last"].astype(np.int64) if time is not None else None)
    if "trip" in log.has:
        trips = _encode(reader, TRIP_CODES, EDGE_TRIPS, ("trip",), integer["trip"])
        trip, trip_time = _edge_trips(reader, edges, timed=time is not None)
        evidence = Evidence(evidence.last, trips, trip, trip_time)
    return Experience(
        states,
        actions,
        edges["source"].astype(np.int32),
        edges["action_code"].astype(np.int32) if "action" in log.has else None,
        edges["target"].astype(np.int32),
        edges["count"].astype(np.int64),
        np.ascontiguousarray(edges["total"], np.float64),
        np.ascontiguousarray(edges["best"], np.float64),
        weight=None if aging is None else np.ascontiguousarray(edges["weight"], np.float64),
        aging=aging,
        cells=log.cells,
        position=None if log.cells is None else log.cells.centres(list(map(str, states))),
        time=time,
        evidence_source=evidence,
    )


def _is_integer(reader: Reader, log: Log, name: str, old: Experience | None) -> bool:
    """Whether the labels of a column are integers, in the log and in `old`.

    Text from CSV is read as integers if every label is the usual text of one.
    """
    if name not in log.has:
        return False
    if old is not None:
        before = {"state": old.states, "action": old.actions, "trip": old.evidence.trips}[name]
        if isinstance(before, TextLabels):
            return False
    if log.kinds[name] != "undecided":
        return log.kinds[name] == "integer"
    table = EDGES if name != "trip" else EDGE_TRIPS if "trips" in log.has else TRIP_HASHES
    columns = ("state", "next_state") if name == "state" else (name,)
    whole = (f"bool_and(coalesce(try_cast({c} AS BIGINT)::VARCHAR = {c}::VARCHAR, false))" for c in columns)
    return all(reader.one(f"SELECT {listed(whole)} FROM {table}"))


def _encode(reader: Reader, codes: SharedTable, table: SharedTable, columns: Sequence[str], integer: bool) -> Labels:
    """The labels in `columns` of `table`; makes the table `codes`, from label to code."""
    distinct = " UNION ".join(f"SELECT DISTINCT {column} AS label FROM {table}" for column in columns)
    typed = "label::BIGINT" if integer else "label::VARCHAR"
    reader.con.execute(
        f"CREATE OR REPLACE TEMP TABLE {codes} AS "
        f"SELECT label, (row_number() OVER (ORDER BY {typed}) - 1)::INTEGER AS code FROM ({distinct})"
    )
    labels = reader.columns(f"SELECT {typed} AS label FROM {codes} ORDER BY code")["label"]
    return IntegerLabels(labels.astype(np.int64)) if integer else TextLabels.of(labels.tolist())


def _edges(reader: Reader, log: Log) -> Columns:
    """The edges in order, by code."""
    has_action = "action" in log.has
    terms = [
        "s.code AS source",
        *when(has_action, "a.code AS action_code"),
        "n.code AS target",
        "e.edge",
        "e.count::BIGINT AS count",
        "e.total",
        "e.best",
        *when("age" in log.has, "e.weight"),
        *when(log.time is not None, "e.last"),
    ]
    joins = [
        f"{EDGES} e",
        f"JOIN {STATE_CODES} s ON e.state = s.label",
        f"JOIN {STATE_CODES} n ON e.next_state = n.label",
        *when(has_action, f"JOIN {ACTION_CODES} a ON e.action = a.label"),
    ]
    order = ["source", *when(has_action, "action_code"), "target"]
    return reader.columns(f"SELECT {listed(terms)} FROM {' '.join(joins)} ORDER BY {listed(order)}")


def _edge_trips(reader: Reader, edges: Columns, timed: bool) -> tuple[Indices, Ints | None]:
    """(E, 3) the codes of the latest trips of each edge, and their times if there are any."""
    terms = ["edge", "rank", "t.code AS trip_code", *when(timed, "time")]
    rows = reader.columns(f"SELECT {listed(terms)} FROM {EDGE_TRIPS} e JOIN {TRIP_CODES} t ON e.trip = t.label")
    E = len(edges["edge"])
    row_of = np.empty(E, np.int32)
    row_of[edges["edge"]] = np.arange(E, dtype=np.int32)
    where = row_of[rows["edge"]], rows["rank"]
    trip = np.full((E, KEPT), NONE, np.int32)
    trip[where] = rows["trip_code"]
    if not timed:
        return trip, None
    trip_time = np.zeros(trip.shape, np.int64)
    trip_time[where] = rows["time"]
    return trip, trip_time
