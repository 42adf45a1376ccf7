"""Where a route comes from: the past trips that made each step, and where trips were stitched together.

Only the latest few trips of an edge are kept. So a route is stitched where none of the kept trips covers both sides; an
older trip may have covered them.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fwrl.planner.experience import MILLION, NONE, Evidence, Experience, TimeKind
from fwrl.planner.labels import Label
from fwrl.planner.route import Route, RouteStep


class Leg(NamedTuple):
    """A step of a route and its evidence.

    Attributes:
        step: The step.
        trips: The latest trips that made it, latest first.
        last: Time of the latest observation: a number, a date, or None where no times were logged.
        stretch: Index of the stretch of the route it belongs to.

    """

    step: RouteStep
    trips: tuple[Label, ...]
    last: Any
    stretch: int


@dataclass(frozen=True)
class Explanation:
    """A route and where it comes from.

    Attributes:
        route: The route.
        legs: Its steps with their evidence.
        stretches: The trips that cover all of a stretch, for each stretch of the route in order.

    """

    route: Route
    legs: tuple[Leg, ...]
    stretches: tuple[tuple[Label, ...], ...]

    @property
    def stitches(self) -> tuple[Label, ...]:
        """The states where the route changes from one past trip to another."""
        pairs = zip(self.legs, self.legs[1:], strict=False)
        return tuple(after.step.state for before, after in pairs if before.stretch != after.stretch)

    @property
    def single(self) -> tuple[Leg, ...]:
        """The steps that were observed only once."""
        return tuple(leg for leg in self.legs if leg.step.seen == 1)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON holds it.

        Returns:
            The entries of `Route.to_dict`, its steps with trips, last and stretch; stretches, stitches and single.

        """
        steps = [
            {**leg.step._asdict(), "trips": list(leg.trips), "last": shown_time(leg.last), "stretch": leg.stretch}
            for leg in self.legs
        ]
        return {
            **self.route.to_dict(),
            "steps": steps,
            "stretches": [list(trips) for trips in self.stretches],
            "stitches": list(self.stitches),
            "single": [leg.step.state for leg in self.single],
        }


def explained(experience: Experience, route: Route) -> Explanation:
    """The evidence for each step of `route`."""
    evidence = experience.evidence
    known = evidence.trip is not None
    legs: list[Leg] = []
    stretches: list[set[int]] = []
    for step, edge in zip(route.steps, route.edges, strict=True):
        trips = _trips(evidence, edge)
        if not stretches or (known and not stretches[-1] & set(trips)):
            stretches.append(set(trips))
        elif known:
            stretches[-1] &= set(trips)
        labels = tuple(_label(evidence, trip) for trip in trips)
        last = None if evidence.last is None else time_of(int(evidence.last[edge]), experience.time)
        legs.append(Leg(step, labels, last, len(stretches) - 1))
    covering = tuple(tuple(sorted((_label(evidence, t) for t in trips), key=str)) for trips in stretches)
    return Explanation(route, tuple(legs), covering)


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
