"""Beliefs against the truth: what an agent promises, and what its policy really earns.

For every goal, over all starts that reach it and can be returned to: the mean path reward and arrival probability the
agent believes in, and the exact arrival probability, path reward and number of steps of its greedy policy, ties taken
evenly. No sampling.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.oracle import evaluate
from fwrl.worlds import World
from fwrl.worlds.goal_sampler import GoalSampler


class Audit(NamedTuple):
    """One goal's means over its starts."""

    goal: int
    unknown: int  # starts from which the agent knows no way
    believed: float  # path reward, over the other starts
    kept: float  # what the policy truly earns from those
    believed_arrival: float  # NaN where the agent's values say nothing of it
    arrival: float
    value: float
    steps: float


def greedy_policy(agent: Agent, goal: int) -> NDArray[np.float64]:
    """(S, A) the agent's greedy policy for `goal`, evenly over ties."""
    best = agent.best_actions(goal).astype(np.float64)
    policy: NDArray[np.float64] = best / best.sum(axis=1, keepdims=True)
    return policy


def audit(agent: Agent, world: World) -> list[Audit]:
    """The agent's beliefs and the truth about them, goal by goal."""
    trips = GoalSampler(world, threshold=0.0)
    return [_audit_goal(agent, world, goal, trips.starts(goal)) for goal in trips.goals.tolist()]


def _audit_goal(agent: Agent, world: World, goal: int, starts: NDArray[np.int64]) -> Audit:
    believed = agent.estimated_path_rewards(goal, world.step_reward)[starts]
    known = np.isfinite(believed)
    truth = evaluate(world, greedy_policy(agent, goal), goal)
    promise, kept = (believed[known].mean(), truth.value[starts][known].mean()) if known.any() else (np.nan, np.nan)
    return Audit(
        goal,
        int((~known).sum()),
        float(promise),
        float(kept),
        float(agent.arrivals(goal)[starts].mean()),
        float(truth.arrival[starts].mean()),
        float(truth.value[starts].mean()),
        float(truth.steps[starts].mean()),
    )
