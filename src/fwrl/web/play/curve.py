"""Curve: how episodes went since the goal last moved, in a bounded number of points.

The first episodes after the goal moved tell the story, whatever the speed. They are kept one by one; later ones are
averaged in spans that double, so a million episodes take little more room than a hundred. A curve is in parts, one
for each goal.
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
class Point:
    """The sums of some successive episodes."""

    episodes: int = 0
    reward: float = 0.0
    distance: float = 0.0
    shortest: float = 0.0

    @property
    def mean_reward(self) -> float:
        """Per episode."""
        return self.reward / self.episodes

    @property
    def inefficiency(self) -> float | None:
        """Distance travelled over the shortest possible, both on completed trips; None without any."""
        return self.distance / self.shortest if self.shortest else None


@dataclass
class Part:
    """The points for one goal, and what the oracle earns there in an episode, once it was asked."""

    goal: int
    oracle: float | None = None
    points: list[Point] = field(default_factory=list)


class Curve:
    """The points of one agent."""

    def __init__(self) -> None:
        self.parts: list[Part] = []

    def begin(self, goal: int) -> None:
        """The goal moved."""
        if self.parts and not self.parts[-1].points:
            self.parts.pop()
        self.parts.append(Part(goal))

    def add(self, reward: float, distance: float, shortest: float) -> None:
        """One finished episode."""
        points = self.parts[-1].points
        if not points or points[-1].episodes == span(len(points) - 1):
            points.append(Point())
        last = points[-1]
        last.episodes += 1
        last.reward += reward
        last.distance += distance
        last.shortest += shortest
        while len(self.parts) > 1 and sum(len(part.points) for part in self.parts) > LARGEST:
            self.parts.pop(0)

    @property
    def latest(self) -> Point | None:
        """The last point for the goal in use, None before any episode was finished."""
        points = self.parts[-1].points
        return points[-1] if points else None

    def told(self) -> list[dict[str, Any]]:
        """The curve as JSON: for each goal the means and inefficiencies of its points."""
        return [
            {
                "goal": part.goal,
                "oracle": part.oracle,
                "episodes": [point.episodes for point in part.points],
                "reward": [round(point.mean_reward, 4) for point in part.points],
                "inefficiency": [
                    None if point.inefficiency is None else round(point.inefficiency, 4) for point in part.points
                ],
            }
            for part in self.parts
        ]
