"""Where a route comes from: the past trips that each step was seen on, and where trips were stitched together.

Only the latest few trips of an edge are kept. So a stretch is stitched to the next where none of the kept trips
covers both; an older trip may have.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fwrl.planner.experience import MILLION, NONE, Experience, TimeKind
from fwrl.planner.labels import Label
from fwrl.planner.route import Route, RouteStep


class Leg(NamedTuple):
    """A step and its evidence."""

    step: RouteStep
    trips: tuple[Label, ...]  # the latest ones, latest first
    last: Any  # when it was last seen: a number, a date, or None where no times were logged
    stretch: int  # which stretch of the route it belongs to


@dataclass(frozen=True)
class Explanation:
    """A route with the reasons for it."""

    route: Route
    legs: tuple[Leg, ...]
    stretches: tuple[tuple[Label, ...], ...]  # for each stretch the trips that cover all of it

    @property
    def stitches(self) -> tuple[Label, ...]:
        """The states where one past trip is left for another."""
        pairs = zip(self.legs, self.legs[1:], strict=False)
        return tuple(after.step.state for before, after in pairs if before.stretch != after.stretch)

    @property
    def single(self) -> tuple[Leg, ...]:
        """The legs that hang on one observation."""
        return tuple(leg for leg in self.legs if leg.step.seen == 1)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON holds it."""
        legs = [
            {**leg.step._asdict(), "trips": list(leg.trips), "last": shown_time(leg.last), "stretch": leg.stretch}
            for leg in self.legs
        ]
        found = self.route.to_dict()
        found["steps"] = legs
        found["stretches"] = [list(trips) for trips in self.stretches]
        found["stitches"] = list(self.stitches)
        found["single"] = [leg.step.state for leg in self.single]
        return found


def explained(experience: Experience, route: Route) -> Explanation:
    """The evidence for each step of `route`."""
    known = experience.evidence.trip is not None
    legs: list[Leg] = []
    stretches: list[set[int]] = []
    for step, edge in zip(route.steps, route.edges, strict=True):
        trips = _trips(experience, edge)
        if not stretches or (known and not stretches[-1] & set(trips)):
            stretches.append(set(trips))
        elif known:
            stretches[-1] &= set(trips)
        labels = tuple(_label(experience, trip) for trip in trips)
        last = (
            None if experience.evidence.last is None else time_of(int(experience.evidence.last[edge]), experience.time)
        )
        legs.append(Leg(step, labels, last, len(stretches) - 1))
    named = tuple(tuple(sorted((_label(experience, t) for t in some), key=str)) for some in stretches)
    return Explanation(route, tuple(legs), named)


def _trips(experience: Experience, edge: int) -> list[int]:
    """Latest first."""
    return (
        []
        if experience.evidence.trip is None
        else [int(trip) for trip in experience.evidence.trip[edge] if trip != NONE]
    )


def _label(experience: Experience, trip: int) -> Label:
    assert experience.evidence.trips is not None
    label: Label = experience.evidence.trips[trip]
    return label


def time_of(number: int, kind: TimeKind | None) -> Any:
    """A stored time as people know it.

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
    """A time as JSON and people read it."""
    return time.isoformat(sep=" ") if isinstance(time, datetime.datetime) else time
