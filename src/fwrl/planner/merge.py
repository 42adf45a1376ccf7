"""Merge what several logs gave: the same labels, sums of counts and rewards, the latest trips.

Everything kept of an edge can be merged. Counts and sums are added; the best rewards, the latest times and the latest
trips are compared. So the result depends neither on the order of the logs nor on how they are grouped, except for the
last bits of sums. A trip that two logs share under one name stays two trips: the move between them is in neither log.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Indices, Ints
from fwrl.errors import FwrlError
from fwrl.planner.ingest.group import by_name
from fwrl.planner.ingest.reader import reading
from fwrl.planner.labels import IntegerLabels, Labels, TextLabels
from fwrl.planner.policy import refuse_positive_cycle
from fwrl.planner.transition_counts import (
    KEPT,
    LARGEST,
    MOST,
    NONE,
    Bits,
    Evidence,
    TransitionCounts,
    common_aging,
    number_of_starts,
    rescale,
    summarised,
    with_counts,
)

TIMES = {"integer": "whole numbers", "number": "fractions", "timestamp": "dates"}
EARLIEST = np.iinfo(np.int64).min
MEMORY = "1GB"


def merged(experiences: Sequence[TransitionCounts], whole: bool = True) -> TransitionCounts:
    """The experience of all logs together; logs that several of them have count several times.

    Unless `whole`, further logs will be merged into the result: they change mean rewards, so a positive cycle isn't an
    error yet.
    """
    _check_alike(experiences)
    parts = _with_one_newest_time(experiences)
    states, codes = united([part.states for part in parts])
    named = [part.actions for part in parts if part.actions is not None]
    actions, action_codes = united(named) if named else (None, [])
    recoded = [(code[part.source], code[part.target]) for part, code in zip(parts, codes, strict=True)]
    taken = [code[part.action] for part, code in zip(parts, action_codes, strict=False) if part.action is not None]
    places, E = places_in_union(edge_keys(recoded, taken, len(states), 0 if actions is None else len(actions)))

    def of_edges(arrays: Sequence[Any], combine: Any = np.maximum, start: float = 0) -> Any:
        return _combined(arrays, places, E, combine, start)

    last = of_edges([part.evidence.last for part in parts], start=EARLIEST)
    evidence = _evidence(parts, places, last, E, codes, states)
    flags = [np.zeros(len(each.states), np.uint8) if each.terminated is None else each.terminated for each in parts]
    experience = TransitionCounts(
        states,
        actions,
        of_edges([source for source, _ in recoded]),
        of_edges(taken) if taken else None,
        of_edges([target for _, target in recoded]),
        of_edges([part.count for part in parts], np.add),
        of_edges([part.total for part in parts], np.add),
        of_edges([part.best for part in parts], start=-np.inf),
        terminated=None
        if all(part.terminated is None for part in parts)
        else _combined(flags, codes, len(states), np.maximum, 0),
        weight=of_edges([part.weight for part in parts], np.add),
        aging=parts[0].aging,
        cells=parts[0].cells,
        position=_combined([part.position for part in parts], codes, len(states), np.maximum, -np.inf),
        time=parts[0].time,
        hours=parts[0].hours if len({part.hours for part in parts}) == 1 else None,
        logs=tuple(sorted((log for each in parts for log in each.logs), key=lambda log: (log.name, log.digest))),
        evidence_source=evidence,
    )
    counted = all(each.evidence.trips is None or each.summary.trips is not None for each in parts)
    trips = len(evidence.trips) if evidence.trips is not None and counted else None
    before = [each.summary for each in parts]
    experience = summarised(
        experience, trips, sum(each.transitions for each in before), sum(each.skipped for each in before)
    )
    _check_size(experience)
    if whole:
        refuse_positive_cycle(experience)
    return experience if evidence.sample is None else with_counts(experience)


def _combined(arrays: Sequence[Any], places: Sequence[Indices], n: int, combine: Any, start: float) -> Any:
    """(n, ...) the values of all arrays, combined where several have the same place; None if one of them is missing."""
    if any(array is None for array in arrays):
        return None
    result = np.full((n, *arrays[0].shape[1:]), start, arrays[0].dtype)
    for array, place in zip(arrays, places, strict=True):
        result[place] = combine(result[place], array)
    return result


def edge_keys(
    ends: Sequence[tuple[Indices, Indices]], actions: Sequence[Indices], n_states: int, n_actions: int
) -> list[Ints]:
    """A number for each edge, equal for the same edge and ascending in the order of edges; `actions` may be empty."""
    pairs, n_pairs = [source.astype(np.int64) for source, _ in ends], n_states
    if actions:
        n_pairs *= n_actions
        pairs = [pair * n_actions + action for pair, action in zip(pairs, actions, strict=True)]
    if n_pairs * n_states >= 2**63:  # number the pairs that occur
        bounds = np.cumsum([len(pair) for pair in pairs])[:-1]
        pairs = np.split(np.unique(np.concatenate(pairs), return_inverse=True)[1], bounds)
    return [pair * n_states + target for pair, (_, target) in zip(pairs, ends, strict=True)]


def _evidence(
    parts: Sequence[TransitionCounts],
    places: Sequence[Indices],
    last: Ints | None,
    n_edges: int,
    codes: Sequence[Indices],
    states: Labels,
) -> Evidence:
    known = [part.evidence for part in parts]
    sample, joined = _joined_by_trips(known, codes, states)
    if known[0].trip is None:
        return Evidence(last, sample=sample, joined=joined)
    trips, trip_codes = united([evidence.trips for evidence in known if evidence.trips is not None])
    trip, trip_time = _recent_trips(known, places, trip_codes, trips, n_edges)
    return Evidence(last, trips, trip, trip_time, sample, joined)


def _check_size(experience: TransitionCounts) -> None:
    if not ((experience.count > 0) & (experience.count < MOST)).all():  # too large for 64 bits, it may be negative
        raise FwrlError(f"the counts of one edge sum up to {MOST:,} (2^62) or more; scale them down")
    if not (np.abs(experience.total) <= LARGEST).all():
        raise FwrlError(f"the rewards of one edge sum up to more than {LARGEST:g} in size; scale them down")


# Whether logs can be merged.


def _check_alike(experiences: Sequence[TransitionCounts]) -> None:
    """Refuse logs that differ in columns, cells, half-lives or kinds of times."""
    for one, other in itertools.pairwise(experiences):
        _check_columns(one, other)
        if one.cells != other.cells:
            states = [each.cells or "names" for each in (one, other)]
            raise FwrlError(
                f"the states of some logs are {states[0]}, those of others {states[1]}; use the same cells for all"
            )
        if one.time != other.time:
            kinds = " and others ".join(TIMES[each.time] for each in (one, other) if each.time is not None)
            raise FwrlError(f"some logs have {kinds} as times; write them all the same way")
        common_aging(one.aging, other.aging)


def _check_columns(one: TransitionCounts, other: TransitionCounts) -> None:
    for name, there, here in (
        ("action", one.action is not None, other.action is not None),
        ("trip", one.evidence.trip is not None, other.evidence.trip is not None),
        ("time", one.time is not None, other.time is not None),
    ):
        if there != here:
            has, lacks = ("have", "do not") if there else ("do not have", "do")
            raise FwrlError(f"some logs {has} a column {name}, others {lacks}; all must have the same columns")


def _with_one_newest_time(experiences: Sequence[TransitionCounts]) -> list[TransitionCounts]:
    """The experiences with weights at the latest of their newest times."""
    aging = functools.reduce(common_aging, (experience.aging for experience in experiences))
    if aging is None or aging.newest is None:
        return list(experiences)
    return [rescale(experience, aging.newest) for experience in experiences]


# The latest trips of each edge, and which states single trips connect.


def _recent_trips(
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
    if not kept.all():  # most edges already have the number of trips we keep
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
        reader.con.register("named", {"trip": trips.texts(chosen), "code": chosen})
        found = reader.columns(f"SELECT code, {mark} AS mark FROM named")
    marks[found["code"]] = found["mark"]
    return marks


def _joined_by_trips(
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
        reader.con.register("named", {"label": states.texts(candidates), "code": candidates})
        chosen = reader.columns(f"SELECT code FROM named ORDER BY hash(label), code LIMIT {K}")
    return np.sort(chosen["code"]).astype(np.int32)


# The labels of all.


def places_in_union(lists: Sequence[Ints]) -> tuple[list[Indices], int]:
    """For each of several strictly ascending lists the places of its elements in their union, and its length.

    >>> places, n = places_in_union([np.array([1, 5]), np.array([3, 5])])
    >>> [each.tolist() for each in places], n
    ([[0, 2], [1, 2]], 3)
    """
    together = np.concatenate(lists)
    order = np.argsort(together, kind="stable")  # merges ascending runs
    ordered = together[order]
    new = np.ones(len(ordered), np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    place = np.empty(len(ordered), np.int32)
    place[order] = np.cumsum(new, dtype=np.int32) - 1
    bounds = np.cumsum([len(each) for each in lists])[:-1]
    return np.split(place, bounds), int(new.sum())


def united(several: Sequence[Labels]) -> tuple[Labels, list[Indices]]:
    """The labels of all, and for each of `several` the codes that its labels have among them.

    Integers become text where some labels are text.
    """
    if all(isinstance(labels, IntegerLabels) for labels in several):
        numbers = [np.asarray(labels.numbers) for labels in several if isinstance(labels, IntegerLabels)]
        codes, n = places_in_union(numbers)
        union = np.empty(n, np.int64)
        for code, number in zip(codes, numbers, strict=True):
            union[code] = number
        return IntegerLabels(union), codes
    return _united_text([_as_text(labels) for labels in several])


def _united_text(several: Sequence[tuple[TextLabels, Indices]]) -> tuple[Labels, list[Indices]]:
    """The union of halves of `several`; each comes with the codes of its original labels."""
    if len(several) == 1:
        labels, code = several[0]
        return labels, [code]
    half = len(several) // 2
    (one, codes_one), (other, codes_other) = (_united_text(part) for part in (several[:half], several[half:]))
    assert isinstance(one, TextLabels)
    assert isinstance(other, TextLabels)
    union, (code_one, code_other) = _united_pair(one, other)
    return union, [*(code_one[code] for code in codes_one), *(code_other[code] for code in codes_other)]


def _united_pair(one: TextLabels, other: TextLabels) -> tuple[TextLabels, list[Indices]]:
    from fwrl.kernels.label_union import copy_labels, unite_labels

    parts = [(_read_only(labels.text), _read_only(labels.offsets)) for labels in (one, other)]
    codes = [np.empty(len(labels), np.int32) for labels in (one, other)]
    n = unite_labels(*parts[0], *parts[1], *codes)
    sizes = np.zeros(n + 1, np.int64)
    for (_, offsets), code in zip(parts, codes, strict=True):
        sizes[code + 1] = np.diff(offsets)
    united_offsets = np.cumsum(sizes)
    text = np.empty(int(united_offsets[-1]), np.uint8)
    for (own_text, offsets), code in zip(parts, codes, strict=True):
        copy_labels(own_text, offsets, code, united_offsets, text)
    return TextLabels(text, united_offsets), codes


def _as_text(labels: Labels) -> tuple[TextLabels, Indices]:
    """Labels as text, and the code that each has then: numbers as text are in another order."""
    if isinstance(labels, TextLabels):
        return labels, np.arange(len(labels), dtype=np.int32)
    names = [str(label) for label in labels]
    order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int32)
    codes = np.empty(len(names), np.int32)
    codes[order] = np.arange(len(names), dtype=np.int32)
    return TextLabels.of([names[k] for k in order.tolist()]), codes


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written, as arrays mapped from files are: kernels are compiled for these alone."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
