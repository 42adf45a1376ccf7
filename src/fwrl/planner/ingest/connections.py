"""How many pairs of states a log connects that no single trip connected.

A trip connects x to y if its own transitions, in whatever order they were made, contain a path from x to y. Where the
log names no trips, every transition counts as one. Up to 5,000 states all ordered pairs are counted. With more states,
pairs are counted from a sample of start states, and the counts are scaled up. The sample is the states whose labels
have the smallest hashes: a state that is in the sample of all logs was in the sample of each log it occurs in, so that
logs read one by one give the same counts as logs read at once.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwrl.planner.experience import Bits, Experience, Indices
from fwrl.planner.ingest.reader import AT_ONCE, Reader
from fwrl.planner.ingest.schema import MOVES, STATE_CODES
from fwrl.planner.labels import IntegerLabels, Labels

EXACT = 5_000  # states up to which every pair is counted
SAMPLED = 8  # start states beyond that
CONNECTED, STITCHED = 0, 1  # what `count_connections` counts


def with_connections(reader: Reader, experience: Experience, old: Experience | None) -> Experience:
    """The experience with its connections counted, those of `old` included."""
    sample, joined = _joined_by_trips(reader, experience, old)
    evidence = replace(experience.evidence, sample=sample, joined=joined)
    return _counted(replace(experience, evidence_source=evidence))


def _joined_by_trips(reader: Reader, experience: Experience, old: Experience | None) -> tuple[Indices, Bits]:
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
    if old is not None:
        _add_old_bits(reader, experience, old, row, joined)
    return sample, joined


def _counted(experience: Experience) -> Experience:
    """The same experience with the counts in its summary."""
    from fwrl.kernels.graph.reach import count_connections, reach_scratch

    sample, joined = experience.evidence.sample, experience.evidence.joined
    assert sample is not None
    assert joined is not None
    S, K = len(experience.states), len(sample)
    counts = np.zeros(2, np.int64)
    neighbour = np.ascontiguousarray(experience.target)
    count_connections(experience.first, neighbour, sample, joined, reach_scratch(S, 0), counts)
    scale = S / K
    summary = replace(
        experience.summary,
        connected=round(counts[CONNECTED] * scale),
        stitched=round(counts[STITCHED] * scale),
        sampled=None if K == S else K,
    )
    return replace(experience, summary=summary)


def _sample(reader: Reader, S: int) -> Indices:
    if S <= EXACT:
        return np.arange(S, dtype=np.int32)
    chosen = reader.columns(f"SELECT code FROM {STATE_CODES} ORDER BY hash(label::VARCHAR), code LIMIT {SAMPLED}")
    return np.sort(chosen["code"]).astype(np.int32)


def _join_trips(reader: Reader, experience: Experience, row: Indices, joined: Bits) -> None:
    """Set the bits of the states that each trip of the log connects the sampled states to."""
    from fwrl.kernels.graph.reach import join_trips, reach_scratch

    _make_logged_codes(reader)
    every = bool((row >= 0).all())
    table, n_rows = (str(MOVES), experience.summary.transitions) if every else _make_sampled(reader, row)
    parts = max(1, -(-n_rows // AT_ONCE))
    for part in range(parts):
        reader.run(
            "counting connections",
            f"CREATE OR REPLACE TEMP TABLE joining AS SELECT DISTINCT hash(trip) AS trip, s.code AS source, "
            f"n.code AS target FROM {table} JOIN logged_codes s ON state = s.label "
            f"JOIN logged_codes n ON next_state = n.label WHERE hash(trip) % {parts} = {part}",
        )
        moves = reader.columns("SELECT * FROM joining ORDER BY trip")
        trip, n = moves["trip"], len(moves["trip"])
        begin = np.concatenate(([0], np.flatnonzero(trip[1:] != trip[:-1]) + 1, [n])).astype(np.int32)
        scratch = reach_scratch(len(row), n)
        if n:
            source, target = moves["source"].astype(np.int32), moves["target"].astype(np.int32)
            join_trips(begin, source, target, row, scratch, joined)


def _make_sampled(reader: Reader, row: Indices) -> tuple[str, int]:
    """Make `sampled`: the transitions of trips that leave a sampled state. Its name and number of rows."""
    reader.con.register("chosen", {"code": np.flatnonzero(row >= 0)})
    reader.con.execute(
        "CREATE TEMP TABLE starts AS SELECT label AS state FROM logged_codes SEMI JOIN chosen USING (code)"
    )
    reader.run(
        "sampling trips",
        f"CREATE TEMP TABLE through AS SELECT DISTINCT trip FROM {MOVES} SEMI JOIN starts USING (state)",
    )
    reader.run(
        "sampling trips",
        f"CREATE TEMP TABLE sampled AS SELECT trip, state, next_state FROM {MOVES} SEMI JOIN through USING (trip)",
    )
    return "sampled", int(reader.one("SELECT count(*) FROM sampled")[0])


def _make_logged_codes(reader: Reader) -> None:
    """Make `logged_codes`: codes by label as in `moves`, where labels may be integers although older logs had text."""
    type_ = reader.one(f"SELECT typeof(state) FROM {MOVES} LIMIT 1")[0]
    reader.con.execute(
        f"CREATE TEMP TABLE logged_codes AS SELECT try_cast(label AS {type_}) AS label, code FROM {STATE_CODES} "
        f"WHERE try_cast(label AS {type_})::VARCHAR = label::VARCHAR"
    )


def _add_old_bits(reader: Reader, experience: Experience, old: Experience, row: Indices, joined: Bits) -> None:
    """Set the bits that trips of older logs set, for states that are still in the sample."""
    before = old.evidence
    if before.sample is None or before.joined is None:
        return
    codes = _codes_of(reader, experience.states, old.states)
    for state, bits in zip(codes[before.sample].tolist(), before.joined, strict=True):
        if row[state] >= 0:
            reached = codes[np.flatnonzero(np.unpackbits(bits, count=len(codes), bitorder="little"))]
            _set_bits(joined, np.full(len(reached), row[state], np.int32), reached)


def _set_bits(joined: Bits, rows: Indices, states: Indices) -> None:
    np.bitwise_or.at(joined, (rows, states >> 3), (1 << (states & 7)).astype(np.uint8))


def _codes_of(reader: Reader, states: Labels, old: Labels) -> Indices:
    """(n,) the codes that the `old` states have among `states`."""
    if isinstance(states, IntegerLabels) and isinstance(old, IntegerLabels):
        return np.searchsorted(states.numbers, old.numbers).astype(np.int32)
    codes = np.arange(len(old), dtype=np.int32)
    reader.con.register("old_states", {"label": old.column(codes, as_text=True), "old_code": codes})
    rows = reader.columns(
        f"SELECT old_code, code FROM old_states JOIN {STATE_CODES} s ON old_states.label = s.label::VARCHAR"
    )
    codes[rows["old_code"]] = rows["code"]
    return codes
