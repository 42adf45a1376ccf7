"""Routes from edges: the edges that a policy takes one after the other, or those of a given path."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fwrl.planner.experience import Experience, Ints
from fwrl.planner.route import Route, RouteStep

if TYPE_CHECKING:
    from fwrl.planner.goal_policy import Backup, GoalPolicy

CERTAIN = 1e-9  # a computed probability this close to 1 counts as 1


def followed_route(experience: Experience, start: int, policy: GoalPolicy, backup: Backup) -> Route:
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
        shares = [_unknown_share(experience, edge, policy.unknown) for edge in path]
        pairs = zip(route.steps, shares, strict=True)
        route = replace(route, steps=tuple(step._replace(unknown=share) for step, share in pairs))
    arrival = policy.arrival_from(start)
    return replace(route, value=float(policy.value[start]), arrival=1.0 if arrival > 1 - CERTAIN else arrival)


def route_along(experience: Experience, start: int, goal: int, path: tuple[int, ...], backup: Backup) -> Route:
    """The route along the edges of `path`, its value the sum of its rewards."""
    edges = np.array(path, np.int64)
    seen = experience.count[edges]
    reward = experience.best[edges] if backup == "best" else experience.total[edges] / experience.times[edges]
    states = experience.states.decode([start, *experience.target[edges].tolist()])
    actions = states[1:]
    if experience.action is not None and experience.actions is not None:
        actions = experience.actions.decode(experience.action[edges].tolist())
    certain = backup == "best" or not experience.summary.uncertain
    probabilities = [1.0] * len(path) if certain else [_probability(experience, edge) for edge in path]
    rows = zip(states, actions, states[1:], reward.tolist(), probabilities, seen.tolist(), strict=False)
    steps = tuple(RouteStep(*row) for row in rows)
    total = math.fsum(step.reward for step in steps)
    return Route(experience.states[start], experience.states[goal], backup, steps, total, 1.0, path)


def _probability(experience: Experience, edge: int) -> float:
    """How often the action of an edge led to its next state, as a share of the observations of the action."""
    if experience.action is None:
        return 1.0
    return float(experience.times[edge] / experience.times[_same_action(experience, edge)].sum())


def _unknown_share(experience: Experience, edge: int, unknown: NDArray[np.bool_]) -> float:
    """The share of the observations of an edge's action that lead to `unknown` (S,) states."""
    same = _same_action(experience, edge)
    times = experience.times[same]
    return float(times[unknown[experience.target[same]]].sum() / times.sum())


def _same_action(experience: Experience, edge: int) -> Ints:
    """The edges of the state and the action of an edge; where no actions were logged an action is its next state."""
    chosen = experience.target if experience.action is None else experience.action
    s = int(experience.source[edge])
    edges = np.arange(experience.first[s], experience.first[s + 1])
    same: Ints = edges[chosen[edges] == chosen[edge]]
    return same
