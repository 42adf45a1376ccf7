"""TransitionCounts: what a log amounts to, one edge for each observed (state, action, next state).

Edges are in order of state, action and next state, so one log gives one experience in any order of its rows. If no
actions were logged, an edge's action is its next state.

With a half-life, an observation weighs less the older it is: the weight of one at time t is
2^(-(newest - t) / half_life), newest being the latest time of all logs. A later newest time scales all weights by one
factor and leaves means and frequencies unchanged, so weights of different logs can be added once both are scaled to the
later of their newest times.

Connected pairs are counted for all ordered pairs of up to 5,000 states. With more states they are counted from a sample
of start states and scaled up. The sample is the states whose labels have the smallest hashes: a state in the sample of
all logs was in the sample of each log it occurs in, so logs read one by one give the same counts as logs read together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arguments import shown
from fwrl.arrays import Floats, Indices, Ints
from fwrl.cells import Cells
from fwrl.errors import FwrlError, OptionError
from fwrl.planner.labels import Labels

OLDEST = 500  # half-lives: weights and weighted sums stay far from the smallest float


@dataclass(frozen=True)
class Aging:
    """How observations are weighted."""

    half_life: float  # age at which an observation counts half, in the unit of stored times
    newest: int | None = None  # time at which an observation counts once; None as long as no time is known

    def until(self, time: int) -> Aging:
        """The same with a stored `time` as newest time, if it is later."""
        return replace(self, newest=time if self.newest is None else max(self.newest, time))

    def factor(self, newest: int) -> float:
        """By how much weights shrink, at most 1, when a time becomes the newest that is not before it."""
        assert self.newest is not None
        return float(2.0 ** ((self.newest - newest) / self.half_life))

    def check_oldest(self, time: int) -> None:
        """Refuse a `time` of the oldest observation so early that its weight could not be told from nothing."""
        assert self.newest is not None
        age = (self.newest - time) / self.half_life
        if age > OLDEST:
            raise FwrlError(
                f"the oldest observation is {age:,.0f} half-lives old, and beyond {OLDEST} it has no weight; "
                "leave such observations out, or choose a longer half-life"
            )


def common_aging(one: Aging | None, other: Aging | None) -> Aging | None:
    """How the observations of two experiences are weighted together: with the later of their newest times.

    An aging is None if all observations count once. Half-lives that differ are an error.
    """
    if one is None and other is None:
        return None
    if one is None or other is None or one.half_life != other.half_life:
        raise OptionError("the logs were read with different half-lives; use the same one for all")
    if other.newest is None:
        return one
    return one.until(other.newest)


def rescale(experience: TransitionCounts, newest: int) -> TransitionCounts:
    """The same experience with its weights at a later newest time; means and frequencies are unchanged."""
    aging = experience.aging
    if aging is None or experience.weight is None or newest == aging.newest:
        return experience
    if experience.evidence.last is not None:
        aging.until(newest).check_oldest(int(experience.evidence.last.min()))
    factor = aging.factor(newest)
    return replace(
        experience,
        weight=experience.weight * factor,
        total=experience.total * factor,
        aging=aging.until(newest),
    )


Bits = NDArray[np.uint8]

LARGEST = 1e100  # absolute reward: sums along any path stay finite
MOST = 2**62  # observations of an edge are fewer, so that two sums of them fit into 64 bits
KEPT = 3  # latest trips kept for each edge
NONE = -1  # no trip, no edge
TimeKind = Literal["integer", "number", "timestamp"]
MILLION = 1_000_000  # a time that is not an integer is kept in millionths, a timestamp in microseconds
DEFAULT_REWARD = -1.0  # of a transition where none is logged


def time_unit(kind: TimeKind | None) -> int:
    """What 1 of the log, or a second of dates, is in stored times of that `kind`."""
    return 1 if kind == "integer" else MILLION


@dataclass(frozen=True)
class LogSummary:
    """Counts of what was read and of what it connects."""

    #: Number of trips; None if the log names none, or where `Planner.with_min_trips` kept steps of which only
    #: the latest trips are known
    trips: int | None
    transitions: int  #: number of transitions read
    states: int  #: number of distinct states
    edges: int  #: number of distinct (state, action, next state)
    uncertain: int = 0  #: number of (state, action) pairs that were observed to lead to more than one state
    skipped: int = 0  #: number of bad rows left out
    terminated: int = 0  #: number of states in which a trip was seen to terminate
    connected: int | None = None  #: number of ordered pairs of states with a known path; None if they were not counted
    #: Those of them that no single trip connects; None if they were not counted. A trip that goes on in a log
    #: that was added later is two trips here
    stitched: int | None = None
    #: Number of start states from which `connected` and `stitched` were estimated; None if they are exact
    sampled: int | None = None


class LogFile(NamedTuple):
    """A file that was read, identified by content."""

    name: str  # its name as it was given
    size: int  # bytes
    digest: str  # of its content (see `ingest.read_log`)


@dataclass(frozen=True, eq=False)
class Evidence:
    """The trips behind the E edges, needed to explain routes and to merge further logs."""

    last: Ints | None = None  #: (E,) time of the latest observation; None if no times were logged
    trips: Labels | None = None  #: labels of all trips; None if no trips were logged
    trip: Indices | None = None  #: (E, 3) codes of the latest trips, latest first, -1 where there were fewer
    trip_time: Ints | None = None  #: (E, 3) their times; None if no times were logged
    #: (K,) start states from which connections are counted, all of them up to 5,000; None if they are not
    #: counted
    sample: Indices | None = None
    joined: Bits | None = None  #: (K, ceil(S / 8)) bits of the states that a single trip connects each of them to


@dataclass(frozen=True, eq=False)
class TransitionCounts:
    """E edges over S states. Arrays may be mapped from a file, and are then read-only."""

    states: Labels  #: labels of the S states
    actions: Labels | None  #: labels of the actions; None if none were logged
    source: Indices  #: (E,) code of the state an edge leaves
    action: Indices | None  #: (E,) code of its action; None if none were logged
    target: Indices  #: (E,) code of the state it leads to
    count: Ints  #: (E,) number of observations
    total: Floats  #: (E,) sum of rewards, each times its weight where there are weights
    best: Floats  #: (E,) largest reward
    #: (S,) 1 at the states in which a trip was seen to terminate; None if that was not logged
    terminated: Bits | None = None
    weight: Floats | None = None  #: (E,) sum of the weights of observations; None if each counts once
    aging: Aging | None = None  #: how weights follow from ages; None if there aren't any
    cells: Cells | None = None  #: the division into cells where states are cells, otherwise None
    position: Floats | None = None  #: (S, 2) the centres of the cells as x and y of a map; None if states are not cells
    #: `integer`, `number` (kept in millionths) or `timestamp` (kept in microseconds since 1970); None without times
    time: TimeKind | None = None
    #: the hours of the day that the log was limited to; None for all, or if planners of different hours were merged
    hours: str | None = None  # as 08:00-09:00
    summary: LogSummary = field(default_factory=lambda: LogSummary(None, 0, 0, 0))  #: counts of what was read
    logs: tuple[LogFile, ...] = ()  #: the files that were read, in order of their names
    #: the evidence, or what reads it, because most of a file is evidence and routes do not need it
    evidence_source: Evidence | Callable[[], Evidence] = field(default_factory=Evidence)

    @cached_property
    def evidence(self) -> Evidence:
        """The trips behind the edges; read on first access."""
        source = self.evidence_source
        return source if isinstance(source, Evidence) else source()

    @property
    def mean(self) -> Floats:
        """(E,) mean reward."""
        return self.total / self.times

    @property
    def times(self) -> Floats | Ints:
        """(E,) how much an edge counts, by its weight or else its number of observations."""
        return self.count if self.weight is None else self.weight

    @property
    def n_terminated(self) -> int:
        """Number of states in which a trip was seen to terminate."""
        return 0 if self.terminated is None else int(self.terminated.sum())

    @property
    def goes_on(self) -> NDArray[np.bool_]:
        """(E,) whether an edge leaves a state in which no trip terminated; others are on no path, except as its end."""
        if self.terminated is None:
            return np.ones(len(self.source), np.bool_)
        goes_on: NDArray[np.bool_] = self.terminated[self.source] == 0
        return goes_on

    def edges_between(self, pairs: Iterable[tuple[int, int]]) -> NDArray[np.bool_]:
        """(E,) whether an edge leads from the first state of one of these pairs to its second."""
        found = np.zeros(len(self.source), np.bool_)
        for a, b in pairs:
            begin, end = int(self.first[a]), int(self.first[a + 1])
            found[begin:end] |= self.target[begin:end] == b
        return found

    @cached_property
    def first(self) -> Indices:
        """(S + 1,) index of the first edge that leaves each state."""
        return np.searchsorted(self.source, np.arange(len(self.states) + 1)).astype(np.int32)

    def tries(self, edges: Ints, among: NDArray[np.bool_] | None = None) -> Floats:
        """(n,) how much the actions of `edges` (n,) count, over all outcomes or those `among` some states (S,)."""
        begin, end = self.first[self.source[edges]], self.first[self.source[edges] + 1]
        number = end - begin
        row = np.repeat(np.arange(len(edges)), number)
        beside = np.arange(number.sum()) + np.repeat(begin - np.cumsum(number) + number, number)
        chosen = self.target if self.action is None else self.action
        same = chosen[beside] == chosen[edges][row]
        if among is not None:
            same &= among[self.target[beside]]
        return np.bincount(row[same], self.times[beside[same]], len(edges)).astype(np.float64)

    def first_of_pair(self) -> NDArray[np.bool_]:
        """(E,) whether an edge is the first of its (state, action)."""
        first = np.ones(len(self.source), np.bool_)
        chosen = self.target if self.action is None else self.action
        first[1:] = (self.source[1:] != self.source[:-1]) | (chosen[1:] != chosen[:-1])
        return first

    def pair(self) -> Ints:
        """(E,) the number of each edge's (state, action), from 0, in order."""
        numbers: Ints = np.cumsum(self.first_of_pair()) - 1
        return numbers


def summarised(experience: TransitionCounts, trips: int | None, transitions: int, skipped: int = 0) -> TransitionCounts:
    """The same experience with a summary of what is there; its connections are not counted."""
    summary = LogSummary(
        trips=trips,
        transitions=transitions,
        states=len(experience.states),
        edges=len(experience.source),
        uncertain=int(np.sum(np.bincount(experience.pair()) > 1)),
        skipped=skipped,
        terminated=experience.n_terminated,
    )
    return replace(experience, summary=summary)


ALL_COUNTED = 5_000  # states up to which every pair is counted
SAMPLED = 8  # start states beyond that
CONNECTED, STITCHED = 0, 1  # what `count_connections` counts


def number_of_starts(S: int) -> int:
    """The number of start states from which connections are counted, of `S` states."""
    return S if S <= ALL_COUNTED else min(S, SAMPLED)


def with_counts(experience: TransitionCounts) -> TransitionCounts:
    """The same experience with the counts in its summary; its evidence has `sample` and `joined`."""
    from fwrl.kernels.reach import count_connections, reach_scratch

    sample, joined = experience.evidence.sample, experience.evidence.joined
    assert sample is not None
    assert joined is not None
    S, K = len(experience.states), len(sample)
    counts = np.zeros(2, np.int64)
    source, target = experience.source[experience.goes_on], experience.target[experience.goes_on]
    first = np.searchsorted(source, np.arange(S + 1)).astype(np.int32)
    count_connections(first, np.ascontiguousarray(target), sample, joined, reach_scratch(S, 0), counts)
    scale = S / K
    summary = replace(
        experience.summary,
        connected=round(counts[CONNECTED] * scale),
        stitched=round(counts[STITCHED] * scale),
        sampled=None if K == S else K,
    )
    return replace(experience, summary=summary)


def supported(experience: TransitionCounts, least: int) -> TransitionCounts:
    """The experience of the edges that at least `least` distinct trips made, with their states, actions and trips."""
    if least > KEPT:
        wanted = shown(least)
        raise OptionError(
            f"a planner keeps the latest {KEPT} trips of each step, so it can't tell whether {wanted} made it; fit the "
            f"log with min_trips={wanted} (--min-trips {wanted}), or ask for at most {KEPT}"
        )
    evidence = experience.evidence
    if evidence.trip is None or evidence.trips is None:
        raise OptionError("the log names no trips, so steps can't be limited by trips; fit it with a column of trips")
    listed = (evidence.trip != NONE).sum(axis=1)
    kept = np.flatnonzero(listed >= least)
    if not len(kept):
        raise FwrlError(f"no step was made by {least} distinct trips or more; ask for fewer, or add logs")
    source, target = experience.source[kept], experience.target[kept]
    states, ends = np.unique(np.concatenate((source, target)), return_inverse=True)
    actions, action = experience.actions, None
    if actions is not None and experience.action is not None:
        used, codes = np.unique(experience.action[kept], return_inverse=True)
        actions, action = actions.subset(used), codes.astype(np.int32)
    trip = evidence.trip[kept]
    named = np.unique(trip[trip != NONE])
    terminated = None if experience.terminated is None else np.asarray(experience.terminated[states])
    few = replace(
        experience,
        states=experience.states.subset(states),
        actions=actions,
        source=ends[: len(kept)].astype(np.int32),
        action=action,
        target=ends[len(kept) :].astype(np.int32),
        count=experience.count[kept],
        total=experience.total[kept],
        best=experience.best[kept],
        terminated=terminated,
        weight=None if experience.weight is None else experience.weight[kept],
        position=None if experience.position is None else experience.position[states],
        evidence_source=Evidence(
            last=None if evidence.last is None else evidence.last[kept],
            trips=evidence.trips.subset(named),
            trip=np.where(trip == NONE, NONE, np.searchsorted(named, trip)).astype(np.int32),
            trip_time=None if evidence.trip_time is None else evidence.trip_time[kept],
        ),
    )
    all_listed = bool(((listed[kept] < KEPT) | (few.count == KEPT)).all())
    trips = len(named) if all_listed else None
    return summarised(few, trips, int(few.count.sum()), experience.summary.skipped)
