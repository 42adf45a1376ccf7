"""A route: what to do at each state, and what may come of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from fwrl.planner.labels import Label


class RouteStep(NamedTuple):
    """One step of a route."""

    state: Label
    action: Label
    next_state: Label
    reward: float  # mean, or best with backup `best`
    probability: float  # that the action leads to that state
    seen: int  # how often


@dataclass(frozen=True)
class Route:
    """The steps from a start to a goal.

    Where outcomes vary, the route is what a policy does if at every step the likeliest outcome that gets closer comes
    about: `probability` is that of all of them coming about, `value` the policy's expected reward given arrival,
    `arrival` its probability of arriving. Otherwise both are 1 and `value` is `reward`.
    """

    start: Label
    goal: Label
    backup: str
    steps: tuple[RouteStep, ...]
    value: float
    arrival: float
    edges: tuple[int, ...]  # the rows of `Planner.edges()` that it follows

    @property
    def states(self) -> tuple[Label, ...]:
        """From start to goal."""
        return (self.start, *(step.next_state for step in self.steps))

    @property
    def reward(self) -> float:
        """The sum of the rewards of its steps."""
        return math.fsum(step.reward for step in self.steps)

    @property
    def probability(self) -> float:
        """Of every step going as shown."""
        return math.prod(step.probability for step in self.steps)

    @property
    def certain(self) -> bool:
        """Whether nothing on it was seen to go otherwise."""
        return self.arrival == 1.0 and all(step.probability == 1.0 for step in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """All of it, as JSON holds it."""
        return {
            "start": self.start,
            "goal": self.goal,
            "backup": self.backup,
            "reward": self.reward,
            "probability": self.probability,
            "expected_reward": self.value,
            "arrival": self.arrival,
            "steps": [step._asdict() for step in self.steps],
        }


def joined(legs: list[Route]) -> Route:
    """Routes one after the other, as one: each must begin where the one before it ends."""
    if len(legs) == 1:
        return legs[0]
    return Route(
        legs[0].start,
        legs[-1].goal,
        legs[0].backup,
        tuple(step for leg in legs for step in leg.steps),
        math.fsum(leg.value for leg in legs),
        math.prod(leg.arrival for leg in legs),
        tuple(edge for leg in legs for edge in leg.edges),
    )
