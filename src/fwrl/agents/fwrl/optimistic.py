"""FWRL with `explorer="optimistic"`: no epsilon; F itself leads to untried actions (see `graph.frontier`).

An action that was never tried counts as if it led to the goal in one step. That step is promised a reward of 0, or the
largest seen anywhere if that is more: as long as no step pays more than the promise, no action is promised less than
the truth. Where outcomes are certain, one try is enough, and the agent does not stop at a known path while a better one
may exist.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.fwrl.column_updates import Columns, Rate, process_pending
from fwrl.agents.fwrl.column_updates import act as act_greedily
from fwrl.agents.fwrl.column_updates import action_values as known_action_values
from fwrl.agents.fwrl.column_updates import observe as observe_step
from fwrl.agents.fwrl.columns import SparseFwrl
from fwrl.agents.sections import TERMINATED, Sections
from fwrl.agents.soundness import check_marks, check_promise
from fwrl.agents.verbs import LEARNED, UNSETTLED, register_verbs
from fwrl.kernels.exploration import EXPLORE, GOAL
from fwrl.kernels.graph.compact_edges import NONE, CompactEdges
from fwrl.kernels.graph.frontier import (
    Frontier,
    close_state,
    find_frontier,
    learn_edge,
    open_state,
    optimistic_rewards,
    try_action,
    whole_frontier,
)
from fwrl.kernels.graph.heap import OPEN, Heap
from fwrl.kernels.graph.shortest_paths import Buckets
from fwrl.kernels.model.optimism import first_promise, see_reward
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits
from fwrl.kernels.runtime.ties import pick_best

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Marks = NDArray[np.int8]


class OptimisticTables(NamedTuple):
    """The tables of `columns`, and the frontier."""

    edges: CompactEdges
    columns: Columns
    h: Floats  # (S,)
    positive: Ints  # (1,)
    cheapest: Floats  # (1,)
    episode: Ints
    heap: Heap
    pending: Ints  # (1,)
    scratch: Buckets
    ahead: Heap
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,)
    rate: Rate
    frontier: Frontier
    terminated: Marks  # (S,) 1 where an environment was seen to end
    promise: Floats  # (1,) reward of an untried action


@compiled
def act(agent: OptimisticTables, s: int, rng: np.random.Generator) -> int:
    """The best action with untried actions counted in, ties at random."""
    if agent.episode[EXPLORE] == 0:
        return act_greedily(agent, s, rng)
    frontier, promise = agent.frontier, agent.promise[0] - agent.rate.rho[0]
    if agent.heap.size[OPEN] > 0:
        process_pending(agent, s, True, frontier.W[s] + promise)
    V = agent.columns.V[agent.columns.slot[agent.episode[GOAL]]]
    optimistic_rewards(V, frontier, agent.edges, promise, s, agent.action_values)
    return pick_best(agent.action_values, fresh_digits(rng.random()))


@compiled
def observe(agent: OptimisticTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn as without optimism, and update the frontier and the promise."""
    edges, changes = agent.edges, agent.edges.changes[0]
    first = edges.leaving[s * len(agent.action_values) + a] == NONE
    status = observe_step(agent, s, a, r, next_s, arrived)
    if edges.changes[0] == changes:
        return status
    if agent.counts_steps[0] != 0:
        r = -1.0
    see_reward(agent.promise, r)
    if status == UNSETTLED:
        return status
    positive = agent.positive[0] != 0
    learn_edge(agent.frontier, edges, agent.h, s, r - agent.rate.rho[0], next_s, positive)
    if first:
        try_action(agent.frontier, edges, agent.h, s, positive)
    return LEARNED


class OptimisticFwrl(SparseFwrl[OptimisticTables]):
    """The agent on columns with the optimistic explorer."""

    verbs = register_verbs(OptimisticTables, act, observe, known_action_values)
    sections: ClassVar[Sections] = {**SparseFwrl.sections, **TERMINATED, "optimism/reward": "promise"}

    def empty_tables(self) -> OptimisticTables:
        """No path known, nothing tried."""
        frontier, terminated = whole_frontier(self.n_states, self.n_actions), np.zeros(self.n_states, np.int8)
        columns = self.empty_columns()
        return OptimisticTables(*columns, frontier, terminated, first_promise(counts_steps=self.value_kind == "steps"))

    def mark_terminated(self, state: int) -> bool:
        """A terminated state holds no untried action."""
        tables = self.tables
        news = not tables.terminated[state]
        tables.terminated[state] = 1
        close_state(tables.frontier, tables.edges, tables.h, state, bool(tables.positive[0]))
        return news

    def unmark_terminated(self, state: int) -> None:
        """The untried actions of the state count again."""
        tables = self.tables
        tables.terminated[state] = 0
        open_state(tables.frontier, tables.edges, tables.h, state, bool(tables.positive[0]))

    def completed_tables(self, saved: OptimisticTables) -> OptimisticTables:
        """Check the edges, and compute everything that follows from them and the terminated states."""
        check_marks(saved.terminated, self.n_states)
        check_promise(saved.promise)
        return super().completed_tables(saved)

    def derive(self, tables: OptimisticTables) -> None:
        """The same, and the frontier."""
        super().derive(tables)
        find_frontier(tables.frontier, tables.edges, tables.h, tables.terminated, bool(tables.positive[0]))
