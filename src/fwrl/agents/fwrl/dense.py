"""FWRL with `relaxation="exact"` and `storage="dense"`: V(s, g) for every pair of states, S x S numbers.

After every step V is the fixed point of the triangle inequality (see `kernels.closure`), and

    F(s, a, g) = max over observed (s, a, s') of best reward(s, a, s') + V(s', g)
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, cast

import numpy as np

from fwrl.agents.fwrl.all_pairs import FwrlAgent
from fwrl.agents.fwrl.per_goal import PerGoalFwrl
from fwrl.agents.loops import LEARNED, POSITIVE_CYCLE, register_verbs
from fwrl.agents.validation import check_table_size
from fwrl.arrays import ActionScratch, Count, Field, Floats, StateMarks
from fwrl.kernels.closure import ClosureScratch, close_over, path_rewards
from fwrl.kernels.edges import EDGES as EDGE_COUNT
from fwrl.kernels.edges import (
    NONE,
    Edges,
    add_edge,
    find_edge,
    see_edge,
)
from fwrl.kernels.exploration import GOAL, Episode, Greedy, cache_greedy, epsilon_greedy_from
from fwrl.kernels.jit import inner
from fwrl.kernels.mdp.answers import best_outcomes
from fwrl.kernels.shortest_paths import ShortestPaths
from fwrl.kernels.ties import LEAST_GAIN, improves


class DenseTables(NamedTuple):
    """V and the edges; F follows from them."""

    V: Annotated[Floats, Field("S S", fill=-np.inf)]  # goal-major
    edges: Edges
    terminated: StateMarks  # 1 if an environment was seen to end there
    episode: Episode
    scratch: ClosureScratch
    greedy: Greedy
    action_values: ActionScratch
    counts_steps: Count  # 1 if every step counts as -1


@inner
def act(agent: DenseTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on F(s, ., g)."""
    if agent.greedy.made[s] != agent.greedy.changes[0]:
        path_rewards(agent.V[agent.episode[GOAL]], agent.edges, agent.terminated, s, agent.action_values)
        cache_greedy(agent.greedy, s, agent.action_values)
    return epsilon_greedy_from(agent.greedy, s, agent.episode, rng)


@inner
def observe(agent: DenseTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Enforce F(s, a, s') >= r and the triangle inequality everywhere."""
    if arrived:
        return LEARNED
    if agent.counts_steps[0] != 0:
        r = -1.0
    pair = s * len(agent.action_values) + a
    e = find_edge(agent.edges, pair, next_s)
    ended = agent.terminated[s] != 0
    if e != NONE and r <= agent.edges.best[e]:
        see_edge(agent.edges, e, r)
        return LEARNED
    if r + agent.V[s, next_s] > LEAST_GAIN and not ended:
        return POSITIVE_CYCLE
    if e == NONE:
        e = add_edge(agent.edges, pair, next_s)
    see_edge(agent.edges, e, r)
    agent.greedy.changes[0] += 1
    if improves(r, agent.V[next_s, s]) and not ended:
        close_over(agent.V, agent.edges, agent.terminated, agent.scratch, s, r, next_s)
    return LEARNED


@inner
def action_values(agent: DenseTables, s: int, g: int, values: Floats) -> None:
    """F(s, ., g)."""
    path_rewards(agent.V[g], agent.edges, agent.terminated, s, values)


class DenseFwrl(FwrlAgent[DenseTables]):
    """The paper's agent with the inequality enforced after every step."""

    verbs = register_verbs(DenseTables, act, observe, action_values)

    def empty_tables(self) -> DenseTables:
        """No known paths."""
        S = self.n_states
        what = f"{S:,} states with relaxation='exact'"
        check_table_size(8 * S * S, what, "use storage='columns', or a smaller world")
        tables = super().empty_tables()
        np.fill_diagonal(tables.V, 0.0)
        tables.counts_steps[0] = self.value_kind == "steps"
        return tables

    def grow(self, n_states: int) -> None:
        """Make room for more states; beyond the limit of storage="auto" for dense, switch to columns."""
        if self.config.storage_for(n_states) == "dense":
            super().grow(n_states)
            return
        edges, used = self.tables.edges, int(self.tables.edges.used[EDGE_COUNT])
        states, actions = np.divmod(edges.pair[:used], self.n_actions)
        grown = PerGoalFwrl(n_states, self.n_actions, config=self.config)
        grown.observe_many(states, actions, edges.best[:used], edges.target[:used])
        grown.tables.terminated[: self.n_states] = self.tables.terminated
        grown.tables.episode[:] = self.tables.episode
        # This very object switches to columns, because `learn` grows an agent that its caller holds.
        changed = cast(PerGoalFwrl, self)
        changed.__class__, changed.n_states, changed.tables = PerGoalFwrl, grown.n_states, grown.tables

    def values(self, goal: int) -> Floats:
        """(S,) V(., g)."""
        column: Floats = self.tables.V[self._state(goal, "goal")].copy()
        return column

    def _set_terminated(self, state: int, mark: int) -> None:
        """Set the mark, and recompute V if a path goes through the state."""
        tables, A = self.tables, self.n_actions
        tables.terminated[state] = mark
        tables.greedy.changes[0] += 1
        if (tables.edges.leaving[state * A : (state + 1) * A] != NONE).any():
            paths = ShortestPaths(best_outcomes(tables.edges, tables.terminated, state, 0.0)[0])
            for goal in range(self.n_states):
                paths.column(goal, out=tables.V[goal])
