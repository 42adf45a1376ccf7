"""FWRL with `explorer="optimistic"`: no epsilon; F itself leads to untried actions (see `kernels.model.frontier`).

An action that was never tried counts as if it led to the goal in one step with the best reward seen anywhere. Where
outcomes are certain, one try settles it, and the agent does not stop at a known path while a better one may exist.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.fwrl.dense import SECTIONS, ClosureFwrl, empty_dense_tables
from fwrl.agents.fwrl.dense import act as act_dense
from fwrl.agents.fwrl.dense import action_values as action_values_dense
from fwrl.agents.fwrl.dense import observe as observe_dense
from fwrl.agents.sections import Sections
from fwrl.agents.verbs import LEARNED, register_verbs
from fwrl.kernels.closure import ClosureScratch
from fwrl.kernels.exploration import EXPLORE, GOAL
from fwrl.kernels.graph.edges import Edges
from fwrl.kernels.model.frontier import optimistic_rewards, reach_frontiers
from fwrl.kernels.model.greedy import Greedy, cache_greedy
from fwrl.kernels.model.optimism import see_reward
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class OptimisticTables(NamedTuple):
    """The dense tables, and the value of the nearest frontier."""

    V: Floats  # (S, S) goal-major
    edges: Edges
    episode: Ints
    scratch: ClosureScratch
    greedy: Greedy
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,)
    W: Floats  # (S,)
    made: Ints  # (1,) the count of changes that W was made at
    reward: Floats  # (1,) of the best step seen anywhere


@compiled
def act(agent: OptimisticTables, s: int, rng: np.random.Generator) -> int:
    """The best action with untried actions counted in, ties at random."""
    if agent.episode[EXPLORE] == 0:
        return act_dense(agent, s, rng)
    if agent.greedy.made[s] != agent.greedy.changes[0]:
        if agent.made[0] != agent.greedy.changes[0]:
            reach_frontiers(agent.V, agent.edges, agent.reward[0], agent.W)
            agent.made[0] = agent.greedy.changes[0]
        g = agent.episode[GOAL]
        optimistic_rewards(agent.V, agent.edges, agent.W, agent.reward[0], s, g, agent.action_values)
        cache_greedy(agent.greedy, s, agent.action_values)
    return int(agent.greedy.best[s, int(fresh_digits(rng.random()) * agent.greedy.ties[s])])


@compiled
def observe(agent: OptimisticTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn as the dense agent does, and keep the best reward of a step."""
    verdict = observe_dense(agent, s, a, r, next_s, arrived)
    if arrived or verdict != LEARNED:
        return verdict
    if agent.counts_steps[0] != 0:
        r = -1.0
    if see_reward(agent.reward, agent.edges, r):
        agent.greedy.changes[0] += 1
    return LEARNED


class OptimisticFwrl(ClosureFwrl[OptimisticTables]):
    """The dense agent with the optimistic explorer."""

    verbs = register_verbs(OptimisticTables, act, observe, action_values_dense)
    sections: ClassVar[Sections] = {**SECTIONS, "optimism/reward": "reward"}

    def empty_tables(self) -> OptimisticTables:
        """No path known, nothing tried."""
        tables = empty_dense_tables(self.n_states, self.n_actions, counts_steps=self.value_kind == "steps")
        return OptimisticTables(*tables, np.empty(self.n_states), np.array([-1]), np.zeros(1))
