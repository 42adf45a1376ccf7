"""Model-based reinforcement learning as in the authors' program: it plans straight lines only.

Its planner follows paths that repeat one action, each step by the outcome seen most often. The agent acts at random
where no such path is known to reach the goal. It explains the published ordering of the agents: a planner that may
turn (`mbrl`) does far better.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config, no_episode
from fwrl.agents.sections import EDGES
from fwrl.agents.soundness import check_edges
from fwrl.agents.verbs import LEARNED, register_verbs
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.graph.edges import NONE, Edges, count_edge, no_edges
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]


class StraightTables(NamedTuple):
    """Counts."""

    edges: Edges
    episode: NDArray[np.int64]
    action_values: Floats  # (A,)


@compiled
def straight_values(edges: Edges, s: int, g: int, values: Floats) -> None:
    """For each action, the reward of repeating it until g; -inf where that does not reach g."""
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
    """The outcome of `pair` seen most often, of equals the first seen; NONE if it was never tried."""
    best = NONE
    e = edges.leaving[pair]
    while e != NONE:
        if best == NONE or edges.times[e] >= edges.times[best]:
            best = e
        e = edges.next_leaving[e]
    return best


@compiled
def act(agent: StraightTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on straight lines."""
    straight_values(agent.edges, s, agent.episode[GOAL], agent.action_values)
    return epsilon_greedy(agent.action_values, agent.episode, rng)


@compiled
def observe(agent: StraightTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step."""
    if not arrived:
        count_edge(agent.edges, s * len(agent.action_values) + a, next_s, r)
    return LEARNED


@compiled
def action_values(agent: StraightTables, s: int, g: int, values: Floats) -> None:
    """The rewards of the straight lines to g."""
    straight_values(agent.edges, s, g, values)


class StraightModelBased(Agent[StraightTables]):
    """Counts, and straight lines on them."""

    name = "mbrl-straight"
    description = "model-based RL that only plans straight lines, as the authors' program did"
    Config = Config
    verbs = register_verbs(StraightTables, act, observe, action_values)
    sections = EDGES

    def empty_tables(self) -> StraightTables:
        """Nothing observed."""
        return StraightTables(no_edges(self.n_states, self.n_actions), no_episode(), np.empty(self.n_actions))

    def check_tables(self) -> None:
        """Check the edges."""
        check_edges(self.tables.edges, self.n_states, self.n_actions)
