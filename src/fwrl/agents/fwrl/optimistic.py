"""FWRL that explores without any epsilon: it goes to frontiers with F itself (see `kernels.model.frontier`).

In a world where outcomes are certain, it never settles for a known path while a better one could still exist: whatever
was never tried promises the goal in one best step, and a promise is kept or refuted by trying it once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.fwrl import ExactTables, Fwrl, act_exact, action_values_exact, observe_exact
from fwrl.agents.verbs import LEARNED, Verbs, register_verbs
from fwrl.kernels.closure import Walk
from fwrl.kernels.exploration import EXPLORE, GOAL
from fwrl.kernels.graph.edges import Edges
from fwrl.kernels.greedy import Greedy, remember
from fwrl.kernels.model.frontier import optimistic_rewards, reach_frontiers
from fwrl.kernels.model.optimism import see_reward
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class OptimisticTables(NamedTuple):
    """Those of the exact agent, and the promise of the frontiers."""

    V: Floats  # (S, S) goal-major
    edges: Edges
    episode: Ints
    walk: Walk
    greedy: Greedy
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,)
    W: Floats  # (S,)
    made: Ints  # (1,) the count of changes that W was made at
    reward: Floats  # (1,) of the best step seen anywhere


@compiled
def act(agent: OptimisticTables, s: int, rng: np.random.Generator) -> int:
    """The best action with the unknown counted in, ties at random."""
    if agent.episode[EXPLORE] == 0:
        return act_exact(agent, s, rng)  # type: ignore[arg-type]
    if agent.greedy.made[s] != agent.greedy.changes[0]:
        if agent.made[0] != agent.greedy.changes[0]:
            reach_frontiers(agent.V, agent.edges, agent.reward[0], agent.W)
            agent.made[0] = agent.greedy.changes[0]
        g = agent.episode[GOAL]
        optimistic_rewards(agent.V, agent.edges, agent.W, agent.reward[0], s, g, agent.action_values)
        remember(agent.greedy, s, agent.action_values)
    return int(agent.greedy.best[s, int(fresh_digits(rng.random()) * agent.greedy.ties[s])])


@compiled
def observe(agent: OptimisticTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn as the exact agent does, and remember the best step."""
    verdict = observe_exact(agent, s, a, r, next_s, arrived)  # type: ignore[arg-type]
    if arrived or verdict != LEARNED:
        return verdict
    if agent.counts_steps[0] != 0:
        r = -1.0
    if see_reward(agent.reward, agent.edges, r):
        agent.greedy.changes[0] += 1
    return LEARNED


OPTIMISTIC = register_verbs(OptimisticTables, act, observe, action_values_exact)


class OptimisticFwrl(Fwrl):
    """The exact agent with the optimistic explorer."""

    scratch = (*Fwrl.scratch, "W", "made")

    def verbs_of_config(self) -> Verbs:
        """Its own."""
        return OPTIMISTIC

    def empty_tables(self) -> OptimisticTables:  # type: ignore[override]
        """No path known, nothing tried."""
        exact = super().empty_tables()
        assert isinstance(exact, ExactTables)
        return OptimisticTables(*exact, np.empty(self.n_states), np.array([-1]), np.zeros(1))
