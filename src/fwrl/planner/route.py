"""A route: the action to take at each state, and what it may lead to."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fwrl.display import Picture, drawn, html_table
from fwrl.planner.counting import between
from fwrl.planner.labels import Label

MOST_SHOWN = 50  # steps that notebooks list


class RouteStep(NamedTuple):
    """One step of a route.

    Attributes:
        state: Where it begins.
        action: What to do there; the next state where no actions were logged.
        next_state: Where it leads.
        reward: Mean reward, or the best one with backup `best`.
        probability: Probability that the action leads to that state.
        seen: Number of observations.
        unknown: Share of the action's observations that lead to states which the log does not follow up; they are left
            out of the plan.

    """

    state: Label
    action: Label
    next_state: Label
    reward: float
    probability: float
    seen: int
    unknown: float = 0.0


@dataclass(frozen=True)
class Route:
    """The steps from a start to a goal.

    Where outcomes vary, a plan is a policy, and the route shows what it does if every step has its most frequent
    outcome among those that lead closer to the goal.

    Attributes:
        start: The first state.
        goal: The last state.
        backup: `expected` or `best`.
        steps: The steps in order.
        value: Expected path reward of the policy, given arrival; equals `reward` where all steps are certain. With a
            cost of giving up, the expected reward in all.
        arrival: Probability that the policy arrives, as far as the log follows it: tries that ended where the log ends
            are left out.
        edges: The rows of `Planner.edges()` that the steps follow.
        cautious: The confidence with which value and arrival are lower bounds; None where they are estimates.
        arrival_low: The same probability with these tries as failures; equals `arrival` where there are none.

    """

    start: Label
    goal: Label
    backup: str
    steps: tuple[RouteStep, ...]
    value: float
    arrival: float
    edges: tuple[int, ...]
    cautious: float | None = None
    arrival_low: float = 1.0

    @property
    def states(self) -> tuple[Label, ...]:
        """The states from start to goal."""
        return (self.start, *(step.next_state for step in self.steps))

    @property
    def reward(self) -> float:
        """Sum of the rewards of its steps."""
        return math.fsum(step.reward for step in self.steps)

    @property
    def probability(self) -> float:
        """Probability that every step has the outcome shown."""
        return math.prod(step.probability for step in self.steps)

    @property
    def weakest(self) -> RouteStep | None:
        """The step with the fewest observations, the first of several; None where there are no steps."""
        return min(self.steps, key=lambda step: step.seen, default=None)

    @property
    def arrival_bounds(self) -> tuple[float, float]:
        """`arrival_low` and `arrival`."""
        return self.arrival_low, self.arrival

    @property
    def least_followed(self) -> RouteStep | None:
        """The step with the largest unknown share, the first of several; None where the log follows all steps up."""
        found = max(self.steps, key=lambda step: step.unknown, default=None)
        return found if found is not None and found.unknown > 0.0 else None

    @property
    def unknown(self) -> float:
        """The largest share of a step's observations that the plan leaves out, as the log does not follow them up."""
        return 0.0 if self.least_followed is None else self.least_followed.unknown

    @property
    def certain(self) -> bool:
        """Whether no other outcome of any step was observed."""
        return self.arrival == 1.0 and all(step.probability == 1.0 for step in self.steps)

    def plot(self, positions: Mapping[Any, Sequence[float]] | None = None) -> Picture:
        """Draw the route.

        Args:
            positions: State -> (x, y); None to draw the steps one below the other, with how often each was seen.

        Returns:
            A matplotlib figure; notebooks show it, `savefig` writes it.

        """
        return drawn("route_figure", self, positions)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in ("step", "from", "action", "to", "reward", "probability", "seen"))
        rows = "".join(
            "<tr>"
            + "".join(
                f"<td>{html.escape(str(cell))}</td>"
                for cell in (k, s.state, s.action, s.next_state, f"{s.reward:.5g}", f"{s.probability:.3g}", s.seen)
            )
            + "</tr>"
            for k, s in enumerate(self.steps[:MOST_SHOWN], 1)
        )
        facts = {"steps": len(self.steps), "expected reward": self.value, "arrival": between(self.arrival_bounds)}
        more = f"<div>and {len(self.steps) - MOST_SHOWN:,} more</div>" if len(self.steps) > MOST_SHOWN else ""
        return f"{html_table(f'route {self.start} to {self.goal}', facts)}<table><tr>{head}</tr>{rows}</table>{more}"

    def to_dict(self) -> dict[str, Any]:
        """The route as JSON holds it.

        Returns:
            start, goal, backup, cautious, reward, probability, expected_reward, arrival, arrival_bounds, weakest step,
            the largest unknown share of a step, and steps.

        """
        return {
            "start": self.start,
            "goal": self.goal,
            "backup": self.backup,
            "cautious": self.cautious,
            "reward": self.reward,
            "probability": self.probability,
            "expected_reward": self.value,
            "arrival": self.arrival,
            "arrival_bounds": list(self.arrival_bounds),
            "weakest": None if self.weakest is None else self.weakest._asdict(),
            "unknown": self.unknown,
            "steps": [step._asdict() for step in self.steps],
        }


def concatenated(routes: list[Route], gives_up: bool = False) -> Route:
    """One route from several, each of which begins where the one before ends.

    `gives_up` says whether values are expected rewards in all, with giving up, instead of given arrival.
    """
    if len(routes) == 1:
        return routes[0]
    return Route(
        routes[0].start,
        routes[-1].goal,
        routes[0].backup,
        tuple(step for route in routes for step in route.steps),
        _value_in_all(routes) if gives_up else math.fsum(route.value for route in routes),
        math.prod(route.arrival for route in routes),
        tuple(edge for route in routes for edge in route.edges),
        routes[0].cautious,
        math.prod(route.arrival_low for route in routes),
    )


def _value_in_all(routes: list[Route]) -> float:
    """The expected reward v_1 + p_1 (v_2 + p_2 (v_3 + ...)) of legs with arrival p: a leg counts if it is begun.

    Where v and p are lower bounds, p may be up to 1, which is worse where the rest costs something.
    """
    value = 0.0
    for route in reversed(routes):
        begun = route.arrival if route.cautious is None or value > 0 else 1.0
        value = route.value + begun * value
    return value
