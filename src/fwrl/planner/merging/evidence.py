"""Evidence of several experiences: the latest trips of each edge, and what single trips connect."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Indices, Ints
from fwrl.planner.connection_counts import number_of_starts
from fwrl.planner.experience import KEPT, NONE, Bits, Evidence
from fwrl.planner.ingest.latest import by_name
from fwrl.planner.ingest.reader import reading
from fwrl.planner.labels import IntegerLabels, Labels

MEMORY = "1GB"


def latest_trips(
    evidence: Sequence[Evidence], places: Sequence[Indices], codes: Sequence[Indices], trips: Labels, n_edges: int
) -> tuple[Indices, Ints | None]:
    """(E, 3) the latest trips of each edge, and their times if there are any.

    `places` are the edges of each evidence among all, `codes` the codes of its trips among `trips`.
    """
    from fwrl.kernels.recent_trips import KEPT as N_KEPT
    from fwrl.kernels.recent_trips import TIME, TRIP, keep_latest, no_sights

    timed = evidence[0].trip_time is not None
    latest = no_sights(n_edges, KEPT)
    observed = [_observed(*each) for each in zip(evidence, places, codes, strict=True)]
    marks = _marks(trips, np.concatenate([trip for _, trip, _ in observed]), timed)
    for edge, trip, time in observed:
        keep_latest(edge, time, marks[trip], trip, latest)
    kept = np.arange(KEPT) < latest.seen[:, N_KEPT, None]
    kept_trip: Indices = np.where(kept, latest.sight[:, :, TRIP], NONE).astype(np.int32)
    kept_time: Ints = np.where(kept, latest.sight[:, :, TIME], 0)
    return kept_trip, kept_time if timed else None


def _observed(evidence: Evidence, place: Indices, code: Indices) -> tuple[Indices, Ints, Ints]:
    """Edge, trip and time of what is kept of one experience; times are 0 where none were logged."""
    assert evidence.trip is not None
    flat, edge = evidence.trip.reshape(-1), np.repeat(place, KEPT)
    time = np.zeros(len(flat), np.int64) if evidence.trip_time is None else evidence.trip_time.reshape(-1)
    kept = flat != NONE
    if not kept.all():  # most edges have as many trips as are kept
        flat, edge, time = flat[kept], edge[kept], time[kept]
    return edge, code.astype(np.int64)[flat], np.array(time)


def _marks(trips: Labels, used: Ints, timed: bool) -> NDArray[np.uint64]:
    """(T,) numbers by which trips of the same time are ranked, as reading a log does (see `ingest.latest`)."""
    marks = np.arange(len(trips), dtype=np.uint64)
    if not timed and isinstance(trips, IntegerLabels):
        return marks
    chosen = np.flatnonzero(np.bincount(used, minlength=len(trips))) if timed else np.arange(len(trips))
    if len(chosen) == 0:
        return marks
    mark = "hash(trip::VARCHAR)" if timed else f"row_number() OVER (ORDER BY {by_name('ASC')})::UBIGINT"
    with reading(MEMORY, None, "names of trips") as reader:
        reader.con.register("named", {"trip": trips.column(chosen, as_text=False), "code": chosen})
        found = reader.columns(f"SELECT code, {mark} AS mark FROM named")
    marks[found["code"]] = found["mark"]
    return marks


def joined_by_trips(
    evidence: Sequence[Evidence], codes: Sequence[Indices], states: Labels
) -> tuple[Indices | None, Bits | None]:
    """(K,) the sampled start states and (K, ceil(S / 8)) what single trips connect them to; None if not all have them.

    `codes` are the codes of the states of each evidence among `states`.
    """
    S = len(states)
    if any(each.sample is None for each in evidence):
        return None, None
    sampled = [code[each.sample] for each, code in zip(evidence, codes, strict=True)]
    sample = np.unique(np.concatenate(sampled))
    if len(sample) > number_of_starts(S):
        sample = _smallest_hashes(states, sample, number_of_starts(S))
    row = np.full(S, NONE, np.int32)
    row[sample] = np.arange(len(sample), dtype=np.int32)
    joined = np.zeros((len(sample), S), np.bool_)
    for each, code, starts in zip(evidence, codes, sampled, strict=True):
        assert each.joined is not None
        still = row[starts] >= 0
        bits = np.unpackbits(each.joined[still], axis=1, count=len(code), bitorder="little").astype(np.bool_)
        joined[np.ix_(row[starts[still]], code)] |= bits
    return sample, np.packbits(joined, axis=1, bitorder="little")


def _smallest_hashes(states: Labels, candidates: Indices, K: int) -> Indices:
    """The K `candidates` with the smallest hashes: each of them is in the samples of all logs it occurs in."""
    with reading(MEMORY, None, "names of states") as reader:
        reader.con.register("named", {"label": states.column(candidates, as_text=True), "code": candidates})
        chosen = reader.columns(f"SELECT code FROM named ORDER BY hash(label), code LIMIT {K}")
    return np.sort(chosen["code"]).astype(np.int32)
