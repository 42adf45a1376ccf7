"""The tables in DuckDB to the arrays of `TransitionCounts`: labels to codes, and which states single trips connect.

A trip connects x to y if its own transitions, in any order, contain a path from x to y. If the log names no trips,
every transition counts as one. Pairs are looked at from a sample of start states (see `number_of_starts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fwrl.arrays import Indices, Ints
from fwrl.planner.ingest.log import (
    ACTION_CODES,
    EDGE_TRIPS,
    EDGES,
    MOVES,
    STATE_CODES,
    TRIP_CODES,
    TRIP_HASHES,
    VISITS,
    Log,
)
from fwrl.planner.ingest.reader import Columns, Reader, listed, when
from fwrl.planner.labels import IntegerLabels, Labels, TextLabels
from fwrl.planner.transition_counts import (
    KEPT,
    NONE,
    Aging,
    Bits,
    Evidence,
    TransitionCounts,
    number_of_starts,
    with_counts,
)

AT_ONCE = 200_000  # labels of text fetched in one go


def encode(reader: Reader, codes: str, table: str, columns: Sequence[str], log: Log, name: str) -> Labels:
    """The labels in `columns` of `table`, which hold what the log calls `name`; makes the table `codes`."""
    integer = _is_integer(reader, log, name, table, columns)
    each = (f"SELECT DISTINCT {column} AS label FROM {table} WHERE {column} IS NOT NULL" for column in columns)
    typed = "label::BIGINT" if integer else "label::VARCHAR"
    reader.con.execute(
        f"CREATE OR REPLACE TEMP TABLE {codes} AS "
        f"SELECT label, (row_number() OVER (ORDER BY {typed}) - 1)::INTEGER AS code FROM ({' UNION '.join(each)})"
    )
    if integer:
        numbers = reader.columns(f"SELECT {typed} AS label FROM {codes} ORDER BY code")["label"]
        return IntegerLabels(numbers.astype(np.int64))
    return _text_labels(reader, codes)


def _text_labels(reader: Reader, codes: str) -> Labels:
    """The labels of `codes` as text, fetched in pieces: a string of Python takes several times its text."""
    n = int(reader.one(f"SELECT count(*) FROM {codes}")[0])
    text, offsets, end = [], np.zeros(n + 1, np.int64), 0
    for first in range(0, n, AT_ONCE):
        piece = reader.columns(
            f"SELECT label::VARCHAR AS label, strlen(label::VARCHAR) AS size FROM {codes} "
            f"WHERE code >= {first} AND code < {first + AT_ONCE} ORDER BY code"
        )
        text.append("".join(piece["label"]).encode())
        ends = offsets[first + 1 : first + 1 + len(piece["size"])]
        np.cumsum(piece["size"], out=ends)
        ends += end
        end = int(ends[-1])
    return TextLabels(np.frombuffer(b"".join(text), np.uint8), offsets)


def _is_integer(reader: Reader, log: Log, name: str, table: str, columns: Sequence[str]) -> bool:
    """Whether labels are integers; text from CSV is read as integers if every label is the usual text of one."""
    if log.kinds[name] != "undecided":
        return log.kinds[name] == "integer"
    usual = (f"coalesce(try_cast({c} AS BIGINT)::VARCHAR = {c}::VARCHAR, {c} IS NULL)" for c in columns)
    whole = (f"coalesce(bool_and({each}), true)" for each in usual)
    return all(reader.one(f"SELECT {listed(whole)} FROM {table}"))


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


def encoded_experience(reader: Reader, log: Log, aging: Aging | None = None) -> TransitionCounts:
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
        evidence = Evidence(evidence.last, trips, trip, trip_time)
    return TransitionCounts(
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


def with_connections(reader: Reader, experience: TransitionCounts) -> TransitionCounts:
    """The experience with its connections counted."""
    sample, joined = _joined_by_trips(reader, experience)
    evidence = replace(experience.evidence, sample=sample, joined=joined)
    return with_counts(replace(experience, evidence_source=evidence))


def _joined_by_trips(reader: Reader, experience: TransitionCounts) -> tuple[Indices, Bits]:
    """(K,) the sampled start states, (K, ceil(S / 8)) bits of the states that a single trip connects each to."""
    S = len(experience.states)
    sample = _sample(reader, S)
    joined = np.zeros((len(sample), -(-S // 8)), np.uint8)
    row = np.full(S, -1, np.int32)  # of each state in `joined`
    row[sample] = np.arange(len(sample), dtype=np.int32)
    if experience.evidence.trip is None:
        sampled = row[experience.source] >= 0
        _set_bits(joined, row[experience.source[sampled]], experience.target[sampled])
    else:
        _join_trips(reader, experience, row, joined)
    return sample, joined


def _sample(reader: Reader, S: int) -> Indices:
    K = number_of_starts(S)
    if K == S:
        return np.arange(S, dtype=np.int32)
    chosen = reader.columns(f"SELECT code FROM {STATE_CODES} ORDER BY hash(label::VARCHAR), code LIMIT {K}")
    return np.sort(chosen["code"]).astype(np.int32)


def _join_trips(reader: Reader, experience: TransitionCounts, row: Indices, joined: Bits) -> None:
    """Set the bits of the states that each trip of the log connects the sampled states to."""
    from fwrl.kernels.reach import join_trips, reach_scratch

    every = bool((row >= 0).all())
    steps, n_rows = (_steps(), experience.summary.transitions) if every else _make_sampled(reader, row)
    parts = max(1, -(-n_rows // reader.at_once))
    for part in range(parts):
        reader.run(
            "counting connections",
            f"CREATE OR REPLACE TEMP TABLE joining AS SELECT DISTINCT * FROM {steps} WHERE trip % {parts} = {part}",
        )
        moves = reader.columns("SELECT * FROM joining ORDER BY trip")
        trip, n = moves["trip"], len(moves["trip"])
        begin = np.concatenate(([0], np.flatnonzero(trip[1:] != trip[:-1]) + 1, [n])).astype(np.int32)
        scratch = reach_scratch(len(row), n)
        if n:
            source, target = moves["source"].astype(np.int32), moves["target"].astype(np.int32)
            join_trips(begin, source, target, row, scratch, joined)


def _steps(trips: str = "") -> str:
    """A query for the moves by code, of all trips or of those that are joined with."""
    return (
        f"(SELECT hash(trip) AS trip, s.code AS source, n.code AS target FROM {MOVES} {trips} "
        f"JOIN {STATE_CODES} s ON state = s.label JOIN {STATE_CODES} n ON next_state = n.label)"
    )


def _make_sampled(reader: Reader, row: Indices) -> tuple[str, int]:
    """Make `sampled`: the moves, by code, of trips that leave a sampled state. Its name and number of rows."""
    reader.con.register("chosen", {"code": np.flatnonzero(row >= 0)})
    reader.con.execute(
        f"CREATE TEMP TABLE starts AS SELECT label AS state FROM {STATE_CODES} SEMI JOIN chosen USING (code)"
    )
    reader.run(
        "sampling trips",
        f"CREATE TEMP TABLE through AS SELECT DISTINCT trip FROM {MOVES} SEMI JOIN starts USING (state)",
    )
    sampled = _steps("SEMI JOIN through USING (trip)")
    reader.run("sampling trips", f"CREATE TEMP TABLE sampled AS SELECT * FROM {sampled}")
    return "sampled", int(reader.one("SELECT count(*) FROM sampled")[0])


def _set_bits(joined: Bits, rows: Indices, states: Indices) -> None:
    np.bitwise_or.at(joined, (rows, states >> 3), (1 << (states & 7)).astype(np.uint8))
