"""Experience: what a log amounts to, one edge for each observed (state, action, next state).

Edges are in order of state, action and next state, so that one log gives one experience whatever the order of its
rows. Where no actions were logged, an edge's action is its next state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Indices, Ints
from fwrl.cells import Cells
from fwrl.planner.aging import Aging
from fwrl.planner.labels import Labels

Bits = NDArray[np.uint8]

LARGEST = 1e100  # absolute reward: sums along any path stay finite
MOST = 2**62  # observations of an edge are fewer, so that two sums of them fit into 64 bits
KEPT = 3  # latest trips kept for each edge
NONE = -1  # no trip, no edge
TERMINATED, OUTSIDE = 1, 2  # flags of a first visit: the trip terminated in the period that was read, or outside of it
TimeKind = Literal["integer", "number", "timestamp"]
MILLION = 1_000_000  # a time that is not an integer is kept in millionths, a timestamp in microseconds
DEFAULT_REWARD = -1.0  # of a transition where none is logged


def time_unit(kind: TimeKind | None) -> int:
    """What 1 of the log, or a second of dates, is in stored times of that `kind`."""
    return 1 if kind == "integer" else MILLION


@dataclass(frozen=True)
class LogSummary:
    """Counts of what was read and of what it connects.

    Attributes:
        trips: Number of trips; None where the log names none.
        transitions: Number of transitions read.
        states: Number of distinct states.
        edges: Number of distinct (state, action, next state).
        uncertain: Number of (state, action) pairs that were observed to lead to more than one state.
        skipped: Number of bad rows left out.
        terminated: Number of states in which a trip was seen to terminate.
        continued: Number of times that a trip of one log goes on in a log that was added later: trips of visits are
            joined there, trips of transitions have the same name.
        connected: Number of ordered pairs of states with a known path; None where they were not counted.
        stitched: Those of them that no single trip connects; None where they were not counted. Where trips were
            `continued`, what they connect only across two logs is counted too.
        sampled: Number of start states from which `connected` and `stitched` were estimated; None where they are exact.

    """

    trips: int | None
    transitions: int
    states: int
    edges: int
    uncertain: int = 0
    skipped: int = 0
    terminated: int = 0
    continued: int = 0
    connected: int | None = None
    stitched: int | None = None
    sampled: int | None = None


@dataclass(frozen=True)
class LogFile:
    """A file that was read, known again by its content.

    Attributes:
        name: Its name as it was given.
        size: Bytes.
        digest: Of its content (see `ingest.log_files`).

    """

    name: str
    size: int
    digest: str


@dataclass(frozen=True, eq=False)
class TripEnds:
    """The first and the last visit of each of T trips of logs of visits: a trip may go on in a further log.

    Attributes:
        trips: Labels of the trips, also of those with a single visit, which have no edge.
        states: Labels of the states of these visits.
        actions: Labels of the actions of the last visits; None where none were logged.
        first_time: (T,) time of the first visit.
        first_state: (T,) code of its state, -1 where it is missing.
        last_time: (T,) time of the last visit.
        last_state: (T,) code of its state, -1 where it is missing.
        last_action: (T,) code of its action, -1 where it is missing; None where no actions were logged.
        last_reward: (T,) its reward, NaN where it is missing; None where none were logged.
        last_arrival: (T,) time at which the state of the last visit was first seen; None unless the cost of a move is
            the time to the next visit.
        last_kept: (T,) 1 where the last visit is in the period that was read, otherwise 0; None where all are.
        first_terminated: (T,) 1 where the trip terminated at its first visit, 2 where that is outside of the period
            that was read, otherwise 0; None where that was not logged.

    """

    trips: Labels
    states: Labels
    actions: Labels | None
    first_time: Ints
    first_state: Indices
    last_time: Ints
    last_state: Indices
    last_action: Indices | None
    last_reward: Floats | None = None
    last_arrival: Ints | None = None
    last_kept: Bits | None = None
    first_terminated: Bits | None = None


@dataclass(frozen=True, eq=False)
class Evidence:
    """Where the E edges come from: it explains routes, and further logs are merged into it.

    Attributes:
        last: (E,) time of the latest observation; None where no times were logged.
        trips: Labels of all trips; None where no trips were logged.
        trip: (E, 3) codes of the latest trips, latest first, -1 where there were fewer.
        trip_time: (E, 3) their times; None where no times were logged.
        sample: (K,) start states from which connections are counted, all of them up to 5,000; None where they are
            not counted.
        joined: (K, ceil(S / 8)) bits of the states that a single trip connects each of them to.
        ends: First and last visits of trips; None where no visits were logged.

    """

    last: Ints | None = None
    trips: Labels | None = None
    trip: Indices | None = None
    trip_time: Ints | None = None
    sample: Indices | None = None
    joined: Bits | None = None
    ends: TripEnds | None = None

    def read(self) -> Evidence:
        """Evidence in memory, which is its own source.

        Returns:
            Itself.

        """
        return self


class EvidenceSource(Protocol):
    """Evidence in memory, or what reads it from a file (see `file_format.SavedEvidence`)."""

    def read(self) -> Evidence:
        """The evidence."""


@dataclass(frozen=True, eq=False)
class Experience:
    """E edges over S states. Arrays may be mapped from a file, and are then read-only.

    Attributes:
        states: Labels of the S states.
        actions: Labels of the actions; None where none were logged.
        source: (E,) code of the state an edge leaves.
        action: (E,) code of its action; None where none were logged.
        target: (E,) code of the state it leads to.
        count: (E,) number of observations.
        total: (E,) sum of rewards, each times its weight where there are weights.
        best: (E,) largest reward.
        terminated: (S,) 1 at the states in which a trip was seen to terminate; None where that was not logged.
        weight: (E,) sum of the weights of observations; None where each counts once.
        aging: How weights follow from ages; None where there are none.
        cells: The division into cells where states are cells, otherwise None.
        position: (S, 2) the centres of the cells as x and y of a map; None where states are not cells.
        time: Kind of the logged times: `integer`, `number` (kept in millionths) or `timestamp` (kept in
            microseconds since 1970); None where there are none.
        hours: The hours of the day that the log was limited to, as `08:00-09:00`; None where it was not, or where
            planners of different hours were merged.
        summary: Counts of what was read.
        logs: The files that were read, in order of their names.
        evidence_source: Holds or reads the evidence. Most of a file is evidence, and routes do not need it.

    """

    states: Labels
    actions: Labels | None
    source: Indices
    action: Indices | None
    target: Indices
    count: Ints
    total: Floats
    best: Floats
    terminated: Bits | None = None
    weight: Floats | None = None
    aging: Aging | None = None
    cells: Cells | None = None
    position: Floats | None = None
    time: TimeKind | None = None
    hours: str | None = None
    summary: LogSummary = field(default_factory=lambda: LogSummary(None, 0, 0, 0))
    logs: tuple[LogFile, ...] = ()
    evidence_source: EvidenceSource = field(default_factory=Evidence)

    @cached_property
    def evidence(self) -> Evidence:
        """Where the edges come from; read on first access."""
        return self.evidence_source.read()

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
        """(E,) whether an edge leaves a state in which no trip terminated; others are on no path, unless it is ended.

        Returns:
            A mask of edges.

        """
        if self.terminated is None:
            return np.ones(len(self.source), np.bool_)
        goes_on: NDArray[np.bool_] = self.terminated[self.source] == 0
        return goes_on

    @cached_property
    def first(self) -> Indices:
        """(S + 1,) index of the first edge that leaves each state."""
        return np.searchsorted(self.source, np.arange(len(self.states) + 1)).astype(np.int32)

    def tries(self, edges: Ints, among: NDArray[np.bool_] | None = None) -> Floats:
        """How much the action of each edge counts, over all of its outcomes.

        Args:
            edges: (n,) edges.
            among: (S,) marks the only next states that count; None for all.

        Returns:
            (n,) sums of `times`.
        """
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
        """Marks the first edge of each (state, action).

        Returns:
            (E,) whether an edge is the first of its (state, action).

        """
        first = np.ones(len(self.source), np.bool_)
        chosen = self.target if self.action is None else self.action
        first[1:] = (self.source[1:] != self.source[:-1]) | (chosen[1:] != chosen[:-1])
        return first

    def pair(self) -> Ints:
        """Numbers the (state, action) pairs in order.

        Returns:
            (E,) the number of each edge's pair, from 0.

        """
        numbers: Ints = np.cumsum(self.first_of_pair()) - 1
        return numbers
