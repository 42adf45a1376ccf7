"""Model-based reinforcement learning as in the authors' program: it only plans straight lines.

Its planner follows paths that repeat one action, each step with the outcome seen most often. If no such path is known
to reach the goal, the agent acts at random. This explains the published ranking of the agents: a planner that may turn
(`mbrl`) does far better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwrl.agents.agent import Agent, Config
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.arrays import ActionScratch, Floats
from fwrl.kernels.edges import NONE, Edges, count_edge
from fwrl.kernels.exploration import GOAL, Episode, epsilon_greedy
from fwrl.kernels.jit import compiled, inner


class StraightTables(NamedTuple):
    """Counts."""

    edges: Edges
    episode: Episode
    action_values: ActionScratch


@compiled
def straight_values(edges: Edges, s: int, g: int, values: Floats) -> None:
    """Fill in the reward of repeating each action until g; -inf if that doesn't reach g."""
    A = len(values)
    S = len(edges.entering)
    for a in range(A):
        values[a] = -np.inf
        total = 0.0
        x = s
        for _ in range(S):
            e = likeliest(edges, x * A + a)
            if e == NONE or edges.target[e] == x:
                break
            total += edges.total[e] / edges.times[e]
            x = edges.target[e]
            if x == g:
                values[a] = total
                break


@compiled
def likeliest(edges: Edges, pair: int) -> int:
    """Return the outcome of `pair` seen most often, the first seen if tied; NONE if it was never tried."""
    best = NONE
    e = edges.leaving[pair]
    while e != NONE:
        if best == NONE or edges.times[e] >= edges.times[best]:
            best = e
        e = edges.next_leaving[e]
    return best


@inner
def act(agent: StraightTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on straight lines."""
    straight_values(agent.edges, s, agent.episode[GOAL], agent.action_values)
    return epsilon_greedy(agent.action_values, agent.episode, rng)


@inner
def observe(agent: StraightTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step."""
    if not arrived:
        count_edge(agent.edges, s * len(agent.action_values) + a, next_s, r)
    return LEARNED


@inner
def action_values(agent: StraightTables, s: int, g: int, values: Floats) -> None:
    """Fill in the rewards of the straight lines to g."""
    straight_values(agent.edges, s, g, values)


class StraightModelBased(Agent[StraightTables]):
    """Counts, and straight lines planned on them."""

    name = "mbrl-straight"
    description = "model-based RL that only plans straight lines, as the authors' program did"
    Config = Config
    verbs = register_verbs(StraightTables, act, observe, action_values)
