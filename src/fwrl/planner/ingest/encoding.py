"""The tables in DuckDB to the arrays of an `Experience`, with codes instead of labels."""

from __future__ import annotations

import numpy as np

from fwrl.arrays import Indices, Ints
from fwrl.planner.aging import Aging
from fwrl.planner.experience import KEPT, NONE, Bits, Evidence, Experience
from fwrl.planner.ingest.label_codes import encode
from fwrl.planner.ingest.log import Log
from fwrl.planner.ingest.reader import Columns, Reader
from fwrl.planner.ingest.schema import ACTION_CODES, EDGE_TRIPS, EDGES, STATE_CODES, TRIP_CODES, TRIP_HASHES, VISITS
from fwrl.planner.ingest.sql import listed, when
from fwrl.planner.ingest.trip_ends import trip_ends

DTYPES: dict[str, type[np.generic]] = {
    "source": np.int32,
    "action_code": np.int32,
    "target": np.int32,
    "edge": np.int32,
    "count": np.int64,
    "total": np.float64,
    "best": np.float64,
    "terminated": np.bool_,
    "weight": np.float64,
    "last": np.int64,
}


def encoded_experience(reader: Reader, log: Log, aging: Aging | None = None) -> Experience:
    """The experience in the tables; its summary and the counts of connections are not filled in.

    `aging` is how observations were weighted.
    """
    states = encode(reader, STATE_CODES, EDGES, ("state", "next_state"), log, "state")
    actions = encode(reader, ACTION_CODES, EDGES, ("action",), log, "action") if "action" in log.has else None
    edges, timed = _edges(reader, log), log.time is not None
    evidence = Evidence(last=edges["last"] if timed else None)
    if "trip" in log.has:
        trips = encode(reader, TRIP_CODES, TRIP_HASHES, ("trip",), log, "trip")
        trip, trip_time = _edge_trips(reader, edges, timed)
        ends = trip_ends(reader, log) if log.shape == "visits" else None
        evidence = Evidence(evidence.last, trips, trip, trip_time, ends=ends)
    return Experience(
        states,
        actions,
        edges["source"],
        edges["action_code"] if "action" in log.has else None,
        edges["target"],
        edges["count"],
        edges["total"],
        edges["best"],
        terminated=_terminated(reader, log, edges, len(states)) if "terminated" in log.has else None,
        weight=None if aging is None else edges["weight"],
        aging=aging,
        cells=log.cells,
        position=None if log.cells is None else log.cells.centres(list(map(str, states))),
        time=log.time,
        evidence_source=evidence,
    )


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
        *when("terminated" in log.has, "e.terminated"),
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
    query = f"SELECT {listed(terms)} FROM {' '.join(joins)} ORDER BY {listed(order)}"
    n_edges = int(reader.one(f"SELECT count(*) FROM {EDGES}")[0])
    edges: Columns = {}
    first = 0
    for piece in reader.pieces("", query, n_edges, ordered=True):
        for name, column in piece.items():
            edges.setdefault(name, np.empty(n_edges, DTYPES[name]))[first : first + len(column)] = column
        first += len(piece["edge"])
    return edges


def _terminated(reader: Reader, log: Log, edges: Columns, n_states: int) -> Bits:
    """(S,) 1 at the states in which a trip terminated: after a transition, or at a visit that none leads to."""
    terminated = terminal_states(edges, n_states)
    if log.shape == "visits":
        flagged = f"SELECT DISTINCT state FROM {VISITS} WHERE terminated AND {log.period}"
        codes = reader.columns(f"SELECT code FROM ({flagged}) JOIN {STATE_CODES} ON state = label")
        terminated[codes["code"]] = 1
    return terminated


def terminal_states(edges: Columns, n_states: int) -> Bits:
    """(S,) 1 at the states that a terminated transition leads to."""
    terminated = np.zeros(n_states, np.uint8)
    terminated[edges["target"][edges["terminated"]]] = 1
    return terminated


def _edge_trips(reader: Reader, edges: Columns, timed: bool) -> tuple[Indices, Ints | None]:
    """(E, 3) the codes of the latest trips of each edge, and their times if there are any."""
    terms = ["edge", "rank", "t.code AS trip_code", *when(timed, "time")]
    query = f"SELECT {listed(terms)} FROM {EDGE_TRIPS} e JOIN {TRIP_CODES} t ON e.trip = t.label"
    E = len(edges["edge"])
    row_of = np.empty(E, np.int32)
    row_of[edges["edge"]] = np.arange(E, dtype=np.int32)
    trip = np.full((E, KEPT), NONE, np.int32)
    trip_time = np.zeros(trip.shape, np.int64) if timed else None
    for rows in reader.pieces("", query, E * KEPT):
        where = row_of[rows["edge"]], rows["rank"]
        trip[where] = rows["trip_code"]
        if trip_time is not None:
            trip_time[where] = rows["time"]
    return trip, trip_time
