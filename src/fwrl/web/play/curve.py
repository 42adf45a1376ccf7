"""The reward curve of one agent, in a bounded number of points.

The first episodes after the goal moved are kept one by one, whatever the speed. Later ones are averaged over spans
that double, so a million episodes take little more memory than a hundred. A curve has one segment for each goal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SINGLE = 16  # episodes kept one by one after the goal moved
PER_SPAN = 8  # points of one span before the next is twice as long
LARGEST = 240  # points in all


def span(point: int) -> int:
    """How many episodes the point with this number averages.

    >>> [span(point) for point in (0, 15, 16, 23, 24)]
    [1, 1, 2, 2, 4]
    """
    return 1 if point < SINGLE else 2 << (point - SINGLE) // PER_SPAN


@dataclass
class CurvePoint:
    """The sums over some successive episodes."""

    episodes: int = 0
    reward: float = 0.0
    distance: float = 0.0
    shortest: float = 0.0

    @property
    def mean_reward(self) -> float:
        """The reward per episode."""
        return self.reward / self.episodes

    @property
    def inefficiency(self) -> float | None:
        """Distance travelled over the shortest possible, both on completed trips; None without any."""
        return self.distance / self.shortest if self.shortest else None


@dataclass
class CurveSegment:
    """The points for one goal, and the oracle's reward per episode there; None while it is not computed."""

    goal: int
    oracle: float | None = None
    points: list[CurvePoint] = field(default_factory=list)


class LearningCurve:
    """The curve of one agent."""

    def __init__(self) -> None:
        self.segments: list[CurveSegment] = []

    def begin(self, goal: int) -> None:
        """Begin the segment of another goal."""
        if self.segments and not self.segments[-1].points:
            self.segments.pop()
        self.segments.append(CurveSegment(goal))

    def add(self, reward: float, distance: float, shortest: float) -> None:
        """Add one finished episode."""
        points = self.segments[-1].points
        if not points or points[-1].episodes == span(len(points) - 1):
            points.append(CurvePoint())
        last = points[-1]
        last.episodes += 1
        last.reward += reward
        last.distance += distance
        last.shortest += shortest
        while len(self.segments) > 1 and sum(len(segment.points) for segment in self.segments) > LARGEST:
            self.segments.pop(0)

    @property
    def latest(self) -> CurvePoint | None:
        """The last point for the goal in use, None before the first finished episode."""
        points = self.segments[-1].points
        return points[-1] if points else None

    def to_json(self) -> list[dict[str, Any]]:
        """The curve as JSON: for each goal the mean rewards and inefficiencies of its points."""
        return [
            {
                "goal": segment.goal,
                "oracle": segment.oracle,
                "episodes": [point.episodes for point in segment.points],
                "reward": [round(point.mean_reward, 4) for point in segment.points],
                "inefficiency": [
                    None if point.inefficiency is None else round(point.inefficiency, 4) for point in segment.points
                ],
            }
            for segment in self.segments
        ]
