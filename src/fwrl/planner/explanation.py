"""Explain a route: the past trips behind each step, and where they were stitched.

A planner only keeps the latest trips of each edge, and calls a state a stitch if none of them covers both sides. An
older trip may have, so the number of trips is an upper bound. Reading the log again gives the fewest (see `reread`).
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fwrl.planner.labels import Label
from fwrl.planner.route import Route, RouteStep
from fwrl.planner.transition_counts import MILLION, NONE, Evidence, LogFile, TimeKind, TransitionCounts

if TYPE_CHECKING:
    from fwrl.planner.reread import RouteCover


class ExplainedStep(NamedTuple):
    """A step of a route and its evidence."""

    step: RouteStep  #: the step
    trips: tuple[Label, ...]  #: the latest trips that made it, latest first
    last: Any  #: time of the latest observation, a number or a date; None if no times were logged
    stretch: int  #: index of the stretch of the route it belongs to


@dataclass(frozen=True)
class Explanation:
    """A route and the past trips behind it."""

    route: Route  #: the route
    steps: tuple[ExplainedStep, ...]  #: its steps with their evidence
    #: For each stretch of the route in order, the trips that cover all of it. A stretch is a part between two
    #: stitches. At most three trips are named
    stretches: tuple[tuple[Label, ...], ...]
    covering: tuple[int, ...] = ()  #: for each stretch, the number of trips that are known to cover all of it
    fewest: bool = False  #: whether no fewer past trips cover the route; otherwise their number is an upper bound

    @property
    def stitches(self) -> tuple[Label, ...]:
        """The states where the route changes from one past trip to another."""
        pairs = zip(self.steps, self.steps[1:], strict=False)
        return tuple(after.step.state for before, after in pairs if before.stretch != after.stretch)

    def is_stitch(self, k: int) -> bool:
        """Whether the route changes from one past trip to another before step k, from 1."""
        return self.steps[k].stretch != self.steps[k - 1].stretch

    @property
    def single(self) -> tuple[ExplainedStep, ...]:
        """The steps that were observed only once."""
        return tuple(each for each in self.steps if each.step.seen == 1)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values for JSON: that of its route, and what is known of its trips."""
        steps = [
            {**each.step._asdict(), "trips": list(each.trips), "last": shown_time(each.last), "stretch": each.stretch}
            for each in self.steps
        ]
        return {
            **self.route.to_dict(),
            "steps": steps,
            "stretches": [list(trips) for trips in self.stretches],
            "covering": list(self.covering),
            "fewest": self.fewest,
            "stitches": list(self.stitches),
            "single": [each.step.state for each in self.single],
        }


def explained(experience: TransitionCounts, route: Route) -> Explanation:
    """The evidence for each step of `route`."""
    evidence = experience.evidence
    known = evidence.trip is not None
    steps: list[ExplainedStep] = []
    stretches: list[set[int]] = []
    for step, edge in zip(route.steps, route.edges, strict=True):
        trips = _trips(evidence, edge)
        if not stretches or (known and not stretches[-1] & set(trips)):
            stretches.append(set(trips))
        elif known:
            stretches[-1] &= set(trips)
        labels = tuple(_label(evidence, trip) for trip in trips)
        last = None if evidence.last is None else time_of(int(evidence.last[edge]), experience.time)
        steps.append(ExplainedStep(step, labels, last, len(stretches) - 1))
    covering = tuple(tuple(sorted((_label(evidence, t) for t in trips), key=str)) for trips in stretches)
    return Explanation(route, tuple(steps), covering, tuple(map(len, covering)), fewest=len(stretches) <= 1)


def covered(explanation: Explanation, cover: RouteCover, logs: tuple[LogFile, ...]) -> Explanation:
    """The explanation with the stretches of `cover`; `logs` are those of the planner.

    The trips are the fewest if all of these were read.
    """
    number = [k for k, stretch in enumerate(cover.stretches) for _ in range(stretch.first, stretch.last + 1)]
    steps = (each._replace(stretch=k) for each, k in zip(explanation.steps, number, strict=True))
    known = {log.digest for log in cover.logs}
    return Explanation(
        explanation.route,
        tuple(steps),
        tuple(stretch.trips for stretch in cover.stretches),
        tuple(stretch.n_trips for stretch in cover.stretches),
        fewest=len(cover.stretches) <= 1 or all(log.digest in known for log in logs),
    )


def _trips(evidence: Evidence, edge: int) -> list[int]:
    """The codes of the trips kept of an edge, latest first."""
    return [] if evidence.trip is None else [int(trip) for trip in evidence.trip[edge] if trip != NONE]


def _label(evidence: Evidence, trip: int) -> Label:
    assert evidence.trips is not None
    label: Label = evidence.trips[trip]
    return label


def time_of(number: int, kind: TimeKind | None) -> Any:
    """A stored time in its own unit: a number, or a date in UTC.

    >>> time_of(1_500_000, "number"), time_of(0, "timestamp")
    (1.5, datetime.datetime(1970, 1, 1, 0, 0))
    """
    if kind == "integer":
        return number
    if kind == "number":
        return number / MILLION
    try:
        return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=number)
    except OverflowError:
        return str(np.datetime64(number, "us"))


def shown_time(time: Any) -> Any:
    """A time as JSON and the command line show it."""
    return time.isoformat(sep=" ") if isinstance(time, datetime.datetime) else time
