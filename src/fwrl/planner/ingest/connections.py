"""How many pairs of states a log connects that no single trip connected.

A trip connects x to y if its own moves lead from x to y. Up to 5,000 states all pairs are looked at; beyond, all pairs
that begin in a few states. Those are the ones whose names have the smallest hashes, so that logs
folded together one by one are sampled alike.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fwrl.planner.experience import Experience, Indices
from fwrl.planner.ingest.reader import AT_ONCE, Reader
from fwrl.planner.labels import Labels

EXACT = 5_000  # states up to which every pair is counted
SAMPLED = 8  # states to start from beyond that

Bits = NDArray[np.uint8]


def joined_by_trips(reader: Reader, experience: Experience, old: Experience | None) -> tuple[Indices, Bits]:
    """The sampled states, and for each the bits of the states that a single trip leads to from it.

    Reads the tables `moves`, `grouped` and `states` that numbering left behind.
    """
    S, was = len(experience.states), None if old is None else old.evidence
    sample = _sample(reader, S)
    joined = np.zeros((len(sample), -(-S // 8)), np.uint8)
    row = np.full(S, -1, np.int32)
    row[sample] = np.arange(len(sample), dtype=np.int32)
    if experience.evidence.trip is None:
        some = row[experience.source] >= 0
        _set(joined, row[experience.source[some]], experience.target[some])
    else:
        _join(reader, experience, row, joined, every=len(sample) == S)
    if old is not None and was is not None and was.sample is not None and was.joined is not None:
        moved = _moved(reader, experience.states, old.states)
        for state, bits in zip(moved[was.sample].tolist(), was.joined, strict=True):
            if row[state] >= 0:
                places = moved[np.flatnonzero(np.unpackbits(bits, count=len(moved), bitorder="little"))]
                _set(joined, np.full(len(places), row[state], np.int32), places)
    return sample, joined


def count(experience: Experience) -> Experience:
    """The same experience with its connections counted."""
    from fwrl.kernels.graph.reach import count_connections, reach_scratch

    was = experience.evidence
    assert was.sample is not None
    assert was.joined is not None
    S, K = len(experience.states), len(was.sample)
    counts = np.zeros(2, np.int64)
    neighbour = np.ascontiguousarray(experience.target)
    count_connections(experience.first, neighbour, was.sample, was.joined, reach_scratch(S, 0), counts)
    scale = S / K
    summary = replace(
        experience.summary,
        connected=round(counts[0] * scale),
        stitched=round(counts[1] * scale),
        sampled=None if K == S else K,
    )
    return replace(experience, summary=summary)


def _sample(reader: Reader, S: int) -> Indices:
    if S <= EXACT:
        return np.arange(S, dtype=np.int32)
    chosen = reader.columns(f"SELECT place FROM states ORDER BY hash(label::VARCHAR), place LIMIT {SAMPLED}")
    return np.sort(chosen["place"]).astype(np.int32)


def _join(reader: Reader, experience: Experience, row: Indices, joined: Bits, every: bool) -> None:
    from fwrl.kernels.graph.reach import join_trips, reach_scratch

    con = reader.con
    _name_as_logged(reader)
    moves, parts = "moves", max(1, -(-experience.summary.transitions // AT_ONCE))
    if not every:
        con.register("chosen", {"place": np.flatnonzero(row >= 0)})
        con.execute("CREATE TEMP TABLE starts AS SELECT label AS state FROM logged SEMI JOIN chosen USING (place)")
        reader.run(
            "sampling trips",
            "CREATE TEMP TABLE through AS SELECT DISTINCT trip FROM moves SEMI JOIN starts USING (state)",
        )
        reader.run(
            "sampling trips",
            "CREATE TEMP TABLE sampled AS SELECT trip, state, next_state FROM moves SEMI JOIN through USING (trip)",
        )
        moves = "sampled"
        parts = max(1, -(-int(reader.one("SELECT count(*) FROM sampled")[0]) // AT_ONCE))
    for part in range(parts):
        reader.run(
            "counting connections",
            f"CREATE OR REPLACE TEMP TABLE joining AS SELECT DISTINCT hash(trip) AS trip, s.place AS source, "
            f"n.place AS target FROM {moves} JOIN logged s ON state = s.label JOIN logged n ON next_state = n.label "
            f"WHERE hash(trip) % {parts} = {part}",
        )
        found = reader.columns("SELECT * FROM joining ORDER BY trip")
        trip, n = found["trip"], len(found["trip"])
        begin = np.concatenate(([0], np.flatnonzero(trip[1:] != trip[:-1]) + 1, [n])).astype(np.int32)
        scratch = reach_scratch(len(row), n)
        if n:
            source, target = found["source"].astype(np.int32), found["target"].astype(np.int32)
            join_trips(begin, source, target, row, scratch, joined)


def _name_as_logged(reader: Reader) -> None:
    """Make `logged`: the states as `moves` calls them, which may be integers where other logs brought names."""
    type_ = reader.one("SELECT typeof(state) FROM moves LIMIT 1")[0]
    reader.con.execute(
        f"CREATE TEMP TABLE logged AS SELECT try_cast(label AS {type_}) AS label, place FROM states "
        f"WHERE try_cast(label AS {type_})::VARCHAR = label::VARCHAR"
    )


def _set(joined: Bits, rows: Indices, places: Indices) -> None:
    np.bitwise_or.at(joined, (rows, places >> 3), (1 << (places & 7)).astype(np.uint8))


def _moved(reader: Reader, states: Labels, before: Labels) -> Indices:
    """(n,) where the states of the old logs are now."""
    if states.numbers is not None and before.numbers is not None:
        return np.searchsorted(states.numbers, before.numbers).astype(np.int32)
    places = np.arange(len(before), dtype=np.int32)
    reader.con.register("before", {"label": before.taken(places, as_text=True), "was": places})
    query = "SELECT was, place FROM before JOIN states ON before.label = states.label::VARCHAR"
    found = reader.columns(query)
    places[found["was"]] = found["place"]
    return places
