"""Routes from edges: the edges that a policy takes one after the other, or those of a given path."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fwrl.planner.experience import Experience
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
        edges = np.array(path, np.int64)
        shares = experience.tries(edges, policy.unknown) / experience.tries(edges)
        pairs = zip(route.steps, shares.tolist(), strict=True)
        route = replace(route, steps=tuple(step._replace(unknown=share) for step, share in pairs))
    low, high = (1.0 if bound > 1 - CERTAIN else bound for bound in policy.arrival_bounds(start))
    return replace(route, value=float(policy.value[start]), arrival=high, arrival_low=low)


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
    probabilities = np.ones(len(path)) if certain else experience.times[edges] / experience.tries(edges)
    rows = zip(states, actions, states[1:], reward.tolist(), probabilities.tolist(), seen.tolist(), strict=False)
    steps = tuple(RouteStep(*row) for row in rows)
    total = math.fsum(step.reward for step in steps)
    return Route(experience.states[start], experience.states[goal], backup, steps, total, 1.0, path)
