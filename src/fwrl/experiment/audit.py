"""Beliefs against the truth: what an agent promises, and what its policy really earns.

For every goal, over all other states: the mean path reward the agent believes in, and the exact arrival probability,
path reward and number of steps of its greedy policy, ties taken evenly. No sampling.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.kernels.ties import least_tie
from fwrl.oracle import evaluate
from fwrl.worlds import World


class Audit(NamedTuple):
    """One goal's means over the other states."""

    goal: int
    unknown: int  # states from which the agent knows no way; left out of `believed`
    believed: float
    arrival: float
    value: float
    steps: float


def greedy_policy(agent: Agent, goal: int) -> NDArray[np.float64]:
    """(S, A) the agent's greedy policy for `goal`, evenly over ties."""
    values = agent.action_table(goal)
    least = np.array([[least_tie(best)] for best in values.max(axis=1)])
    best = (values >= least).astype(np.float64)
    policy: NDArray[np.float64] = best / best.sum(axis=1, keepdims=True)
    return policy


def audit(agent: Agent, world: World) -> list[Audit]:
    """The agent's beliefs and the truth about them, goal by goal."""
    return [_audit_goal(agent, world, goal) for goal in range(world.n_states)]


def _audit_goal(agent: Agent, world: World, goal: int) -> Audit:
    others = np.arange(world.n_states) != goal
    believed = agent.promised(goal, world.step_reward)
    known = others & np.isfinite(believed)
    truth = evaluate(world, greedy_policy(agent, goal), goal)
    return Audit(
        goal,
        int(others.sum() - known.sum()),
        float(believed[known].mean()) if known.any() else float("nan"),
        float(truth.arrival[others].mean()),
        float(truth.value[others].mean()),
        float(truth.steps[others].mean()),
    )
