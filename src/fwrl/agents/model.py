"""Agents that back up the mean over observed outcomes: they keep counts, which are a model.

Transitions are counted, P(s' | s, a) = n(s, a, s') / n(s, a), and rewards averaged. The policy for the goal in use is
planned exactly: maximum arrival probability first, then expected reward (see `model.solver`), or, with `give_up`, the
expected reward where one may give up at that cost. It is updated after every step (see `model.plan_updates`); where
that would take longer than a new plan, `observe` returns UNSETTLED and `settle` makes one. `mbrl` and FWRL with
`backup="expected"` share this code.

The explorer is `epsilon-greedy`, the paper's, or `optimistic`: an outcome not yet seen counts as if it led straight to
the goal (see `model.optimism`), so the plan itself leads to frontiers, across the whole map. The field `plan` is then
the optimistic one; values are reported without optimism. On trips that repeat, actions are tried again now and then
(see `model.doubt`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import DEFAULT_STEPS, Agent, Config, no_episode, positive_cycle
from fwrl.agents.options import check_choice, check_give_up
from fwrl.agents.sections import DOUBT, EDGES, TERMINATED, Sections, optimism_sections
from fwrl.agents.soundness import check_doubt, check_edges, check_marks, check_optimism
from fwrl.agents.verbs import LEARNED, UNSETTLED, register_verbs
from fwrl.errors import PositiveCycleError
from fwrl.kernels.exploration import GOAL, epsilon_greedy_from
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
from fwrl.kernels.model.dependence import Dependence, has_pending, no_dependence
from fwrl.kernels.model.doubt import Doubt, begin_trips, end_trip, left_to_lose, no_doubt, repeats, try_again
from fwrl.kernels.model.greedy import Greedy, cache_greedy, empty_greedy
from fwrl.kernels.model.optimism import count_try, level_of, no_optimism, refresh, see_reward, uncount_try
from fwrl.kernels.model.plan import STALE, Plan, no_plan
from fwrl.kernels.model.plan_equations import outcome_of
from fwrl.kernels.model.plan_updates import iterate, make_stale, settle_for, update_plan
from fwrl.kernels.model.planning import make_plan, solution_for
from fwrl.kernels.model.positive_means import PositiveMeanError
from fwrl.kernels.rate import STEPS, Income, count_step, no_income
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits
from fwrl.kernels.runtime.ties import improves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Marks = NDArray[np.int8]

Explorer = Literal["epsilon-greedy", "optimistic"]
PRIOR = 0.1  # probability, before any evidence, that a second try shows a new outcome
EDGE, NEW, TRIES = 0, 1, 2  # of `Latest.counts`
TOTAL, BEST, LATEST, OPTIMISTIC = 0, 1, 2, 3  # of `Latest.rewards`
MOST_NAMED = 6  # actions of a positive cycle that an error names


@dataclass(frozen=True)
class ModelConfig(Config):
    """Options of a model-based agent.

    Attributes:
        explorer: "epsilon-greedy", or "optimistic", without epsilon.
        give_up: the cost of giving up, which is then allowed at any state; None to put arriving first.
    """

    explorer: Explorer = "epsilon-greedy"
    give_up: float | None = None

    def __post_init__(self) -> None:
        check_choice("explorer", self.explorer, get_args(Explorer))
        check_give_up(self.give_up)


class Latest(NamedTuple):
    """The latest observation that changed the model, and what it changed, so that it can be taken back."""

    counts: Ints  # (3,) the edge at EDGE, 1 at NEW if it was added, earlier tries of its pair at TRIES
    rewards: Floats  # (4,) of the edge before at TOTAL and BEST, its own at LATEST, of an unseen outcome at OPTIMISTIC


class ModelTables(NamedTuple):
    """Counts, and the plan for the goal in use."""

    edges: Edges
    terminated: Marks  # (S,) 1 where an environment was seen to end
    plan: Plan
    doubt: Doubt
    dependence: Dependence
    latest: Latest
    positive: Ints  # (1,) 1 once a reward was above rho
    episode: Ints
    greedy: Greedy
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step counts as -1
    income: Income


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
    """Greedy on the plan; epsilon-greedy unless the plan is optimistic, with a doubted action now and then if it is."""
    if agent.greedy.made[s] != agent.greedy.changes[0]:
        planned_values(agent.edges, agent.plan, s, agent.action_values)
        cache_greedy(agent.greedy, s, agent.action_values)
    if agent.plan.optimism.on[0] == 0:
        return epsilon_greedy_from(agent.greedy, s, agent.episode, rng)
    u = fresh_digits(rng.random())
    a = doubted_action(agent, s)
    return a if a != NONE else int(agent.greedy.best[s, int(u * agent.greedy.ties[s])])


@compiled
def doubted_action(agent: ModelTables, s: int) -> int:
    """An action that is worth another try on a trip that repeats; NONE mostly."""
    left = left_to_lose(agent.doubt, s, agent.plan.v, len(agent.action_values))
    if left <= 0.0 or s == agent.episode[GOAL]:
        return NONE
    planned_values(agent.edges, agent.plan, s, agent.action_values)
    promise = agent.plan.optimism.reward[0] - agent.plan.rho[0]
    return try_again(agent.doubt, agent.edges, s, agent.action_values, promise, left)


@compiled
def observe(agent: ModelTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step; if that changes the model, update the plan as far as the best actions at `next_s` need it."""
    if agent.income.on[0] != 0:
        count_step(agent.income, s, r, arrived)
    if arrived:
        end_trip(agent.doubt)
        return _settled_for(agent, next_s)
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
        return _settled_for(agent, next_s)
    latest = agent.latest
    latest.counts[EDGE], latest.counts[NEW], latest.counts[TRIES] = e, new, n
    latest.rewards[TOTAL], latest.rewards[BEST], latest.rewards[LATEST] = edges.total[e], edges.best[e], r
    latest.rewards[OPTIMISTIC] = plan.optimism.reward[0]
    see_edge(edges, e, r)
    agent.greedy.changes[0] += 1
    due = see_reward(plan.optimism.reward, r) or due
    if r > plan.rho[0]:
        agent.positive[0] = 1
    if g < 0:
        return LEARNED
    settled = plan.size[STALE] == 0
    if plan.optimism.on[0] != 0 and due:
        refresh(plan.optimism)
        make_stale(plan)
    may_wait = agent.positive[0] == 0 and not _doubts(agent, next_s)
    if update_plan(edges, plan, agent.dependence, agent.terminated, s, a, next_s, new, g, may_wait):
        return LEARNED
    return UNSETTLED if settled or agent.positive[0] != 0 else LEARNED


@compiled
def _settled_for(agent: ModelTables, s: int) -> int:
    """Propagate pending changes as far as the action at s needs it: all where another than the best may be tried."""
    edges, plan, g = agent.edges, agent.plan, agent.episode[GOAL]
    if _doubts(agent, s):
        return LEARNED if not has_pending(plan) or iterate(edges, plan, g) else UNSETTLED
    return LEARNED if settle_for(edges, plan, agent.dependence, s, g) else UNSETTLED


@compiled
def _doubts(agent: ModelTables, s: int) -> bool:
    """Whether an action at s may be one that is tried again."""
    return agent.plan.optimism.on[0] != 0 and repeats(agent.doubt, s)


@compiled
def take_back(agent: ModelTables) -> None:
    """Undo the latest observation."""
    edges, latest = agent.edges, agent.latest
    e, new = latest.counts[EDGE], latest.counts[NEW] != 0
    edges.times[e] -= 1
    edges.total[e] = latest.rewards[TOTAL]
    edges.best[e] = latest.rewards[BEST]
    agent.plan.optimism.reward[0] = latest.rewards[OPTIMISTIC]
    uncount_try(agent.plan.optimism, latest.counts[TRIES], new)
    if new:
        drop_newest_edge(edges)


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
    sections: ClassVar[Sections] = {**EDGES, **TERMINATED, **optimism_sections("plan.optimism"), **DOUBT}
    config: Any
    _asked: tuple[int, tuple[int, int], Plan] | None = None  # (goal, version, plan) of the latest query

    @property
    def optimistic(self) -> bool:
        """Whether the explorer is the optimistic one."""
        return bool(self.config.explorer == "optimistic")

    @property
    def give_up(self) -> float:
        """The cost of giving up, inf where arriving comes first."""
        return float(np.inf if self.config.give_up is None else self.config.give_up)

    def empty_tables(self) -> ModelTables:
        """Nothing observed."""
        S, A, steps = self.n_states, self.n_actions, self.value_kind == "steps"
        return ModelTables(
            edges=no_edges(S, A),
            terminated=np.zeros(S, np.int8),
            plan=no_plan(S, no_optimism(PRIOR, counts_steps=steps), self.give_up),
            doubt=no_doubt(S if self.optimistic else 0),
            dependence=no_dependence(S),
            latest=Latest(np.zeros(3, np.int64), np.zeros(4)),
            positive=np.zeros(1, np.int64),
            episode=no_episode(),
            greedy=empty_greedy(S, A),
            action_values=np.empty(A),
            counts_steps=np.array([int(steps)]),
            income=no_income(S, on=False),
        )

    def prepare(self, goal: int) -> None:
        """Plan for the goal."""
        self.tables.plan.rho[0] = self._rho(goal)
        make_stale(self.tables.plan)
        self._make_plan(self.tables.plan, goal)

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode; without exploration there is neither epsilon nor optimism."""
        optimism = self.tables.plan.optimism
        optimism.on[0] = int(self.optimistic and explore)
        refresh(optimism)
        same_goal = goal == self.goal
        super().begin_episode(goal, steps, explore=explore)
        begin_trips(self.tables.doubt, same_goal=same_goal)

    def act(self, state: int) -> int:
        """The action at `state`, after the changes on which it may depend are propagated."""
        if self.goal is not None and _settled_for(self.tables, self._state(state)) == UNSETTLED:
            self.settle()
        return super().act(state)

    def settle(self, *, before_acting: bool = True) -> None:
        """Propagate what is pending; make the plan anew where that would take longer.

        Before acting this is always done, otherwise only to detect a positive cycle.
        """
        tables = self.tables
        if self.goal is None or not (before_acting or tables.positive[0]):
            return
        if has_pending(tables.plan):
            iterate(tables.edges, tables.plan, self.goal)
        if not tables.plan.size[STALE]:
            return
        try:
            self._make_plan(tables.plan, self.goal)
        except PositiveCycleError as error:
            e = int(tables.latest.counts[EDGE])
            state, action = divmod(int(tables.edges.pair[e]), self.n_actions)
            next_state, reward = int(tables.edges.target[e]), float(tables.latest.rewards[LATEST])
            take_back(tables)
            self.tables.greedy.changes[0] += 1
            raise positive_cycle(state, action, reward, next_state) from error

    def mark_terminated(self, states: Ints) -> None:
        """From terminated states no goal is reached, unless one of them is the goal."""
        terminated, plan = self.tables.terminated, self.tables.plan
        if not terminated[states].all():
            terminated[states] = 1
            make_stale(plan)
            self.tables.greedy.changes[0] += 1

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
        """v(s, g): expected path reward given arrival; -inf where the goal is never reached.

        With `give_up`, the expected reward in all, the cost of giving up included.
        """
        state = self._state(state)
        return float(self._plan(goal).v[state])

    def values(self, goal: int) -> Floats:
        """(S,) v(., g)."""
        return self._plan(goal).v.copy()

    def arrival(self, state: int, goal: int) -> float:
        """p(s, g): the probability of ever arriving."""
        return float(self.arrivals(goal)[self._state(state)])

    def arrivals(self, goal: int) -> Floats:
        """(S,) p(., g)."""
        if self.give_up == np.inf:
            return self._plan(goal).p.copy()
        goal = self._state(goal, "goal")
        return solution_for(self.tables.edges, no_optimism(), self.give_up, self.tables.terminated, goal).p

    def check_tables(self) -> None:
        """Check the counts, and plan for the goal if there is one."""
        tables = self.tables
        check_edges(tables.edges, self.n_states, self.n_actions)
        check_marks(tables.terminated, self.n_states)
        check_optimism(tables.plan.optimism)
        check_doubt(tables.doubt, self.n_states if self.optimistic else 0)
        used = int(tables.edges.used[0])
        tables.positive[0] = int(bool(np.any(tables.edges.best[:used] > tables.plan.rho[0])))
        if self.goal is not None:
            self._make_plan(tables.plan, self.goal)

    def _plan(self, goal: int) -> Plan:
        """The plan for any goal, without optimism: the one in use, or one made for this query."""
        goal, tables = self._state(goal, "goal"), self.tables
        if goal == self.goal and not tables.plan.optimism.on[0]:
            self.settle()
            return tables.plan
        version = int(tables.greedy.changes[0]), int(tables.income.sums[STEPS])
        if self._asked is None or self._asked[:2] != (goal, version):
            rho = float(tables.plan.rho[0]) if goal == self.goal else self._rho(goal)
            plan = no_plan(self.n_states, penalty=self.give_up, rho=rho)
            self._make_plan(plan, goal)
            self._asked = goal, version, plan
        return self._asked[2]

    def _rho(self, goal: int) -> float:
        """What a step on the way to `goal` costs beside its reward: nothing, unless the objective is a rate."""
        return 0.0

    def _make_plan(self, plan: Plan, goal: int) -> None:
        try:
            make_plan(self.tables.edges, plan, self.tables.terminated, goal)
        except PositiveMeanError as found:
            raise _unbounded(goal, found.pairs, self.n_actions) from None
        self.tables.greedy.changes[0] += plan is self.tables.plan


def _unbounded(goal: int, pairs: NDArray[np.integer], n_actions: int) -> PositiveCycleError:
    steps = ", ".join(f"action {pair % n_actions} at state {pair // n_actions}" for pair in pairs[:MOST_NAMED].tolist())
    return PositiveCycleError(
        f"on the way to {goal} the observed steps have a positive cycle: {steps}"
        f"{' and more' * (len(pairs) > MOST_NAMED)}; check the sign of the rewards, and pass goal rewards with "
        "arrived=True"
    )
