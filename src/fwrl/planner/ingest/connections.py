"""Which pairs of states single trips of a log connect.

A trip connects x to y if its own transitions, in whatever order they were made, contain a path from x to y. Where the
log names no trips, every transition counts as one. Pairs are looked at from a sample of start states (see
`connection_counts`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwrl.arrays import Indices
from fwrl.planner.connection_counts import number_of_starts, with_counts
from fwrl.planner.experience import Bits, Experience
from fwrl.planner.ingest.reader import Reader
from fwrl.planner.ingest.schema import MOVES, STATE_CODES


def with_connections(reader: Reader, experience: Experience) -> Experience:
    """The experience with its connections counted."""
    sample, joined = _joined_by_trips(reader, experience)
    evidence = replace(experience.evidence, sample=sample, joined=joined)
    return with_counts(replace(experience, evidence_source=evidence))


def _joined_by_trips(reader: Reader, experience: Experience) -> tuple[Indices, Bits]:
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


def _join_trips(reader: Reader, experience: Experience, row: Indices, joined: Bits) -> None:
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
