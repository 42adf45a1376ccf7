"""Questions about many places: the costs of many pairs, what is reachable from a start, and what reaches a goal.

The cost of a pair is that of its best plan: minus `Planner.value`, the expected cost given arrival, with the
probability of arriving next to it. Without uncertainty one search answers for a whole row or column of pairs, so the
side with fewer places is searched from. Under uncertainty every goal has its own plan.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fwrl.arrays import Floats, Indices
from fwrl.display import html_table
from fwrl.errors import OptionError, PositiveCycleError
from fwrl.kernels.shortest_paths import ShortestPaths, incoming_csr
from fwrl.planner.labels import Label
from fwrl.planner.policy import Conditions, GoalPolicies, positive_cycle_error
from fwrl.planner.transition_counts import TransitionCounts

SLACK = 1e-9  # a computed cost may exceed a limit by this share of it


class ReachedPlace(NamedTuple):
    """A place within a cost.

    Attributes:
        state: The place.
        cost: Expected cost of the best plan, given arrival.
        arrival: Probability that this plan arrives.
    """

    state: Label
    cost: float
    arrival: float


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """Costs and arrival probabilities of all pairs of n starts and m goals.

    Attributes:
        starts: The n starts, as rows.
        goals: The m goals, as columns.
        cost: (n, m) expected cost of the best plan given arrival; inf if no route is known.
        arrival: (n, m) probability that this plan arrives.
    """

    starts: tuple[Label, ...]
    goals: tuple[Label, ...]
    cost: Floats
    arrival: Floats

    def to_dict(self) -> dict[str, Any]:
        """The attributes as plain values for JSON, tables as lists of rows; a cost is None if no route is known."""
        costs = [[cost if math.isfinite(cost) else None for cost in row] for row in self.cost.tolist()]
        return {
            "starts": list(self.starts),
            "goals": list(self.goals),
            "cost": costs,
            "arrival": self.arrival.tolist(),
        }

    def _repr_html_(self) -> str:
        known = int(np.isfinite(self.cost).sum())
        return html_table("costs", {"starts": len(self.starts), "goals": len(self.goals), "pairs with a route": known})


def cost_matrix(
    experience: TransitionCounts,
    policies: GoalPolicies,
    starts: Sequence[int],
    goals: Sequence[int],
    conditions: Conditions,
) -> CostMatrix:
    """The costs of all pairs, by as few searches as there are starts or goals, whichever are fewer."""
    conditions.check()
    value, arrival = np.empty((len(starts), len(goals))), np.empty((len(starts), len(goals)))
    if _has_own_plans(experience, conditions):
        for k, goal in enumerate(goals):
            policy = policies.policy(goal, conditions)
            value[:, k] = policy.value[list(starts)]
            arrival[:, k] = [policy.arrival_from(start) for start in starts]
    else:
        forward = len(starts) < len(goals)
        search, V = _search(experience, conditions, forward), np.empty(len(experience.states))
        for k, place in enumerate(starts if forward else goals):
            search.column(place, out=V)
            if forward:
                value[k] = V[list(goals)]
            else:
                value[:, k] = V[list(starts)]
        arrival[:] = value > -np.inf
    labels = experience.states
    value[arrival == 0.0] = -np.inf
    return CostMatrix(tuple(labels.decode(list(starts))), tuple(labels.decode(list(goals))), 0.0 - value, arrival)


def places_within(
    experience: TransitionCounts, policies: GoalPolicies, goal: int, cost: float, conditions: Conditions
) -> list[ReachedPlace]:
    """The places whose plan to `goal` costs at most `cost`, cheapest first, itself among them."""
    limit, policy = _limit(experience, cost), policies.policy(goal, conditions)
    arrival = (policy.value > -np.inf).astype(np.float64) if policy.arrival is None else policy.arrival
    return _listed(experience, 0.0 - policy.value, arrival, limit)


def places_reachable(
    experience: TransitionCounts, policies: GoalPolicies, start: int, cost: float, conditions: Conditions
) -> list[ReachedPlace]:
    """The places that the plan from `start` reaches for at most `cost`, cheapest first, itself among them."""
    limit, S = _limit(experience, cost), len(experience.states)
    conditions.check()
    if not _has_own_plans(experience, conditions):
        costs = 0.0 - _search(experience, conditions, forward=True).column(start)
        return _listed(experience, costs, (costs < np.inf).astype(np.float64), limit)
    costs, arrival = np.full(S, np.inf), np.zeros(S)
    for goal in _candidates(experience, start, limit, conditions).tolist():
        policy = policies.policy(goal, conditions)
        costs[goal], arrival[goal] = 0.0 - policy.value[start], policy.arrival_from(start)
    return _listed(experience, costs, arrival, limit)


def _candidates(experience: TransitionCounts, start: int, limit: float, conditions: Conditions) -> Indices:
    """The places that may be within the limit: no plan costs less on average than the best path of mean costs."""
    try:
        lowest = 0.0 - _search(experience, conditions, forward=True).column(start)
    except PositiveCycleError:  # by choosing outcomes, which a plan can't
        return np.arange(len(experience.states), dtype=np.int32)
    # Giving up may be cheaper than any path.
    within = lowest < np.inf if conditions.give_up is not None else (lowest <= limit) & (lowest < np.inf)
    return np.flatnonzero(within).astype(np.int32)


def _has_own_plans(experience: TransitionCounts, conditions: Conditions) -> bool:
    """Whether every goal needs a separate plan, so that one search can't serve several goals."""
    varies = experience.summary.uncertain or conditions.give_up is not None or conditions.cautious is not None
    return conditions.backup == "expected" and bool(varies)


def _search(experience: TransitionCounts, conditions: Conditions, forward: bool) -> ShortestPaths:
    """A search over the edges in use: its columns are values for a goal or, `forward`, values from a start."""
    best = conditions.backup == "best"
    closed = sorted(conditions.avoid | conditions.dead_ends)
    kept = experience.goes_on if not closed else experience.goes_on & ~np.isin(experience.source, closed)
    ends = experience.source[kept], experience.target[kept]
    source, target = reversed(ends) if forward else ends
    reward = (experience.best if best else experience.mean)[kept]
    try:
        return ShortestPaths(incoming_csr(len(experience.states), source, target, reward)[0])
    except PositiveCycleError as error:
        states = error.states[::-1] if forward else error.states
        raise positive_cycle_error(experience, states, "best" if best else "mean") from None


def _limit(experience: TransitionCounts, cost: float) -> float:
    if math.isnan(cost):
        raise OptionError("expected a number as the most that a plan may cost, got nan")
    if cost < 0 and not np.any(experience.best > 0):
        raise OptionError(f"expected a cost of at least 0, got {cost:g}: no step of the log costs less than nothing")
    return cost + SLACK * abs(cost) if math.isfinite(cost) else cost


def _listed(experience: TransitionCounts, costs: Floats, arrival: Floats, limit: float) -> list[ReachedPlace]:
    chosen = np.flatnonzero((costs <= limit) & (arrival > 0.0))
    chosen = chosen[np.argsort(costs[chosen], kind="stable")]
    names = experience.states.decode(chosen.tolist())
    rows = zip(names, costs[chosen].tolist(), arrival[chosen].tolist(), strict=True)
    return [ReachedPlace(*row) for row in rows]
