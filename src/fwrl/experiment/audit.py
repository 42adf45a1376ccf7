"""Audit: compare an agent's estimates with the exact values of its greedy policy.

For each goal (in large worlds, an evenly spread selection) an audit averages over all starts in the goal's region: the
agent's own estimates of path reward and arrival, and the exact arrival probability, path reward and steps of its greedy
policy. Ties are broken uniformly, and nothing is sampled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.arrays import Ints
from fwrl.oracle import evaluate
from fwrl.worlds import World
from fwrl.worlds.goal_sampler import GoalSampler

LARGEST = 30_000  # states x goals; the time to evaluate a goal grows with the number of states


class Audit(NamedTuple):
    """Means over the starts of one goal; the fields are columns of the results store."""

    goal: int
    unknown: int  # starts from which the agent knows no path
    believed: float  # path reward, over the other starts
    kept: float  # the policy's true path reward, over the same starts
    believed_arrival: float  # NaN if the agent doesn't estimate it
    arrival: float  # this and the next two are exact, over all starts
    value: float
    steps: float


def greedy_policy(agent: Agent, goal: int) -> NDArray[np.float64]:
    """(S, A) the agent's greedy policy for `goal`, evenly over ties."""
    best = agent.best_actions(goal).astype(np.float64)
    policy: NDArray[np.float64] = best / best.sum(axis=1, keepdims=True)
    return policy


def audited_trips(world: World, goal: int | None = None, start: int | None = None) -> list[tuple[int, Ints]]:
    """The goals to audit, each with its starts: all that the task may draw, up to `LARGEST` states x goals.

    >>> from fwrl.worlds import load_world
    >>> len(audited_trips(load_world("four-rooms"))), len(audited_trips(load_world("maze-51x51-7")))
    (68, 22)
    """
    trips = GoalSampler(world, threshold=0.0).trips(goal, start)
    most = max(1, LARGEST // world.n_states)
    if len(trips) <= most:
        return trips
    return [trips[k * len(trips) // most] for k in range(most)]


def audit(agent: Agent, world: World, goal: int | None = None, start: int | None = None) -> list[Audit]:
    """Audit all goals and starts that the task may draw, or only `goal` or `start`."""
    return [_audit_goal(agent, world, goal, starts) for goal, starts in audited_trips(world, goal, start)]


def _audit_goal(agent: Agent, world: World, goal: int, starts: NDArray[np.int64]) -> Audit:
    believed = agent.estimated_path_rewards(goal, world.step_reward)[starts]
    known = np.isfinite(believed)
    truth = evaluate(world, greedy_policy(agent, goal), goal)
    mean, kept = (believed[known].mean(), truth.value[starts][known].mean()) if known.any() else (np.nan, np.nan)
    return Audit(
        goal,
        int((~known).sum()),
        float(mean),
        float(kept),
        float(agent.arrivals(goal)[starts].mean()),
        float(truth.arrival[starts].mean()),
        float(truth.value[starts].mean()),
        float(truth.steps[starts].mean()),
    )
