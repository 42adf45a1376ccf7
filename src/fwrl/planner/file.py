"""Planner files: how an experience is written, read and checked. Sections and details have the names of its fields."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Indices
from fwrl.cells import cells_of
from fwrl.errors import FileError
from fwrl.files import Archive, write_archive
from fwrl.planner.labels import read_labels
from fwrl.planner.transition_counts import KEPT, LARGEST, NONE, Aging, Evidence, LogFile, LogSummary, TransitionCounts

KIND = "planner"


# The arrays of `TransitionCounts` and of its `Evidence`: dtype and number of dimensions.
EDGES: dict[str, tuple[type[np.generic], int]] = {
    "source": (np.int32, 1),
    "action": (np.int32, 1),
    "target": (np.int32, 1),
    "count": (np.int64, 1),
    "total": (np.float64, 1),
    "best": (np.float64, 1),
    "terminated": (np.uint8, 1),
    "weight": (np.float64, 1),
    "position": (np.float64, 2),
}
REQUIRED = ("source", "target", "count", "total", "best")
EVIDENCE: dict[str, tuple[type[np.generic], int]] = {
    "last": (np.int64, 1),
    "trip": (np.int32, 2),
    "trip_time": (np.int64, 2),
    "sample": (np.int32, 1),
    "joined": (np.uint8, 2),
}
STATES, ACTIONS, TRIPS = "states", "actions", "trips"  # what the sections of labels begin with (see `labels`)
OPTIONAL_COUNTS = ("trips", "connected", "stitched", "sampled")  # of the summary, that may be None


def write_experience(experience: TransitionCounts, path: str | Path) -> None:
    """Write a planner file; an existing file is replaced completely or not at all."""
    evidence = experience.evidence
    arrays: dict[str, NDArray[Any]] = {}
    for prefix, labels in ((STATES, experience.states), (ACTIONS, experience.actions), (TRIPS, evidence.trips)):
        if labels is not None:
            arrays |= labels.sections(prefix)
    given = {name: getattr(experience, name) for name in EDGES}
    given |= {name: getattr(evidence, name) for name in EVIDENCE}
    arrays |= {name: array for name, array in given.items() if array is not None}
    details: dict[str, Any] = {
        "time": experience.time,
        "summary": asdict(experience.summary),
        "logs": [{"name": log.name, "size": log.size, "sha256": log.digest} for log in experience.logs],
    }
    if experience.aging is not None:
        details["aging"] = asdict(experience.aging)
    if experience.hours is not None:
        details["hours"] = experience.hours
    if experience.cells is not None:
        details["cells"] = experience.cells.to_dict()
    write_archive(path, KIND, details, arrays)


def read_experience(archive: Archive) -> TransitionCounts:
    """The experience in an opened file; FileError unless it is consistent."""
    if archive.kind != KIND:
        path = str(archive.path)
        raise FileError(f"{path!r} contains a saved {archive.kind!r}, not a planner; make one with fwrl fit")
    with _file_errors(archive):
        arrays = _arrays(archive, EDGES)
        states = read_labels(archive, STATES)
        actions = read_labels(archive, ACTIONS) if arrays["action"] is not None else None
        time, cells = archive.details["time"], archive.details.get("cells")
        experience = TransitionCounts(
            states,
            actions,
            **arrays,
            aging=_aging(archive.details.get("aging")),
            cells=None if cells is None else cells_of(cells),
            time=time,
            hours=archive.details.get("hours"),
            summary=LogSummary(**archive.details["summary"]),
            logs=tuple(_log(details) for details in archive.details["logs"]),
            evidence_source=functools.partial(_read_evidence, archive, len(states), len(arrays["source"])),
        )
        _check(experience)
        _expect(("last" in archive) == (time is not None), "a kind of time where there are times, and only there")
    return experience


def _read_evidence(archive: Archive, n_states: int, n_edges: int) -> Evidence:
    with _file_errors(archive):
        arrays = _arrays(archive, EVIDENCE)
        trips = read_labels(archive, TRIPS) if arrays["trip"] is not None else None
        evidence = Evidence(trips=trips, **arrays)
        _check_evidence(evidence, n_states, n_edges)
    return evidence


def _log(details: Any) -> LogFile:
    log = LogFile(details["name"], details["size"], details["sha256"])
    _expect(isinstance(log.name, str) and isinstance(log.digest, str), "logs with a name and a checksum")
    _expect(type(log.size) is int and log.size >= 0, "logs with a size")
    return log


def _aging(details: Any) -> Aging | None:
    if details is None:
        return None
    aging = Aging(**details)
    sound = type(aging.half_life) is float and 0 < aging.half_life < np.inf and type(aging.newest) is int
    _expect(sound, "a sound half-life")
    return aging


@contextlib.contextmanager
def _file_errors(archive: Archive) -> Iterator[None]:
    """Turn any error about the content of a file into a FileError that names the file."""
    try:
        yield
    except (LookupError, TypeError, ValueError, OverflowError, MemoryError) as error:
        raise FileError(f"{str(archive.path)!r} isn't a valid planner file: {error}") from error


def _arrays(archive: Archive, declared: dict[str, tuple[type[np.generic], int]]) -> dict[str, Any]:
    """The declared arrays by name; None for an optional one that is missing."""
    arrays: dict[str, Any] = {}
    for name, (dtype, dimensions) in declared.items():
        array = archive[name] if name in REQUIRED or name in archive else None
        if array is not None and (array.dtype != dtype or array.ndim != dimensions):
            raise FileError(f"expected {name!r} as {np.dtype(dtype)} with {dimensions} dimensions")
        arrays[name] = array
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
    counts = [(each.name, getattr(summary, each.name)) for each in fields(LogSummary)]
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
