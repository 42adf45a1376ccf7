"""Agents that back up the mean over observed outcomes: they keep counts, which are a model.

Transitions are counted, P(s' | s, a) = n(s, a, s') / n(s, a), and rewards averaged. The policy for the goal in use is
planned exactly: maximum arrival probability first, then expected reward (see `model.policy_iteration`). It is updated
after every step. `mbrl` and FWRL with `backup="expected"` share this code.

The explorer is `epsilon-greedy`, the paper's, or `optimistic`: an outcome not yet seen counts as if it led straight to
the goal (see `model.optimism`), so the plan itself leads to frontiers, across the whole map. The field `plan` is then
the optimistic one; values are reported without optimism.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import DEFAULT_STEPS, Agent, Config, no_episode
from fwrl.agents.options import check_choice
from fwrl.agents.sections import EDGES, Sections, optimism_sections
from fwrl.agents.soundness import check_edges, check_plan
from fwrl.agents.verbs import LEARNED, POSITIVE_CYCLE, register_verbs
from fwrl.errors import PositiveCycleError
from fwrl.kernels.exploration import EXPLORE, GOAL, epsilon_greedy_from
from fwrl.kernels.graph.edges import (
    NONE,
    Edges,
    add_edge,
    drop_newest_edge,
    find_edge,
    no_edges,
    see_edge,
    tries_of,
)
from fwrl.kernels.model.greedy import Greedy, cache_greedy, empty_greedy
from fwrl.kernels.model.optimism import count_try, level_of, refresh, see_reward, uncount_try
from fwrl.kernels.model.plan import Plan, no_plan
from fwrl.kernels.model.policy_iteration import outcome_of, plan_for, update_plan
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits
from fwrl.kernels.runtime.ties import improves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Explorer = Literal["epsilon-greedy", "optimistic"]
PRIOR = 0.1  # probability, before any evidence, that a second try shows a new outcome


@dataclass(frozen=True)
class ModelConfig(Config):
    """Options of a model-based agent.

    Attributes:
        explorer: "epsilon-greedy", or "optimistic", without epsilon.
    """

    explorer: Explorer = "epsilon-greedy"

    def __post_init__(self) -> None:
        check_choice("explorer", self.explorer, get_args(Explorer))


class ModelTables(NamedTuple):
    """Counts, and the plan for the goal in use."""

    edges: Edges
    plan: Plan
    episode: Ints
    greedy: Greedy
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step counts as -1


@compiled
def planned_values(edges: Edges, plan: Plan, s: int, values: Floats) -> None:
    """v(s, .) of the actions with the largest arrival probability, -inf for the others."""
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
    """Greedy on the plan; epsilon-greedy unless the plan is optimistic."""
    if agent.greedy.made[s] != agent.greedy.changes[0]:
        planned_values(agent.edges, agent.plan, s, agent.action_values)
        cache_greedy(agent.greedy, s, agent.action_values)
    if agent.plan.optimism.on[0] != 0:
        return int(agent.greedy.best[s, int(fresh_digits(rng.random()) * agent.greedy.ties[s])])
    return epsilon_greedy_from(agent.greedy, s, agent.episode, rng)


@compiled
def observe(agent: ModelTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step; if that changes the model, update the plan."""
    if arrived:
        return LEARNED
    if agent.counts_steps[0] != 0:
        r = -1.0
    edges, plan, g = agent.edges, agent.plan, agent.episode[GOAL]
    pair = s * len(agent.action_values) + a
    n = tries_of(edges, pair)
    e = find_edge(edges, pair, next_s)
    new = e == NONE
    due = count_try(plan.optimism, n, new)
    if new:
        e = add_edge(edges, pair, next_s)
    elif not due and certain(edges, pair, e, r) and level_of(n + 1) == level_of(n):
        see_edge(edges, e, r)
        return LEARNED
    times, total, best = edges.times[e], edges.total[e], edges.best[e]
    see_edge(edges, e, r)
    agent.greedy.changes[0] += 1
    reward_before = plan.optimism.reward[0]
    due = see_reward(plan.optimism.reward, edges, r) or due
    if g < 0:
        return LEARNED
    if plan.optimism.on[0] != 0 and due:
        refresh(plan.optimism)
        settled = plan_for(edges, plan, g)
    else:
        settled = update_plan(edges, plan, s, a, g)
    if settled:
        return LEARNED
    edges.times[e], edges.total[e], edges.best[e] = times, total, best
    plan.optimism.reward[0] = reward_before
    uncount_try(plan.optimism, n, new)
    if new:
        drop_newest_edge(edges)
    plan_for(edges, plan, g)
    return POSITIVE_CYCLE


@compiled
def certain(edges: Edges, pair: int, e: int, r: float) -> bool:
    """Whether `e` is the only outcome of `pair`, and `r` its reward every time."""
    if edges.leaving[pair] != e or edges.next_leaving[e] != NONE:
        return False
    mean = edges.total[e] / edges.times[e]
    return not improves(r, mean) and not improves(mean, r)


@compiled
def action_values(agent: ModelTables, s: int, g: int, values: Floats) -> None:
    """The action values of the plan, which is for the goal in use."""
    planned_values(agent.edges, agent.plan, s, values)


class ModelAgent(Agent[ModelTables]):
    """Counts, and exact planning on them; its configuration names the explorer."""

    verbs = register_verbs(ModelTables, act, observe, action_values)
    sections: ClassVar[Sections] = {
        **EDGES,
        "plan/arrival": "plan.p",
        "plan/value": "plan.v",
        "plan/policy": "plan.pi",
        "plan/queue": "plan.queue",
        "plan/queued": "plan.queued",
        "plan/touched": "plan.touched",
        "plan/is-touched": "plan.is_touched",
        "plan/size": "plan.size",
        **optimism_sections("plan.optimism"),
    }
    config: Any

    @property
    def optimistic(self) -> bool:
        """Whether the explorer is the optimistic one."""
        return bool(self.config.explorer == "optimistic")

    def empty_tables(self) -> ModelTables:
        """Nothing observed."""
        S, A = self.n_states, self.n_actions
        return ModelTables(
            edges=no_edges(S, A),
            plan=no_plan(S, PRIOR),
            episode=no_episode(),
            greedy=empty_greedy(S, A),
            action_values=np.empty(A),
            counts_steps=np.array([int(self.value_kind == "steps")]),
        )

    def prepare(self, goal: int) -> None:
        """Plan for the goal."""
        plan = no_plan(self.n_states)._replace(optimism=self.tables.plan.optimism)
        plan.optimism.on[0] = int(self.optimistic)
        refresh(plan.optimism)
        if not plan_for(self.tables.edges, plan, goal):
            raise _unbounded(goal)
        self.tables = self.tables._replace(plan=plan)
        self.tables.greedy.changes[0] += 1

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode; without exploration there is neither epsilon nor optimism."""
        super().begin_episode(goal, steps, explore=explore)
        if self.optimistic and not self.tables.episode[EXPLORE]:
            self.tables.plan.optimism.on[0] = 0
            plan_for(self.tables.edges, self.tables.plan, goal)

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

    def arrivals(self, goal: int) -> Floats:
        """(S,) p(., g)."""
        return self._plan(goal).p.copy()

    def check_tables(self) -> None:
        """Check the edges, and that the plan may be one for the goal."""
        check_edges(self.tables.edges, self.n_states, self.n_actions)
        fresh = no_plan(self.n_states, PRIOR)
        refresh(fresh.optimism)
        if self.goal is not None:
            on = bool(len(self.tables.plan.optimism.on)) and bool(self.tables.plan.optimism.on[0]) and self.optimistic
            fresh.optimism.on[0] = int(on)
            if not plan_for(self.tables.edges, fresh, self.goal):
                raise _unbounded(self.goal)
        check_plan(self.tables.edges, self.tables.plan, fresh)

    def _plan(self, goal: int) -> Plan:
        """The plan for any goal, without optimism: the one in use, or one made for this query."""
        goal = self._state(goal, "goal")
        if goal == self.goal and self.tables.plan.optimism.on[0] == 0:
            return self.tables.plan
        plan = no_plan(self.n_states)
        if not plan_for(self.tables.edges, plan, goal):
            raise _unbounded(goal)
        return plan


def _unbounded(goal: int) -> PositiveCycleError:
    return PositiveCycleError(
        f"on the way to {goal} the observed steps have a positive cycle; check the sign of the rewards, and pass goal "
        "rewards with arrived=True"
    )
