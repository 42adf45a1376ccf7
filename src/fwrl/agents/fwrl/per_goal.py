"""Agents that keep every observed transition, and plan for one goal at a time.

While it learns, such an agent acts on a plan that every step updates (see `kernels.mdp.updates`). Reported values,
greedy actions, and episodes without exploration are exact.

With the backup "expected", transitions are counted, P(s' | s, a) = n(s, a, s') / n(s, a), and rewards averaged. The
best probability of arriving comes first, then the expected reward (see `kernels.mdp.solver`); or, with `give_up`, the
expected reward if giving up is allowed at that cost. With the paper's backup, "best", an action has the value of its
best outcome, and values are those of shortest paths (see `kernels.shortest_paths`). `mbrl` and FWRL share this code.

The explorer is `epsilon-greedy`, the paper's, or `optimistic`: the unseen outcome of a further try counts as the goal,
so the plan itself goes to untried actions anywhere on the map. On trips that repeat, the agent now and then retries
actions that failed (see `kernels.mdp.retries`).
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import REMEDY, Agent
from fwrl.agents.fwrl.options import DESCRIPTION, NAME, FwrlConfig
from fwrl.agents.loops import LEARNED, PENDING, register_verbs
from fwrl.agents.tables import copied
from fwrl.agents.validation import Transitions, checked_index
from fwrl.agents.value_function import ValueKind
from fwrl.arrays import ActionScratch, Field, Floats, Ints, Marks, StateMarks
from fwrl.errors import FileError, PositiveCycleError
from fwrl.kernels.edges import EDGES as EDGES_USED
from fwrl.kernels.edges import NONE, Edges, add_edge, drop_newest_edge, find_edge, see_edge, tries_of
from fwrl.kernels.exploration import DEFAULT_STEPS, GOAL, Episode, epsilon_greedy
from fwrl.kernels.heap import clear, push
from fwrl.kernels.jit import inner
from fwrl.kernels.mdp.answers import (
    Answer,
    answer_for,
    best_answer,
    best_column,
    check_best,
    check_stays,
    solution_for,
)
from fwrl.kernels.mdp.policy_iteration import PositiveMeanError
from fwrl.kernels.mdp.rate import LARGEST as LARGEST_RATE
from fwrl.kernels.mdp.rate import (
    ON,
    STEPS,
    TRIP_BEGINS,
    CycleError,
    Income,
    Trips,
    above,
    as_path_rewards,
    best_rate,
    best_trips,
    count_step,
    mean_of_best,
    mean_reward,
    shortest_trips,
)
from fwrl.kernels.mdp.retries import Retries, begin_trips, end_trip, left_to_lose, try_again
from fwrl.kernels.mdp.updates import (
    BEST,
    COSTLIEST,
    FLOOR,
    LARGEST,
    OPTIMISTIC,
    PROMISE,
    RHO,
    Plan,
    action_value,
    count_try,
    learn_step,
    plan_for,
)
from fwrl.kernels.rng import fresh_digits
from fwrl.kernels.ties import improves, pick_best

MOST_NAMED = 6  # actions of a positive cycle to name in an error

CHANGES, EXACT, UNCHECKED, COUNTS_STEPS = range(4)  # of `ModelTables.counts`
ONCE = np.int64(-1)  # no outcome of an action is left out


class ModelTables(NamedTuple):
    """All observed transitions, and the plan for the current goal."""

    edges: Edges
    terminated: StateMarks  # 1 if an environment was seen to end there
    plan: Plan
    retries: Retries
    income: Income
    episode: Episode
    # The actions of the exact policy, in an episode without exploration.
    best: Annotated[Marks, Field("S A", np.int8, least=0, most=1)]
    # CHANGES of the model; 1 while `best` is EXACT; 1 if steps are UNCHECKED for positive cycles; 1 if every step
    # counts as -1 (COUNTS_STEPS).
    counts: Annotated[Ints, Field("4", np.int64, least=0)]
    action_values: ActionScratch


@inner
def planned_values(agent: ModelTables, s: int, values: Floats) -> None:
    """Fill in Q(s, .) by the plan, exploration included."""
    A = len(values)
    for a in range(A):
        values[a] = action_value(agent.edges, agent.plan, agent.terminated, s * A + a, int(ONCE))


@inner
def act(agent: ModelTables, s: int, rng: np.random.Generator) -> int:
    """Take the plan's best action, with epsilon or a retry now and then; without exploration, the exact best."""
    values = agent.action_values
    if agent.counts[EXACT] != 0:
        for a in range(len(values)):
            values[a] = agent.best[s, a]
        return pick_best(values, fresh_digits(rng.random()))
    planned_values(agent, s, values)
    if agent.plan.counts[OPTIMISTIC] == 0:
        return epsilon_greedy(values, agent.episode, rng)
    u = fresh_digits(rng.random())
    left = left_to_lose(agent.retries, s, agent.plan.V, len(values)) if agent.plan.counts[BEST] == 0 else 0.0
    if left > 0.0 and s != agent.episode[GOAL]:
        promise = agent.plan.level[PROMISE] - agent.plan.level[RHO]
        a = try_again(agent.retries, agent.edges, s, values, promise, left)
        if a != NONE:
            return a
    return pick_best(values, u)


@inner
def observe(agent: ModelTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step and update the plan; PENDING if rewards are positive and may form a cycle."""
    if agent.income.flags[ON] != 0:
        count_step(agent.income, s, r, arrived)
    if arrived:
        end_trip(agent.retries)
        return LEARNED
    if agent.counts[COUNTS_STEPS] != 0:
        r = -1.0
    edges, plan, level, g = agent.edges, agent.plan, agent.plan.level, agent.episode[GOAL]
    pair = s * len(agent.action_values) + a
    n, e = tries_of(edges, pair), find_edge(edges, pair, next_s)
    new, best = e == NONE, plan.counts[BEST] != 0
    if new:
        e = add_edge(edges, pair, next_s)
        same = False
    else:
        same = r <= edges.best[e] if best else certain(edges, pair, e, r)
    see_edge(edges, e, r)
    level[PROMISE] = max(level[PROMISE], r)
    level[COSTLIEST] = max(level[COSTLIEST], level[RHO] - r)
    level[LARGEST] = max(level[LARGEST], r - level[RHO])
    count_try(edges, plan, pair, r, next_s, n, new)
    if not same:
        agent.counts[CHANGES] += 1
        agent.counts[EXACT] = 0
        if level[LARGEST] > 0.0:
            agent.counts[UNCHECKED] = 1
            return PENDING
    if g >= 0 and not (best and same):
        learn_step(edges, plan, agent.terminated, s, g)
    return LEARNED


@inner
def certain(edges: Edges, pair: int, e: int, r: float) -> bool:
    """Whether `e` is the only outcome of `pair`, always with reward `r`."""
    if edges.leaving[pair] != e or edges.next_leaving[e] != NONE:
        return False
    mean = edges.total[e] / edges.times[e]
    return not improves(r, mean) and not improves(mean, r)


@inner
def action_values(agent: ModelTables, s: int, g: int, values: Floats) -> None:
    """Fill in Q(s, .) by the plan, for loops that only need the current goal; the agent's method asks the solver."""
    planned_values(agent, s, values)


VERBS = register_verbs(ModelTables, act, observe, action_values)


class ModelAgent(Agent[ModelTables]):
    """Transitions, a plan that's kept current, and exact answers; its configuration names the explorer."""

    verbs = VERBS
    config: Any
    _asked: tuple[tuple[int, int, int, int, float], Answer] | None = None  # of the latest query

    @property
    def optimistic(self) -> bool:
        """Whether the explorer is the optimistic one."""
        return bool(self.config.explorer == "optimistic")

    @property
    def best_outcomes(self) -> bool:
        """Whether an action has the value of its best outcome, as in the paper, rather than their mean."""
        return False

    @property
    def give_up(self) -> float:
        """The cost of giving up; inf if arriving comes first."""
        return float(np.inf if self.config.give_up is None else self.config.give_up)

    def sizes(self) -> dict[str, int]:
        """Add D, states with counted trips (one try of a best outcome is enough), and I, those of incomes."""
        return super().sizes() | {"D": self.n_states if self.optimistic and not self.best_outcomes else 0, "I": 0}

    def empty_tables(self) -> ModelTables:
        """Nothing observed."""
        tables = super().empty_tables()
        steps = self.value_kind == "steps"
        tables.plan.level[PROMISE], tables.plan.level[FLOOR] = -1.0 if steps else 0.0, -self.give_up
        tables.plan.counts[BEST], tables.counts[COUNTS_STEPS] = self.best_outcomes, steps
        return tables

    def prepare(self, goal: int) -> None:
        """Plan for the goal."""
        level, rho = self.tables.plan.level, self._rho(goal)
        if rho != level[RHO]:
            level[RHO] = rho
            self._find_extremes()
        self._replan(goal)

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode; without exploration there's no epsilon and no optimism, and the plan is exact."""
        goal = self.checked_episode(goal, steps)
        tables, same_goal = self.tables, goal == self.goal
        before = tables.plan.V.copy(), tables.plan.level.copy(), tables.plan.counts.copy(), tables.counts.copy()
        tables.plan.counts[OPTIMISTIC] = int(self.optimistic and explore)
        try:
            super().begin_episode(goal, steps, explore=explore)
            tables.counts[EXACT] = 0
            if not explore:
                self._follow_exactly(goal)
        except BaseException:
            tables.plan.V[:], tables.plan.level[:], tables.plan.counts[:], tables.counts[:] = before
            clear(tables.plan.stale)
            raise
        begin_trips(tables.retries, same_goal=same_goal)

    def observe(
        self,
        state: int,
        action: int,
        reward: float,
        next_state: int,
        arrived: bool = False,
        terminated: bool = False,
    ) -> None:
        """Learn from one step; see `Agent.observe`."""
        state, next_state = self._state(state), self._state(next_state)
        action = checked_index(action, self.n_actions, "an action")
        before = self._before(state * self.n_actions + action, next_state) if self._may_gain(reward) else None
        try:
            super().observe(state, action, reward, next_state, arrived, terminated)
        except PositiveMeanError as found:
            if before is not None:
                self._take_back(before)
            closes = state * self.n_actions + action in found.pairs
            raise PositiveCycleError(
                f"going from state {state} by action {action} to {next_state} for {reward:g} would "
                f"{'close a positive cycle' if closes else f'go from a positive cycle to the goal {self.goal}'}: "
                f"{self._named(found.pairs)}; {REMEDY}"
            ) from None

    def flush(self, *, before_acting: bool = True) -> None:
        """Refuse positive cycles and replan, if there are positive rewards."""
        if self.tables.counts[UNCHECKED]:
            self._check_cycles(self.goal)
            if before_acting:
                self.tables.counts[UNCHECKED] = 0
                if self.goal is not None:
                    self._replan(self.goal)

    def mark_terminated(self, state: int) -> bool:
        """Let no goal be reached from a terminated state, unless it's the goal itself."""
        news = not self.tables.terminated[state]
        if news:
            self._set_terminated(state, 1)
        return news

    def unmark_terminated(self, state: int) -> None:
        """Let the environment continue at the state again."""
        self._set_terminated(state, 0)

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) expected path reward given arrival; -inf for actions less likely to arrive than the best."""
        found: Floats = self._answer(goal).values[self._state(state)].copy()
        return found

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        return self._answer(goal).values.copy()

    def value(self, state: int, goal: int) -> float:
        """v(s, g): expected path reward given arrival; -inf if the goal is never reached.

        With `give_up`, the total expected reward, including the cost of giving up.
        """
        return float(self._answer(goal).v[self._state(state)])

    def values(self, goal: int) -> Floats:
        """(S,) v(., g)."""
        return self._answer(goal).v.copy()

    def arrivals(self, goal: int) -> Floats:
        """(S,) p(., g): the probability of ever arriving."""
        return self._answer(goal).p.copy()

    def best_actions(self, goal: int) -> NDArray[np.bool_]:
        """(S, A) the best actions that get closer to the goal; all actions if it can't be reached."""
        return self._answer(goal).best.copy()

    def _best(self, state: int, goal: int) -> NDArray[np.bool_]:
        best: NDArray[np.bool_] = self._answer(goal).best[self._state(state)]
        return best

    def grow(self, n_states: int) -> None:
        """Make room for more states with untried actions."""
        before = self.n_states
        super().grow(n_states)
        if self.tables.plan.counts[OPTIMISTIC]:
            self.tables.plan.V[before:] = self.tables.plan.level[PROMISE] - self.tables.plan.level[RHO]

    def check_tables(self) -> None:
        """Check also that the plan fits the options, and that there's no positive cycle."""
        super().check_tables()
        tables, level = self.tables, self.tables.plan.level
        flags = tables.plan.counts[BEST], tables.counts[COUNTS_STEPS], tables.income.flags[ON], level[FLOOR]
        expected = self.best_outcomes, self.value_kind == "steps", self.sizes()["I"] > 0, -self.give_up
        if flags != expected or not abs(level[RHO]) <= LARGEST_RATE:
            raise FileError("the plan doesn't fit the agent's options; the file is damaged")
        if tables.edges.best.max(initial=-np.inf) - level[RHO] != level[LARGEST]:
            raise FileError("the largest reward isn't that of any edge; the file is damaged")
        try:
            if level[LARGEST] > 0.0:
                self._check_cycles(None)
        except PositiveCycleError:
            raise FileError("the edges have a positive cycle; the file is damaged") from None

    def _answer(self, goal: int) -> Answer:
        """Return exact values and actions for any goal, cached until the model changes."""
        goal, tables = self._state(goal, "goal"), self.tables
        rho = float(tables.plan.level[RHO]) if goal == self.goal else self._rho(goal)
        version = goal, self.n_states, int(tables.counts[CHANGES]), int(tables.income.sums[STEPS]), rho
        if self._asked is None or self._asked[0] != version:
            args = tables.edges, tables.terminated, goal, rho
            try:
                found = best_answer(*args) if self.best_outcomes else answer_for(*args, self.give_up)
            except PositiveMeanError as cycle:
                raise self._unbounded(goal, cycle.pairs) from None
            self._asked = version, found
        return self._asked[1]

    def _follow_exactly(self, goal: int) -> None:
        """Let the episode follow the exact policy until it observes something new."""
        self.tables.best[:] = self.best_actions(goal)
        self.tables.counts[EXACT] = 1

    def _replan(self, goal: int) -> None:
        """Plan for `goal` from scratch; with positive rewards exactly, which refuses positive cycles."""
        tables = self.tables
        if tables.plan.level[LARGEST] <= 0.0:
            plan_for(tables.edges, tables.plan, tables.terminated, goal)
            return
        try:
            self._check_cycles(goal)
        except PositiveMeanError as found:
            raise self._unbounded(goal, found.pairs) from None
        args = tables.edges, tables.terminated, goal, float(tables.plan.level[RHO])
        clear(tables.plan.stale)
        if self.best_outcomes:
            tables.plan.V[:] = best_column(*args, tables.plan)
        else:
            tables.plan.V[:] = solution_for(*args, self.give_up, tables.plan)[0].v

    def _rho(self, goal: int) -> float:
        """Return the price of a step towards `goal`: 0, unless the objective is a rate."""
        return 0.0

    def _find_extremes(self) -> None:
        """Find the largest r - rho and the largest cost of a step."""
        edges, level = self.tables.edges, self.tables.plan.level
        known = edges.total[: edges.used[0]] / edges.times[: edges.used[0]]
        level[LARGEST] = np.max(edges.best[: edges.used[0]], initial=-np.inf) - level[RHO]
        level[COSTLIEST] = max(0.0, level[RHO] - np.min(known, initial=np.inf))

    def _set_terminated(self, state: int, mark: int) -> None:
        tables = self.tables
        tables.terminated[state] = mark
        tables.counts[CHANGES] += 1
        tables.counts[EXACT] = 0
        if self.goal is not None:
            push(tables.plan.stale, state, np.inf)

    def _check_cycles(self, goal: int | None) -> None:
        """Raise `PositiveMeanError` if a cycle gains; with the mean over outcomes, on paths to `goal`."""
        tables, rho = self.tables, float(self.tables.plan.level[RHO])
        if self.best_outcomes:
            check_best(tables.edges, tables.terminated, rho)
            return
        check_stays(tables.edges, tables.terminated, rho)
        if goal is not None:
            solution_for(tables.edges, tables.terminated, goal, rho, self.give_up)

    def _unbounded(self, goal: int, pairs: NDArray[np.integer]) -> PositiveCycleError:
        cycle = self._named(pairs)
        return PositiveCycleError(f"the observed steps to goal {goal} have a positive cycle: {cycle}; {REMEDY}")

    def _named(self, pairs: NDArray[np.integer]) -> str:
        """Name the first few actions and their states."""
        A = self.n_actions
        named = [f"action {pair % A} at state {pair // A}" for pair in pairs[:MOST_NAMED].tolist()]
        return ", ".join(named) + " and more" * (len(pairs) > MOST_NAMED)

    def _may_gain(self, reward: float) -> bool:
        """Whether a step with this reward may close a positive cycle."""
        level = self.tables.plan.level
        return bool(max(level[LARGEST], reward - level[RHO]) > 0.0)

    def _before(self, pair: int, next_state: int) -> Before:
        """Save what one more observation of a step will change."""
        edges = self.tables.edges
        e = int(edges.leaving[pair])
        while e != NONE and edges.target[e] != next_state:
            e = int(edges.next_leaving[e])
        counted = None if e == NONE else (e, edges.times[e], edges.total[e], edges.best[e])
        return Before(counted, self.tables.plan.level.copy(), self.tables.counts.copy(), int(edges.used[EDGES_USED]))

    def _take_back(self, before: Before) -> None:
        """Undo the latest observation."""
        tables, edges = self.tables, self.tables.edges
        if before.counted is not None:
            e, edges.times[e], edges.total[e], edges.best[e] = before.counted
        elif edges.used[EDGES_USED] > before.used:
            drop_newest_edge(edges)
        tables.plan.level[:], tables.counts[:] = before.level, before.counts

    def _observe_part(self, transitions: Transitions, k: int, end: int) -> tuple[int, PositiveCycleError | None]:
        """Learn as any agent does; a positive cycle shows only when all are learned, and then we search for it."""
        if not self._may_gain(float(transitions.reward[k:end].max(initial=-np.inf))):
            return super()._observe_part(transitions, k, end)
        before = copied(self.tables)
        done, refusal = super()._observe_part(transitions, k, end)
        if refusal is None:
            return done, None
        sound, bad = k, end
        while bad - sound > 1:
            middle = (sound + bad) // 2
            self.tables = copied(before)
            found = super()._observe_part(transitions, k, middle)[1]
            sound, bad = (middle, bad) if found is None else (sound, middle)
        self.tables = copied(before)
        super()._observe_part(transitions, k, sound)
        try:
            self.observe(*(column[sound].item() for column in transitions))
        except PositiveCycleError as refused:
            refusal = refused
        return sound, refusal


class Before(NamedTuple):
    """State before an observation, to undo it if it closes a positive cycle."""

    counted: tuple[int, int, float, float] | None  # the edge, its observations, sum and maximum; None for a new edge
    level: Floats
    counts: Ints
    used: int  # edges


class RateModelAgent(ModelAgent):
    """Counts, and exact planning on them for the reward per step."""

    _path_rewards: tuple[tuple[int, int, int, int, float], Floats] | None = None  # of the latest query

    def sizes(self) -> dict[str, int]:
        """Count incomes by the start of a trip."""
        return super().sizes() | {"I": self.n_states}

    def empty_tables(self) -> ModelTables:
        """Nothing observed, nothing earned."""
        tables = super().empty_tables()
        tables.income.flags[ON] = 1
        return tables

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode with the best known rate for its goal; the next step begins a trip."""
        super().begin_episode(goal, steps, explore=explore)
        self.tables.income.flags[TRIP_BEGINS] = 1

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) the value of the state, minus each action's loss compared with the best one at price rho per step."""
        return as_path_rewards(super().action_values(state, goal), self.values(goal)[state])

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        return as_path_rewards(super().action_table(goal), self.values(goal))

    def value(self, state: int, goal: int) -> float:
        """The expected path reward, given arrival, of the policy with the best rate; -inf if it never arrives."""
        return float(self.values(goal)[self._state(state)])

    def values(self, goal: int) -> Floats:
        """(S,) the same for every state."""
        tables = self.tables
        rho = float(tables.plan.level[RHO]) if self._state(goal, "goal") == self.goal else self._rho(goal)
        version = self.n_states, goal, int(tables.counts[CHANGES]), int(tables.income.sums[STEPS]), rho
        if self._path_rewards is None or self._path_rewards[0] != version:
            trips = self._trips(goal, rho)
            self._path_rewards = version, trips.value + rho * trips.steps
        return self._path_rewards[1].copy()

    def _rho(self, goal: int) -> float:
        return best_rate(self.tables.income, goal, partial(self._trips, goal))

    def _trips(self, goal: int, rho: float) -> Trips:
        trips = shortest_trips if self.best_outcomes else best_trips
        return trips(self.tables.edges, self.tables.terminated, goal, rho)

    def _check_cycles(self, goal: int | None) -> None:
        """Raise rho while a cycle earns more per step; such cycles aren't refused."""
        level, mean = self.tables.plan.level, mean_of_best if self.best_outcomes else mean_reward
        while True:
            try:
                super()._check_cycles(goal)
                return
            except PositiveMeanError as found:
                level[RHO] = above(float(level[RHO]), CycleError(mean(self.tables.edges, found.pairs)))
                self._find_extremes()


class PerGoalFwrl(ModelAgent):
    """FWRL with a plan for the current goal."""

    name = NAME
    description = DESCRIPTION
    Config = FwrlConfig
    config: FwrlConfig

    @property
    def best_outcomes(self) -> bool:
        """Whether an action has the value of its best outcome."""
        return self.config.backup == "best"

    @property
    def value_kind(self) -> ValueKind:
        """Path reward, or steps if every step counts as -1."""
        return "steps" if self.config.objective == "steps" else "path reward"


class RateFwrl(RateModelAgent, PerGoalFwrl):
    """The same for the reward per step of an endless episode."""
