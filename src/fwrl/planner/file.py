"""Planner files: the names of their sections, and how an experience is written, read and checked.

Names in files are declared here, apart from the fields they hold: renaming a field does not change the format.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Indices
from fwrl.cells import cells_of
from fwrl.errors import FileError
from fwrl.files import Archive, write_archive
from fwrl.planner.labels import read_labels
from fwrl.planner.transition_counts import KEPT, LARGEST, NONE, Aging, Evidence, LogFile, LogSummary, TransitionCounts

KIND = "planner"


class Section(NamedTuple):
    """An array in a file."""

    name: str
    dtype: type[np.generic]
    dimensions: int
    required: bool = False


Sections = Mapping[str, Section]

# Sections that hold the fields of `TransitionCounts` and of its `Evidence`.
EDGE_SECTIONS: Sections = {
    "source": Section("source", np.int32, 1, required=True),
    "action": Section("action", np.int32, 1),
    "target": Section("target", np.int32, 1, required=True),
    "count": Section("count", np.int64, 1, required=True),
    "total": Section("total", np.float64, 1, required=True),
    "best": Section("best", np.float64, 1, required=True),
    "terminated": Section("terminated", np.uint8, 1),
    "weight": Section("weight", np.float64, 1),
    "position": Section("position", np.float64, 2),
}
EVIDENCE_SECTIONS: Sections = {
    "last": Section("last", np.int64, 1),
    "trip": Section("trip", np.int32, 2),
    "trip_time": Section("trip_time", np.int64, 2),
    "sample": Section("sample", np.int32, 1),
    "joined": Section("joined", np.uint8, 2),
}
# What the sections of labels begin with (see `labels`).
STATES, ACTIONS, TRIPS = "states", "actions", "trips"
# Keys of the header's details; those of the summary by field of `LogSummary`, those of a log by field of `LogFile`.
TIME, SUMMARY, LOGS = "time", "summary", "logs"
LOG_KEYS = {"name": "name", "size": "size", "digest": "sha256"}
AGING, CELLS = "aging", "cells"  # only where there are weights or cells
HOURS = "hours"  # only where the log was limited to some
HALF_LIFE, NEWEST = "half_life", "newest"
SUMMARY_KEYS = {
    "trips": "trips",
    "transitions": "transitions",
    "states": "states",
    "edges": "edges",
    "uncertain": "uncertain",
    "skipped": "skipped",
    "terminated": "terminated",
    "connected": "connected",
    "stitched": "stitched",
    "sampled": "sampled",
}
OPTIONAL_COUNTS = ("trips", "connected", "stitched", "sampled")  # fields that may be None


def write_experience(experience: TransitionCounts, path: str | Path) -> None:
    """Write a planner file; an existing file is replaced completely or not at all."""
    evidence = experience.evidence
    summary = {key: getattr(experience.summary, name) for name, key in SUMMARY_KEYS.items()}
    labels = {STATES: experience.states, ACTIONS: experience.actions, TRIPS: evidence.trips}
    owners: list[tuple[object, Sections]] = [(experience, EDGE_SECTIONS), (evidence, EVIDENCE_SECTIONS)]
    arrays: dict[str, NDArray[Any]] = {}
    for prefix, names in labels.items():
        if names is not None:
            arrays |= names.sections(prefix)
    for owner, sections in owners:
        for name, section in sections.items():
            array = getattr(owner, name)
            if array is not None:
                arrays[section.name] = array
    logs = [{key: getattr(log, name) for name, key in LOG_KEYS.items()} for log in experience.logs]
    details: dict[str, Any] = {TIME: experience.time, SUMMARY: summary, LOGS: logs}
    if experience.aging is not None:
        details[AGING] = {HALF_LIFE: experience.aging.half_life, NEWEST: experience.aging.newest}
    if experience.hours is not None:
        details[HOURS] = experience.hours
    if experience.cells is not None:
        details[CELLS] = experience.cells.to_dict()
    write_archive(path, KIND, details, arrays)


def read_experience(archive: Archive) -> TransitionCounts:
    """The experience in an opened file; FileError unless it is consistent."""
    if archive.kind != KIND:
        path = str(archive.path)
        raise FileError(f"{path!r} contains a saved {archive.kind!r}, not a planner; make one with fwrl fit")
    with _file_errors(archive):
        arrays = _arrays(archive, EDGE_SECTIONS)
        states = read_labels(archive, STATES)
        actions = read_labels(archive, ACTIONS) if arrays["action"] is not None else None
        time, summary = archive.details[TIME], _summary(archive.details[SUMMARY])
        evidence = SavedEvidence(archive, n_states=len(states), n_edges=len(arrays["source"]))
        aging, cells = _aging(archive.details.get(AGING)), archive.details.get(CELLS)
        experience = TransitionCounts(
            states,
            actions,
            **arrays,
            aging=aging,
            cells=None if cells is None else cells_of(cells),
            time=time,
            hours=archive.details.get(HOURS),
            summary=summary,
            logs=tuple(_log(details) for details in archive.details[LOGS]),
            evidence_source=evidence,
        )
        _check(experience)
        timed = EVIDENCE_SECTIONS["last"].name in archive
        _expect(timed == (time is not None), "a kind of time where there are times, and only there")
    return experience


class SavedEvidence:
    """The evidence in a planner file, read and checked when it is first needed."""

    def __init__(self, archive: Archive, n_states: int, n_edges: int) -> None:
        self._archive, self._n_states, self._n_edges = archive, n_states, n_edges

    def read(self) -> Evidence:
        """The evidence; FileError unless it is consistent."""
        with _file_errors(self._archive):
            arrays = _arrays(self._archive, EVIDENCE_SECTIONS)
            trips = read_labels(self._archive, TRIPS) if arrays["trip"] is not None else None
            evidence = Evidence(trips=trips, **arrays)
            _check_evidence(evidence, self._n_states, self._n_edges)
        return evidence


def _log(details: Any) -> LogFile:
    log = LogFile(**{name: details[key] for name, key in LOG_KEYS.items()})
    _expect(isinstance(log.name, str) and isinstance(log.digest, str), "logs with a name and a checksum")
    _expect(type(log.size) is int and log.size >= 0, "logs with a size")
    return log


def _summary(details: Any) -> LogSummary:
    unknown = set(details) - set(SUMMARY_KEYS.values())
    _expect(not unknown, "a summary of known counts")
    return LogSummary(**{name: details[key] for name, key in SUMMARY_KEYS.items()})


def _aging(details: Any) -> Aging | None:
    if details is None:
        return None
    half_life, newest = details[HALF_LIFE], details[NEWEST]
    _expect(type(half_life) is float and 0 < half_life < np.inf and type(newest) is int, "a sound half-life")
    return Aging(half_life, newest)


@contextlib.contextmanager
def _file_errors(archive: Archive) -> Iterator[None]:
    """Turn any error about the content of a file into a FileError that names the file."""
    try:
        yield
    except (LookupError, TypeError, ValueError, OverflowError, MemoryError) as error:
        raise FileError(f"{str(archive.path)!r} isn't a valid planner file: {error}") from error


def _arrays(archive: Archive, sections: Sections) -> dict[str, Any]:
    """The arrays by field; None if an optional section is missing."""
    arrays: dict[str, Any] = {}
    for field, section in sections.items():
        array = archive[section.name] if section.required or section.name in archive else None
        if array is not None and (array.dtype != section.dtype or array.ndim != section.dimensions):
            raise FileError(
                f"expected {section.name!r} as {np.dtype(section.dtype)} with {section.dimensions} dimensions"
            )
        arrays[field] = array
    return arrays


def _check(experience: TransitionCounts) -> None:
    """Raise if indices are out of range, which compiled code doesn't check, or if anything else makes routes wrong."""
    e = experience
    S, E = len(e.states), len(e.source)
    sizes = [len(a) for a in (e.action, e.target, e.count, e.total, e.best) if a is not None]
    _expect(E > 0 and S > 0 and set(sizes) == {E}, "columns of one length, with at least one edge")
    _expect(_within(e.source, S) and _within(e.target, S), f"states from 0 to {S - 1}")
    if e.action is not None:
        _expect(e.actions is not None and _within(e.action, len(e.actions)), "actions that have a name")
    _expect(bool(e.count.min() > 0 and e.count.sum() < 2**62), "edges seen at least once")
    small = [bool(rewards.min() >= -LARGEST and rewards.max() <= LARGEST) for rewards in (e.total, e.best)]
    _expect(all(small), f"finite rewards up to {LARGEST:g} in size")
    _expect((e.weight is None) == (e.aging is None), "a half-life where there are weights, and only there")
    if e.weight is not None:
        weighed = len(e.weight) == E and bool(((e.weight > 0) & (e.weight < np.inf)).all())
        _expect(weighed and e.time is not None, "a positive weight for each edge, and times")
    _expect((e.position is None) == (e.cells is None), "positions where states are cells, and only there")
    if e.position is not None:
        _expect(e.position.shape == (S, 2) and bool(np.isfinite(e.position).all()), "a position for each state")
    if e.terminated is not None:
        _expect(len(e.terminated) == S and bool((e.terminated <= 1).all()), "for each state whether it is terminal")
    _expect(e.summary.terminated == e.n_terminated, "a summary of the terminal states that are there")
    _expect(_ordered(e), "edges in order")
    _expect(e.time in (None, "integer", "number", "timestamp"), "a known kind of time")
    _expect(e.hours is None or isinstance(e.hours, str), "hours as text")
    _check_summary(e.summary, S, E)


def _check_summary(summary: LogSummary, S: int, E: int) -> None:
    counts = [(name, getattr(summary, name)) for name in SUMMARY_KEYS]
    given = [count for name, count in counts if count is not None or name not in OPTIONAL_COUNTS]
    _expect(all(type(count) is int and 0 <= count < 2**63 for count in given), "a summary of whole numbers")
    _expect(summary.states == S and summary.edges == E, "a summary of what is there")


def _check_evidence(evidence: Evidence, S: int, E: int) -> None:
    e = evidence
    _expect(e.last is None or len(e.last) == E, "a time for each edge")
    if e.trip is not None:
        _expect(e.trip.shape == (E, KEPT), f"{KEPT} trips for each edge")
        _expect(e.trips is not None and _within(e.trip, len(e.trips), NONE), "trips that have a name")
    if e.trip_time is not None:
        _expect(e.trip is not None and e.trip_time.shape == (E, KEPT), "a time for each trip")
    if e.sample is not None:
        wide = e.joined is not None and e.joined.shape == (len(e.sample), -(-S // 8))
        _expect(wide and _within(e.sample, S) and bool(np.all(np.diff(e.sample) > 0)), "a sound sample")


def _expect(sound: object, what: str) -> None:
    if not sound:
        raise FileError(f"expected {what}; the file is damaged")


def _within(codes: Indices, n: int, least: int = 0) -> bool:
    return len(codes) == 0 or bool(codes.min() >= least and codes.max() < n)


def _ordered(experience: TransitionCounts) -> bool:
    """Whether edges ascend strictly by state, action, next state."""
    e = experience
    levels = [e.source, e.target] if e.action is None else [e.source, e.action, e.target]
    rising = np.zeros(len(e.source) - 1, np.bool_)
    for level in reversed(levels):
        rising = (level[1:] > level[:-1]) | ((level[1:] == level[:-1]) & rising)
    return bool(rising.all())
