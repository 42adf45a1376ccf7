"""A route: the steps that a policy or a path takes from a start to a goal."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fwrl.display import Picture, between, drawn, html_table
from fwrl.planner.labels import Label
from fwrl.planner.transition_counts import TransitionCounts

if TYPE_CHECKING:
    from fwrl.planner.policy import Backup, GoalPolicy

MOST_SHOWN = 50  # steps that notebooks list


class RouteStep(NamedTuple):
    """One step of a route."""

    state: Label  #: the state before the step
    action: Label  #: to take; the next state if the log doesn't record actions
    next_state: Label  #: the state after the step
    reward: float  #: mean reward, or the best one with backup `best`
    probability: float  #: probability that the action has this outcome
    seen: int  #: number of observations
    unknown: float = 0.0  #: share of the action's observations after which the log ends; the plan ignores them


@dataclass(frozen=True)
class Route:
    """The steps from a start to a goal.

    If outcomes vary, a plan is a policy. The route then shows the most frequent outcome of every step among those that
    get closer to the goal.

    >>> import fwrl
    >>> route = fwrl.fit([("dock", "aisle"), ("aisle", "shelf"), ("gate", "aisle")]).plan("gate", "shelf")
    >>> route.states, route.value
    (('gate', 'aisle', 'shelf'), -2.0)
    """

    start: Label  #: the first state
    goal: Label  #: the last state
    backup: str  #: `expected` or `best`
    steps: tuple[RouteStep, ...]  #: the steps in order
    #: Expected path reward of the policy, given arrival; equals `reward` if all steps are certain. With a cost
    #: of giving up, the expected reward including giving up
    value: float
    arrival: float  #: probability that the policy arrives, ignoring tries during which the log ends
    edges: tuple[int, ...]  #: the rows of `Planner.edges()` that the steps follow
    #: The confidence with which value and arrival are lower bounds; None if they are estimates
    cautious: float | None = None
    arrival_low: float = 1.0  #: the same probability if those tries count as failures
    stopovers: tuple[int, ...] = ()  #: after how many steps it passes each state that `via` names

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
        """The step with the fewest observations, the first of several; None without steps."""
        return min(self.steps, key=lambda step: step.seen, default=None)

    @property
    def arrival_bounds(self) -> tuple[float, float]:
        """`arrival_low` and `arrival`."""
        return self.arrival_low, self.arrival

    @property
    def least_followed(self) -> RouteStep | None:
        """The step with the largest unknown share, the first of several; None if no share is unknown."""
        found = max(self.steps, key=lambda step: step.unknown, default=None)
        return found if found is not None and found.unknown > 0.0 else None

    @property
    def unknown(self) -> float:
        """The largest share of a step's observations that the plan ignores because the log ends after them."""
        return 0.0 if self.least_followed is None else self.least_followed.unknown

    @property
    def certain(self) -> bool:
        """Whether no other outcome of any step was observed."""
        return self.arrival == 1.0 and all(step.probability == 1.0 for step in self.steps)

    def plot(self, positions: Mapping[Any, Sequence[float]] | None = None) -> Picture:
        """Draw the route on a map of `positions`, state -> (x, y), or as steps one below the other with their
        counts.
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
        """The route as plain values for JSON."""
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
    """Join legs into one route.

    `gives_up` says whether values include giving up, instead of being given arrival.
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
        tuple(itertools.accumulate(len(route.steps) for route in routes[:-1])),
    )


def _value_in_all(routes: list[Route]) -> float:
    """The expected reward v_1 + p_1 (v_2 + p_2 (v_3 + ...)) of legs with arrival p: a leg counts if it is begun.

    If v and p are lower bounds, the true p may be up to 1, which is worse if the rest costs something.
    """
    value = 0.0
    for route in reversed(routes):
        begun = route.arrival if route.cautious is None or value > 0 else 1.0
        value = route.value + begun * value
    return value


CERTAIN = 1e-9  # a computed probability this close to 1 counts as 1


def followed_route(experience: TransitionCounts, start: int, policy: GoalPolicy, backup: Backup) -> Route:
    """The route from a state that takes the policy's edge at every state."""
    path, here = [], start
    while here != policy.goal:
        edge = int(policy.edge[here])
        path.append(edge)
        here = int(experience.target[edge])
    route = route_along(experience, start, policy.goal, tuple(path), backup)
    if policy.arrival is None:
        return route
    if policy.unknown is not None and policy.unknown.any():
        edges = np.array(path, np.int64)
        shares = experience.tries(edges, policy.unknown) / experience.tries(edges)
        pairs = zip(route.steps, shares.tolist(), strict=True)
        route = replace(route, steps=tuple(step._replace(unknown=share) for step, share in pairs))
    low, high = (1.0 if bound > 1 - CERTAIN else bound for bound in policy.arrival_bounds(start))
    return replace(route, value=float(policy.value[start]), arrival=high, arrival_low=low)


def route_along(experience: TransitionCounts, start: int, goal: int, path: tuple[int, ...], backup: Backup) -> Route:
    """The route along the edges of `path`, its value the sum of its rewards."""
    edges = np.array(path, np.int64)
    seen = experience.count[edges]
    reward = experience.best[edges] if backup == "best" else experience.total[edges] / experience.times[edges]
    states = experience.states.decode([start, *experience.target[edges].tolist()])
    actions = states[1:]
    if experience.action is not None and experience.actions is not None:
        actions = experience.actions.decode(experience.action[edges].tolist())
    certain = backup == "best" or not experience.summary.uncertain
    probabilities = np.ones(len(path)) if certain else experience.times[edges] / experience.tries(edges)
    rows = zip(states, actions, states[1:], reward.tolist(), probabilities.tolist(), seen.tolist(), strict=False)
    steps = tuple(RouteStep(*row) for row in rows)
    total = math.fsum(step.reward for step in steps)
    return Route(experience.states[start], experience.states[goal], backup, steps, total, 1.0, path)
