"""What a log amounts to: one edge for each (state, action, next state) that was seen, and what is kept of it.

Edges are in order of state, action and next state, so that one log has one experience however its rows were
ordered. Where no actions were logged, an edge's action is the state it leads to.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.files import Archive, write_archive
from fwrl.planner.labels import Labels

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

KIND = "planner"
LARGEST = 1e100  # reward in size: sums along any path stay numbers
KEPT = 3  # trips remembered for each edge
NONE = -1
TimeKind = Literal["integer", "number", "timestamp"]
MILLION = 1_000_000  # a time that is not a whole number is kept in millionths; a timestamp in microseconds


@dataclass(frozen=True)
class LogSummary:
    """What was read, and what it connects."""

    trips: int | None  # None where the log names no trips
    transitions: int
    states: int
    edges: int
    uncertain: int = 0  # (state, action) pairs that were seen to lead to more than one state
    skipped: int = 0
    connected: int | None = None  # ordered pairs of states with a known way; None where they were not counted
    stitched: int | None = None  # those of them that no single trip connects
    sampled: int | None = None  # from how many states that was estimated; None where it is exact


@dataclass(frozen=True, eq=False)
class Evidence:
    """Where the E edges come from: what explains a route, and what a further log is folded into."""

    last: Ints | None = None  # (E,) when last
    trips: Labels | None = None
    trip: Indices | None = None  # (E, KEPT) the latest trips, latest first; -1 where there were fewer
    trip_time: Ints | None = None  # (E, KEPT)
    sample: Indices | None = None  # (K,) states from which connections are counted, all of them up to 5,000
    joined: NDArray[np.uint8] | None = None  # (K, ceil(S / 8)) bits: states that a single trip leads to from each


@dataclass(frozen=True, eq=False)
class Experience:
    """E edges over S states. Arrays may be mapped from a file, and then cannot be written."""

    states: Labels
    actions: Labels | None  # None: the action is the next state
    source: Indices  # (E,)
    action: Indices | None  # (E,)
    target: Indices  # (E,)
    count: Ints  # (E,) how often it was seen
    total: Floats  # (E,) summed reward
    best: Floats  # (E,) largest reward
    time: TimeKind | None = None  # what times are
    summary: LogSummary = field(default_factory=lambda: LogSummary(None, 0, 0, 0))
    recall: Callable[[], Evidence] = Evidence  # most of a file is evidence, and no route needs it

    @cached_property
    def evidence(self) -> Evidence:
        """Where the edges come from; read from the file when it is first asked for."""
        return self.recall()

    @property
    def mean(self) -> Floats:
        """(E,) mean reward."""
        return self.total / self.count

    @property
    def first(self) -> Indices:
        """(S + 1,) where the edges that leave each state begin."""
        return np.searchsorted(self.source, np.arange(len(self.states) + 1)).astype(np.int32)

    def fresh_pair(self) -> NDArray[np.bool_]:
        """(E,) whether an edge is the first of its (state, action)."""
        fresh = np.ones(len(self.source), np.bool_)
        chosen = self.target if self.action is None else self.action
        fresh[1:] = (self.source[1:] != self.source[:-1]) | (chosen[1:] != chosen[:-1])
        return fresh

    def save(self, path: str | Path) -> None:
        """Write everything, all or nothing."""
        details = {"time": self.time, "summary": asdict(self.summary)}
        arrays: dict[str, NDArray[Any]] = self.states.arrays("states")
        if self.actions is not None:
            arrays |= self.actions.arrays("actions")
        if self.evidence.trips is not None:
            arrays |= self.evidence.trips.arrays("trips")
        for name in (*COLUMNS, *EVIDENCE):
            array = getattr(self if name in COLUMNS else self.evidence, name)
            if array is not None:
                arrays[name] = array
        write_archive(path, KIND, details, arrays)


# Name, dtype, dimensions, whether every experience has it.
Kinds = dict[str, tuple[Any, int, bool]]
COLUMNS: Kinds = {
    "source": (np.int32, 1, True),
    "action": (np.int32, 1, False),
    "target": (np.int32, 1, True),
    "count": (np.int64, 1, True),
    "total": (np.float64, 1, True),
    "best": (np.float64, 1, True),
}
EVIDENCE: Kinds = {
    "last": (np.int64, 1, False),
    "trip": (np.int32, 2, False),
    "trip_time": (np.int64, 2, False),
    "sample": (np.int32, 1, False),
    "joined": (np.uint8, 2, False),
}


def restored(archive: Archive) -> Experience:
    """The experience in an opened file; FileError unless it is consistent."""
    if archive.kind != KIND:
        path = str(archive.path)
        raise FileError(f"expected a saved planner, {path!r} holds a {archive.kind!r}; make one with fwrl fit")
    with _sound(archive):
        columns = _columns(archive, COLUMNS)
        states = Labels.restored(archive, "states")
        actions = Labels.restored(archive, "actions") if columns["action"] is not None else None
        time, summary = archive.details["time"], LogSummary(**archive.details["summary"])
        S, E = len(states), len(columns["source"])
        found = Experience(
            states, actions, **columns, time=time, summary=summary, recall=lambda: _recalled(archive, S, E)
        )
        _check(found)
        _expect(("last" in archive) == (time is not None), "a kind of time where there are times, only there")
    return found


def _recalled(archive: Archive, S: int, E: int) -> Evidence:
    with _sound(archive):
        columns = _columns(archive, EVIDENCE)
        trips = Labels.restored(archive, "trips") if columns["trip"] is not None else None
        evidence = Evidence(trips=trips, **columns)
        _check_evidence(evidence, S, E)
    return evidence


@contextlib.contextmanager
def _sound(archive: Archive) -> Iterator[None]:
    """Turn whatever is wrong with a file into one of our errors."""
    try:
        yield
    except (LookupError, TypeError, ValueError, OverflowError, MemoryError) as error:
        raise FileError(f"{str(archive.path)!r} does not hold a sound planner: {error}") from error


def _columns(archive: Archive, kinds: Kinds) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for name, (dtype, dimensions, needed) in kinds.items():
        columns[name] = archive[name] if needed or name in archive else None
        array = columns[name]
        if array is not None and (array.dtype != dtype or array.ndim != dimensions):
            raise FileError(f"expected {name!r} as {np.dtype(dtype)} with {dimensions} dimensions")
    return columns


def _check(experience: Experience) -> None:
    """Refuse what would lead compiled code or a route astray."""
    S, E = len(experience.states), len(experience.source)
    sizes = [len(a) for a in (experience.action, experience.target, experience.count, experience.total, experience.best) if a is not None]
    _expect(E > 0 and S > 0 and set(sizes) == {E}, "columns of one length, with at least one edge")
    _expect(_within(experience.source, S) and _within(experience.target, S), f"states from 0 to {S - 1}")
    if experience.action is not None:
        _expect(experience.actions is not None and _within(experience.action, len(experience.actions)), "actions that have a name")
    _expect(bool((experience.count > 0).all() and experience.count.sum() < 2**62), "edges seen at least once")
    small = [bool((np.abs(rewards) <= LARGEST).all()) for rewards in (experience.total, experience.best)]
    _expect(all(small), f"finite rewards up to {LARGEST:g} in size")
    _expect(_ordered(experience), "edges in order")
    _expect(experience.time in (None, "integer", "number", "timestamp"), "a known kind of time")
    unknown = ("trips", "connected", "stitched", "sampled")
    counted = [value for name, value in asdict(experience.summary).items() if value is not None or name not in unknown]
    _expect(all(type(value) is int and 0 <= value < 2**63 for value in counted), "a summary of whole numbers")
    _expect(experience.summary.states == S and experience.summary.edges == E, "a summary of what is there")


def _check_evidence(experience: Evidence, S: int, E: int) -> None:
    _expect(experience.last is None or len(experience.last) == E, "a time for each edge")
    if experience.trip is not None:
        _expect(experience.trip.shape == (E, KEPT), f"{KEPT} trips for each edge")
        _expect(experience.trips is not None and _within(experience.trip, len(experience.trips), NONE), "trips that have a name")
    if experience.trip_time is not None:
        _expect(experience.trip is not None and experience.trip_time.shape == (E, KEPT), "a time for each trip")
    if experience.sample is not None:
        wide = experience.joined is not None and experience.joined.shape == (len(experience.sample), -(-S // 8))
        _expect(wide and _within(experience.sample, S) and bool(np.all(np.diff(experience.sample) > 0)), "a sound sample")


def _expect(sound: object, what: str) -> None:
    if not sound:
        raise FileError(f"expected {what}; the file is damaged")


def _within(places: Indices, n: int, least: int = 0) -> bool:
    return len(places) == 0 or bool(places.min() >= least and places.max() < n)


def _ordered(experience: Experience) -> bool:
    """Whether edges ascend by state, action, next state, no two the same."""
    levels = [experience.source, experience.target] if experience.action is None else [experience.source, experience.action, experience.target]
    rising = np.zeros(len(experience.source) - 1, np.bool_)
    for level in reversed(levels):
        rising = (level[1:] > level[:-1]) | ((level[1:] == level[:-1]) & rising)
    return bool(rising.all())
