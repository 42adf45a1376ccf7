"""Agents that back up the mean over observed outcomes: they keep counts, which are a model.

Transitions are counted, P(s' | s, a) = n(s, a, s') / n(s, a), and rewards averaged. The policy for the goal in use is
planned exactly: maximum arrival probability first, then expected reward (see `model.solver`), or, with `give_up`, the
expected reward where one may give up at that cost. It is updated after every step (see `model_updates`). `mbrl` and
FWRL with `backup="expected"` share this code.

The explorer is `epsilon-greedy`, the paper's, or `optimistic`: an outcome not yet seen counts as if it led straight to
the goal (see `model.optimism`), so the plan itself leads to frontiers, across the whole map. The field `plan` is then
the optimistic one; values are reported without optimism. On trips that repeat, actions are tried again now and then
(see `model.doubt`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import DEFAULT_STEPS, REMEDY, Agent, Config, no_episode
from fwrl.agents.model_updates import (
    EDGE,
    LATEST,
    VERBS,
    Latest,
    ModelTables,
    hides_positive_cycles,
    planned_table,
    planned_values,
    settled_for,
    take_back,
)
from fwrl.agents.options import check_choice, check_give_up
from fwrl.agents.sections import DOUBT, EDGES, TERMINATED, Sections, optimism_sections
from fwrl.agents.soundness import check_doubt, check_edges, check_marks, check_optimism
from fwrl.agents.verbs import SingleCall
from fwrl.errors import PositiveCycleError
from fwrl.kernels.graph.edges import NONE, no_edges
from fwrl.kernels.model.doubt import begin_trips, no_doubt
from fwrl.kernels.model.envelope import forget_waiting, no_envelope
from fwrl.kernels.model.greedy import empty_greedy
from fwrl.kernels.model.optimism import LEVELS, no_optimism, refresh
from fwrl.kernels.model.plan import STALE, Plan, no_plan
from fwrl.kernels.model.plan_updates import make_stale
from fwrl.kernels.model.planning import make_plan, solution_for
from fwrl.kernels.model.positive_means import PositiveMeanError
from fwrl.kernels.rate import STEPS, no_income

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Explorer = Literal["epsilon-greedy", "optimistic"]
PRIOR = 0.1  # probability, before any evidence, that a second try shows a new outcome
MOST_NAMED = 6  # actions of a positive cycle that an error names

single_settled_for = SingleCall("settled_for", settled_for)


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


class ModelAgent(Agent[ModelTables]):
    """Counts, and exact planning on them; its configuration names the explorer."""

    verbs = VERBS
    sections: ClassVar[Sections] = {**EDGES, **TERMINATED, **optimism_sections("plan.optimism"), **DOUBT}
    config: Any
    _asked: tuple[int, tuple[int, int, int], Plan] | None = None  # (goal, version, plan) of the latest query

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
            envelope=no_envelope(S, A),
            latest=Latest(np.zeros(3, np.int64), np.zeros(4), np.zeros(LEVELS)),
            largest=np.full(1, -np.inf),
            unchecked=np.zeros(1, np.int64),
            episode=no_episode(),
            greedy=empty_greedy(S, A),
            action_values=np.empty(A),
            counts_steps=np.array([int(steps)]),
            income=no_income(S, on=False),
        )

    def prepare(self, goal: int) -> None:
        """Plan for the goal."""
        self.tables.plan.rho[0] = self._rho(goal)
        self._forget_plan()
        self._make_plan(self.tables.plan, goal)

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode; without exploration there is neither epsilon nor optimism."""
        goal = self.checked_episode(goal, steps)
        optimism, same_goal = self.tables.plan.optimism, goal == self.goal
        before = optimism.on.copy(), optimism.unseen.copy()
        optimism.on[0] = int(self.optimistic and explore)
        refresh(optimism)
        try:
            super().begin_episode(goal, steps, explore=explore)
        except BaseException:
            optimism.on[:], optimism.unseen[:] = before
            self._forget_plan()
            raise
        begin_trips(self.tables.doubt, same_goal=same_goal)

    def act(self, state: int) -> int:
        """The action at `state`, after the changes on which it may depend are propagated."""
        self.settle(at=self._state(state))
        return super().act(state)

    def settle(self, *, before_acting: bool = True, at: int | None = None) -> None:
        """Propagate what is pending, as far as the next action needs it; make the plan anew where that takes longer.

        Before acting this is always done, otherwise only to detect a positive cycle.
        """
        tables = self.tables
        if self.goal is None or not (before_acting or tables.largest[0] > 0.0):
            return
        single_settled_for.of(self.verbs, self.n_states)(tables, NONE if at is None else at)
        try:
            if tables.plan.size[STALE]:
                self._solve(tables.plan, self.goal)
            elif tables.unchecked[0]:
                self._check_cycles(self.goal)
        except PositiveMeanError as found:
            raise self._refuse_latest(self.goal, found.pairs) from None
        finally:
            tables.unchecked[0] = 0

    def mark_terminated(self, state: int) -> bool:
        """From a terminated state no goal is reached, unless it is the goal."""
        news = not self.tables.terminated[state]
        if news:
            self._set_terminated(state, 1)
        return news

    def unmark_terminated(self, state: int) -> None:
        """The environment goes on at the state, as before."""
        self._set_terminated(state, 0)

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
        self._find_largest()
        if self.goal is not None:
            self._make_plan(tables.plan, self.goal)

    def _plan(self, goal: int) -> Plan:
        """The plan for any goal, without optimism: the one in use, or one made for this query."""
        goal, tables = self._state(goal, "goal"), self.tables
        if goal == self.goal and not tables.plan.optimism.on[0]:
            self.settle()
            return tables.plan
        version = self.n_states, int(tables.greedy.changes[0]), int(tables.income.sums[STEPS])
        if self._asked is None or self._asked[:2] != (goal, version):
            rho = float(tables.plan.rho[0]) if goal == self.goal else self._rho(goal)
            plan = no_plan(self.n_states, penalty=self.give_up, rho=rho)
            self._make_plan(plan, goal)
            self._asked = goal, version, plan
        return self._asked[2]

    def _rho(self, goal: int) -> float:
        """What a step on the way to `goal` costs beside its reward: nothing, unless the objective is a rate."""
        return 0.0

    def _find_largest(self) -> None:
        """Find the largest r - rho."""
        edges, rho = self.tables.edges, self.tables.plan.rho[0]
        self.tables.largest[0] = np.max(edges.best[: edges.used[0]], initial=-np.inf) - rho

    def _set_terminated(self, state: int, mark: int) -> None:
        self.tables.terminated[state] = mark
        self._forget_plan()
        self.tables.greedy.changes[0] += 1

    def _forget_plan(self) -> None:
        forget_waiting(self.tables.envelope)
        make_stale(self.tables.plan)

    def _make_plan(self, plan: Plan, goal: int) -> None:
        """Make `plan` the plan for `goal`, which is refused where the counted outcomes have a positive cycle."""
        try:
            self._solve(plan, goal)
        except PositiveMeanError as found:
            raise _unbounded(goal, found.pairs, self.n_actions) from None

    def _solve(self, plan: Plan, goal: int) -> None:
        """Make `plan` the plan for `goal`; `PositiveMeanError` names the actions of a positive cycle."""
        if plan is self.tables.plan and hides_positive_cycles(self.tables):
            self._check_cycles(goal)
        make_plan(self.tables.edges, plan, self.tables.terminated, goal)
        self.tables.greedy.changes[0] += plan is self.tables.plan

    def _check_cycles(self, goal: int) -> None:
        """Raise `PositiveMeanError` where the counted outcomes, without optimism, have a positive cycle."""
        solution_for(self.tables.edges, no_optimism(), self.give_up, self.tables.terminated, goal)

    def _refuse_latest(self, goal: int, cycle: NDArray[np.integer]) -> PositiveCycleError:
        """Take back the latest observation, for which the pairs `cycle` are a positive cycle; the error to raise."""
        tables = self.tables
        e = int(tables.latest.counts[EDGE])
        pair, next_state, reward = int(tables.edges.pair[e]), int(tables.edges.target[e]), tables.latest.rewards[LATEST]
        take_back(tables)
        self._find_largest()
        self._forget_plan()
        tables.greedy.changes[0] += 1
        does = "close a positive cycle" if pair in cycle else f"lead from a positive cycle to the goal {goal}"
        return PositiveCycleError(
            f"going from state {pair // self.n_actions} by action {pair % self.n_actions} to {next_state} for "
            f"{reward:g} would {does}: {_named(cycle, self.n_actions)}; {REMEDY}"
        )


def _named(pairs: NDArray[np.integer], n_actions: int) -> str:
    """Actions and their states, the first few of them."""
    named = [f"action {pair % n_actions} at state {pair // n_actions}" for pair in pairs[:MOST_NAMED].tolist()]
    return ", ".join(named) + " and more" * (len(pairs) > MOST_NAMED)


def _unbounded(goal: int, pairs: NDArray[np.integer], n_actions: int) -> PositiveCycleError:
    cycle = _named(pairs, n_actions)
    return PositiveCycleError(f"on the way to {goal} the observed steps have a positive cycle: {cycle}; {REMEDY}")
