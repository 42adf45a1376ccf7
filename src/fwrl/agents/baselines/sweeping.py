"""Multi-goal prioritised sweeping: A. W. Moore and C. G. Atkeson (1993), "Prioritized Sweeping: Reinforcement Learning
with Less Data and Less Time", Machine Learning 13.

The agent counts outcomes, which gives a model, and keeps V(g, s) for every goal that has had an episode. After every
step the state just left gets the highest priority in the queue of the current goal, and up to `backups` Bellman backups
follow. A state whose value changes by d gives each predecessor x the priority d P(s | x, a); the highest comes first.
When a goal returns, its V is as before, and states are queued by how much the steps observed since would change it.

`dead_end` is D, the value of never arriving; it must lie below the reward of every path worth taking. The published
algorithm discounts instead. A state at which an environment was seen to end has this value for every other goal.

With the explorer `epsilon-greedy`, an untried action has the value D. `optimistic` is closer to the published
algorithm, in which an action tried too rarely has a fixed optimal value: the unseen outcome of a further try counts as
the goal (see `kernels.mdp.updates`). This is the rule of `fwrl` and `mbrl` too, so that comparisons compare planners. V
is then optimistic; reported values aren't.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple, get_args

import numpy as np

from fwrl.agents.agent import Agent, Config
from fwrl.agents.fwrl.options import Explorer
from fwrl.agents.fwrl.per_goal import ONCE
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.agents.validation import MOST_AT_STEP, check_choice, check_number, check_whole
from fwrl.arrays import ActionScratch, Count, Field, Floats, Ints, Marks, Setting, StateMarks, empty
from fwrl.kernels.edges import NONE, Edges, count_edge, find_edge, tries_of
from fwrl.kernels.exploration import DEFAULT_STEPS, GOAL, Episode, epsilon_greedy
from fwrl.kernels.heap import OPEN, clear, pop, push
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.mdp.retries import Retries, begin_trips, end_trip, left_to_lose, try_again
from fwrl.kernels.mdp.updates import (
    COSTLIEST,
    FLOOR,
    LARGEST,
    OPTIMISTIC,
    PROMISE,
    Plan,
    action_value,
    backed_up,
    count_try,
    unseen_share,
)
from fwrl.kernels.rng import fresh_digits
from fwrl.kernels.ties import pick_best

MOST_BACKUPS = 10_000_000  # per query


@dataclass(frozen=True)
class SweepingConfig(Config):
    """Options of prioritised sweeping.

    Attributes:
        backups: the most backups after every step.
        threshold: smaller changes of a value are ignored.
        dead_end: D, the value of never arriving.
        explorer: "epsilon-greedy", or "optimistic", without epsilon.
    """

    backups: int = 20
    threshold: float = 1e-6
    dead_end: float = -1000.0
    explorer: Explorer = "epsilon-greedy"

    def __post_init__(self) -> None:
        check_whole("backups", self.backups, least=1, most=MOST_AT_STEP)
        check_number("threshold", self.threshold, least=0)
        check_number("dead_end", self.dead_end)
        check_choice("explorer", self.explorer, get_args(Explorer))


class SweepingTables(NamedTuple):
    """Counts, V for each goal that has had an episode, and the plan for the current goal."""

    edges: Edges
    V: Annotated[Floats, Field("G S", least=-1e300, most=1e300)]
    slot: Annotated[Ints, Field("S", np.int64, fill=-1, least=-1)]  # the index of a goal's V, -1 for none
    terminated: StateMarks  # 1 if an environment was seen to end there
    plan: Plan  # its V is that of the current goal; stale states are in order of priority
    retries: Retries
    episode: Episode
    backups: Count
    threshold: Setting
    action_values: ActionScratch

    def sound(self) -> bool:
        """Check that slots are within V, and that the current goal has one."""
        goal = self.episode[GOAL]
        return bool(self.slot.max() < len(self.V) and (goal < 0 or self.slot[goal] >= 0))


@compiled
def swept_values(edges: Edges, plan: Plan, terminated: Marks, s: int, values: Floats) -> None:
    """Fill in Q(s, .) for the goal of the plan."""
    A = len(values)
    for a in range(A):
        values[a] = max(plan.level[FLOOR], action_value(edges, plan, terminated, s * A + a, int(ONCE)))


@compiled
def swept_table(edges: Edges, plan: Plan, terminated: Marks, table: Floats) -> None:
    """Fill in Q of every state, into `table` (S, A)."""
    for s in range(len(table)):
        swept_values(edges, plan, terminated, s, table[s])


@compiled
def sweep(edges: Edges, plan: Plan, terminated: Marks, g: int, threshold: float, backups: int) -> int:
    """Make up to `backups` backups for the goal `g`, highest priority first; return how many."""
    A = len(edges.leaving) // len(plan.V)
    for done in range(backups):
        if plan.stale.size[OPEN] == 0:
            return done
        s = pop(plan.stale)
        value = backed_up(edges, plan, terminated, s)
        delta = abs(value - plan.V[s])
        plan.V[s] = value
        e = edges.entering[s] if delta > 0.0 else NONE
        while e != NONE:
            x = edges.pair[e] // A
            if x != g and x != s:
                n = tries_of(edges, edges.pair[e])
                priority = delta * (1.0 - unseen_share(plan, n)) * edges.times[e] / n
                if priority > threshold:
                    push(plan.stale, x, priority)
            e = edges.next_entering[e]
    return backups


@compiled
def queue_all(edges: Edges, plan: Plan, terminated: Marks, g: int, threshold: float) -> None:
    """Queue every state whose backup would change its V, which is from an older model, by how much."""
    clear(plan.stale)
    for s in range(len(plan.V)):
        delta = abs(backed_up(edges, plan, terminated, s) - plan.V[s])
        if s != g and delta > threshold:
            push(plan.stale, s, delta)


@inner
def act(agent: SweepingTables, s: int, rng: np.random.Generator) -> int:
    """Take the best action by Q(s, .), with the paper's epsilon; with optimism, retry one now and then instead."""
    plan, values = agent.plan, agent.action_values
    swept_values(agent.edges, plan, agent.terminated, s, values)
    if plan.counts[OPTIMISTIC] == 0:
        return epsilon_greedy(values, agent.episode, rng)
    u = fresh_digits(rng.random())
    left = left_to_lose(agent.retries, s, plan.V, len(values))
    if left > 0.0 and s != agent.episode[GOAL]:
        a = try_again(agent.retries, agent.edges, s, values, plan.level[PROMISE], left)
        if a != NONE:
            return a
    return pick_best(values, u)


@inner
def observe(agent: SweepingTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step, then back up V of the current goal."""
    if arrived:
        end_trip(agent.retries)
        return LEARNED
    edges, plan, g = agent.edges, agent.plan, agent.episode[GOAL]
    pair = s * len(agent.action_values) + a
    n, new = tries_of(edges, pair), find_edge(edges, pair, next_s) == NONE
    count_edge(edges, pair, next_s, r)
    plan.level[PROMISE] = max(plan.level[PROMISE], r)
    count_try(edges, plan, pair, r, next_s, n, new)
    if g >= 0:
        if s != g:
            push(plan.stale, s, np.inf)
        sweep(edges, plan, agent.terminated, g, agent.threshold[0], agent.backups[0])
    return LEARNED


@inner
def action_values(agent: SweepingTables, s: int, g: int, values: Floats) -> None:
    """Fill in Q(s, .) for the current goal; D for any other."""
    if g == agent.episode[GOAL]:
        swept_values(agent.edges, agent.plan, agent.terminated, s, values)
    else:
        values[:] = agent.plan.level[FLOOR]


class PrioritisedSweeping(Agent[SweepingTables]):
    """Counts, and backups in order of priority."""

    name = "sweeping"
    description = "multi-goal prioritised sweeping (Moore and Atkeson 1993): counts, and the backups that matter most"
    Config = SweepingConfig
    verbs = register_verbs(SweepingTables, act, observe, action_values)
    config: SweepingConfig

    def sizes(self) -> dict[str, int]:
        """Add D, the number of states whose trips are counted."""
        return super().sizes() | {"D": self.n_states if self.config.explorer == "optimistic" else 0}

    def empty_tables(self) -> SweepingTables:
        """Nothing observed, and no V for any goal."""
        tables, config = super().empty_tables(), self.config
        tables.backups[0], tables.threshold[0] = config.backups, config.threshold
        self._begin(tables.plan)
        return tables

    def _begin(self, plan: Plan) -> None:
        """Set every value to D, and let rewards count as they are."""
        plan.V[:] = plan.level[FLOOR] = self.config.dead_end
        plan.level[COSTLIEST], plan.level[LARGEST] = 1.0, np.inf

    def prepare(self, goal: int) -> None:
        """Make V for a new goal; queue states changed by steps towards other goals."""
        tables = self.tables
        if self.goal is not None:
            tables.V[tables.slot[self.goal]] = tables.plan.V
        if tables.slot[goal] < 0:
            used = int(tables.slot.max()) + 1
            if used == len(tables.V):
                more = np.full((max(1, used), self.n_states), float(self.config.dead_end))
                tables = self.tables = tables._replace(V=np.concatenate([tables.V, more]))
            tables.slot[goal] = used
            tables.V[used, goal] = 0.0
        tables.plan.V[:] = tables.V[tables.slot[goal]]

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode; without exploration there's no epsilon and no optimism."""
        same_goal = goal == self.goal
        super().begin_episode(goal, steps, explore=explore)
        tables = self.tables
        begin_trips(tables.retries, same_goal=same_goal)
        tables.plan.counts[OPTIMISTIC] = int(explore and self.config.explorer == "optimistic")
        if not explore and self.config.explorer == "optimistic":
            tables.plan.V[:] = self._swept(goal).V
        queue_all(tables.edges, tables.plan, tables.terminated, goal, tables.threshold[0])

    def mark_terminated(self, state: int) -> bool:
        """Queue a terminated state, so that the next sweep gives it the value D: nothing follows it."""
        self.tables.terminated[state] = 1
        if self.goal is not None and state != self.goal:
            push(self.tables.plan.stale, state, np.inf)
        return False

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) Q(s, .): the current values for the current goal, backed up to convergence for any other."""
        state = self._state(state)
        values = np.empty(self.n_actions)
        swept_values(self.tables.edges, self._asked_plan(goal), self.tables.terminated, state, values)
        return values

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        table = np.empty((self.n_states, self.n_actions))
        swept_table(self.tables.edges, self._asked_plan(goal), self.tables.terminated, table)
        return table

    def value(self, state: int, goal: int) -> float:
        """V(g, s)."""
        state = self._state(state)
        return float(self._asked_plan(goal).V[state])

    def values(self, goal: int) -> Floats:
        """(S,) V(g, .)."""
        return self._asked_plan(goal).V.copy()

    def grow(self, n_states: int) -> None:
        """Grow; new states have the value D for all goals."""
        known = self.n_states
        super().grow(n_states)
        self.tables.V[:, known:] = float(self.config.dead_end)

    def _asked_plan(self, goal: int) -> Plan:
        """Return a plan for any goal without optimism: the current one, or a new one for this query."""
        goal = self._state(goal, "goal")
        current = goal == self.goal and not self.tables.plan.counts[OPTIMISTIC]
        return self.tables.plan if current else self._swept(goal)

    def _swept(self, goal: int) -> Plan:
        """Make a plan backed up to convergence; start from D if the stored V may be optimistic."""
        tables = self.tables
        plan: Plan = empty(Plan, self.sizes())
        self._begin(plan)
        if tables.slot[goal] >= 0 and self.config.explorer != "optimistic":
            plan.V[:] = tables.V[tables.slot[goal]]
        plan.V[goal] = 0.0
        queue_all(tables.edges, plan, tables.terminated, goal, tables.threshold[0])
        sweep(tables.edges, plan, tables.terminated, goal, tables.threshold[0], MOST_BACKUPS)
        return plan
