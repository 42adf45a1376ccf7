"""Model-based reinforcement learning: the paper's third baseline, with a planner that is free to turn.

Transitions are counted, T(s' | s, a) = n(s, a, s') / n(s, a), rewards averaged, and the path of maximum expected
reward to the goal is planned exactly: arriving first, reward second (see `kernels.arrival`). The plan is kept
current whenever the model changes. Rewards are averaged per outcome rather than per (s, a); the two differ only
where an outcome may miss the goal for good.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config, no_episode
from fwrl.agents.verbs import LEARNED, PROFITABLE, Verbs, declare
from fwrl.errors import PositiveCycleError
from fwrl.kernels.arrival import Plan, check_plan, no_plan, outcome_of, plan_for, reconsider
from fwrl.kernels.compiled import compiled
from fwrl.kernels.edges import (
    NONE,
    Edges,
    add_edge,
    check_edges,
    drop_newest_edge,
    find_edge,
    no_edges,
    see_edge,
)
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.ties import improves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ModelTables(NamedTuple):
    """Counts, and the plan for the goal in use."""

    edges: Edges
    plan: Plan
    clock: Ints
    action_values: Floats  # (A,)


@compiled
def planned_values(edges: Edges, plan: Plan, s: int, values: Floats) -> None:
    """v(s, .) of the actions that arrive with the best probability, -inf for the others."""
    A = len(values)
    best = 0.0
    for a in range(A):
        best = max(best, outcome_of(edges, plan, s * A + a)[0])
    for a in range(A):
        p, v = outcome_of(edges, plan, s * A + a)
        values[a] = -np.inf if improves(best, p) else v


@compiled
def planned_table(edges: Edges, plan: Plan, table: Floats) -> None:
    """The same for every state, into `table` (S, A)."""
    for s in range(len(table)):
        planned_values(edges, plan, s, table[s])


@compiled
def act(agent: ModelTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on the plan."""
    planned_values(agent.edges, agent.plan, s, agent.action_values)
    return epsilon_greedy(agent.action_values, agent.clock, rng)


@compiled
def observe(agent: ModelTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step; where that changes the model, bring the plan up to date."""
    if arrived:
        return LEARNED
    edges, g = agent.edges, agent.clock[GOAL]
    pair = s * len(agent.action_values) + a
    e = find_edge(edges, pair, next_s)
    new = e == NONE
    if new:
        e = add_edge(edges, pair, next_s)
    elif edges.leaving[pair] == e and edges.next_leaving[e] == NONE:
        mean = edges.total[e] / edges.times[e]
        if not improves(r, mean) and not improves(mean, r):
            see_edge(edges, e, r)  # the one outcome there is, for the reward it always had
            return LEARNED
    count, total, best = edges.times[e], edges.total[e], edges.best[e]
    see_edge(edges, e, r)
    if g < 0 or reconsider(edges, agent.plan, s, a, g):
        return LEARNED
    edges.times[e], edges.total[e], edges.best[e] = count, total, best
    if new:
        drop_newest_edge(edges)
    plan_for(edges, agent.plan, g)
    return PROFITABLE


@compiled
def action_values(agent: ModelTables, s: int, g: int, values: Floats) -> None:
    """The plan's values for the goal in use."""
    planned_values(agent.edges, agent.plan, s, values)


VERBS = declare(ModelTables, act, observe, action_values)


class ModelBased(Agent):
    """Counts, and exact planning on them."""

    name = "mbrl"
    description = "model-based RL: counts outcomes and plans exactly on them"
    Config = Config
    scratch = ("action_values",)

    def choose_verbs(self) -> Verbs:
        """One kind."""
        return VERBS

    def empty_tables(self) -> ModelTables:
        """Nothing seen."""
        S, A = self.n_states, self.n_actions
        return ModelTables(no_edges(S, A), no_plan(S), no_episode(), np.empty(A))

    def prepare(self, goal: int) -> None:
        """Plan for the goal."""
        self.tables = self.tables._replace(plan=self._plan_anew(goal))

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) expected path reward given arrival, -inf for actions less likely to arrive than the best."""
        state = self._state(state)
        values = np.empty(self.n_actions)
        planned_values(self.tables.edges, self._plan(goal), state, values)
        return values

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        table = np.empty((self.n_states, self.n_actions))
        planned_table(self.tables.edges, self._plan(goal), table)
        return table

    def value(self, state: int, goal: int) -> float:
        """v(s, g): expected path reward given arrival; -inf where the goal is never reached."""
        state = self._state(state)
        return float(self._plan(goal).v[state])

    def values(self, goal: int) -> Floats:
        """(S,) v(., g)."""
        return self._plan(goal).v.copy()

    def arrival(self, state: int, goal: int) -> float:
        """p(s, g): the probability of ever arriving."""
        state = self._state(state)
        return float(self._plan(goal).p[state])

    def check_tables(self) -> None:
        """Edge indices, and a plan that could be the one for the goal."""
        check_edges(self.tables.edges, self.n_states, self.n_actions)
        fresh = no_plan(self.n_states) if self.goal is None else self._plan_anew(self.goal)
        check_plan(self.tables.edges, self.tables.plan, fresh)

    def _plan(self, goal: int) -> Plan:
        """The plan for any goal: the one in use, or one made for the question."""
        goal = self._state(goal, "goal")
        if goal == self.goal:
            plan: Plan = self.tables.plan
            return plan
        return self._plan_anew(goal)

    def _plan_anew(self, goal: int) -> Plan:
        plan = no_plan(self.n_states)
        if not plan_for(self.tables.edges, plan, goal):
            raise PositiveCycleError(
                f"expected no cycle that gains reward, but on the way to {goal} what was observed has one; "
                "check the sign of the rewards, and pass goal rewards with arrived=True"
            )
        return plan
