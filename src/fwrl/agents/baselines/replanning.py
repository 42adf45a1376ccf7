"""Value iteration on a weighted model with unseen outcomes, for one goal: how R-max and posterior sampling plan.

Every edge e has a weight, and the pair (s, a) a probability u of an unseen outcome, which counts as the goal. With R
the reward of that outcome and D the value of never arriving,

    Q(s, a) = u R + (1 - u) sum_s' P(s' | s, a) [ r(s, a, s') + V(s') ],     P ~ weight,  D if nothing can follow
    V(s)    = max( D, max_a Q(s, a) ),     V(g) = 0

without discount; V(s) = D if an environment was seen to end at s, unless s = g. A loop s -> s is solved in closed form,
as in `sweeping`. V starts at D and rises monotonically to the least solution, so no loop can support its own value.
States to back up are in a first-in, first-out queue: first those with an unseen outcome and those next to g, then the
predecessors of each state whose V has risen by more than the threshold. A plan makes at most `backups` backups; the
cost of each is proportional to the outcomes of its state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeVar, cast

import numpy as np

from fwrl.agents.agent import Agent, Config
from fwrl.agents.validation import check_number, check_whole
from fwrl.arrays import Count, Field, Floats, Ints, StateMarks, empty
from fwrl.errors import FileError
from fwrl.kernels.edges import EDGES as USED
from fwrl.kernels.edges import NONE, Edges
from fwrl.kernels.jit import compiled

HEAD, QUEUED = 0, 1  # of `size`
UNSEEN, DEAD_END, THRESHOLD = 0, 1, 2  # of `level`


class ValuePlan(NamedTuple):
    """A weighted model and its values for the current goal."""

    weight: Annotated[Floats, Field("E", least=0.0, most=1e300)]  # of each edge
    unseen: Annotated[Floats, Field("P", fill=1.0, least=0.0, most=1.0)]  # u of each pair
    V: Annotated[Floats, Field("S", least=-1e300, most=1e300)]
    level: Annotated[Floats, Field("3", least=-1e300, most=1e300)]  # R at UNSEEN, D at DEAD_END, and THRESHOLD
    terminated: StateMarks  # 1 if an environment was seen to end there
    backups: Count  # most backups of a plan
    queue: Annotated[Ints, Field("S", np.int64, saved=False)]  # ring of states to back up
    queued: Annotated[Ints, Field("S", np.int64, saved=False)]  # 1 while in the queue
    size: Annotated[Ints, Field("2", np.int64, saved=False)]  # HEAD of the queue and its length


Due = Annotated[Ints, Field("1", np.int64, fill=1, least=0, most=1)]  # 1 if the next action must replan first


@compiled
def expected_value(edges: Edges, plan: ValuePlan, pair: int) -> float:
    """Return Q(s, a) of the pair s * A + a; D if nothing can follow it."""
    total = 0.0
    value = 0.0
    e = edges.leaving[pair]
    while e != NONE:
        total += plan.weight[e]
        value += plan.weight[e] * (edges.total[e] / edges.times[e] + plan.V[edges.target[e]])
        e = edges.next_leaving[e]
    u = plan.unseen[pair]
    if total > 0.0:
        return float(u * plan.level[UNSEEN] + (1.0 - u) * value / total)
    return float(plan.level[UNSEEN] if u > 0.0 else plan.level[DEAD_END])


@compiled
def backed_up(edges: Edges, plan: ValuePlan, s: int) -> float:
    """Return V(s) by its equation, from V at the other states."""
    A = len(edges.leaving) // len(plan.V)
    best = plan.level[DEAD_END]
    for pair in range(s * A, s * A + A):
        total = 0.0
        leaves = 0.0
        value = 0.0
        e = edges.leaving[pair]
        while e != NONE:
            y = edges.target[e]
            total += plan.weight[e]
            value += plan.weight[e] * edges.total[e] / edges.times[e]
            if y != s:
                leaves += plan.weight[e]
                value += plan.weight[e] * plan.V[y]
            e = edges.next_leaving[e]
        u = plan.unseen[pair]
        if total == 0.0 and u > 0.0:
            u = 1.0
        scale = total if total > 0.0 else 1.0
        ends = (1.0 - u) * leaves + u * scale
        if ends > 0.0:
            best = max(best, ((1.0 - u) * value + u * scale * plan.level[UNSEEN]) / ends)
    return float(best)


@compiled
def iterate(edges: Edges, plan: ValuePlan, g: int) -> int:
    """Fill V for the goal `g`; return the number of backups."""
    S = len(plan.V)
    A = len(edges.leaving) // S
    plan.V[:] = plan.level[DEAD_END]
    plan.V[g] = 0.0
    plan.queued[:] = 0
    plan.size[:] = 0
    for pair in range(S * A):
        if plan.unseen[pair] > 0.0:
            _enqueue(plan, pair // A, g)
    _enqueue_predecessors(edges, plan, g, g)
    made = 0
    while plan.size[QUEUED] > 0 and made < plan.backups[0]:
        made += 1
        s = plan.queue[plan.size[HEAD]]
        plan.size[HEAD] = (plan.size[HEAD] + 1) % S
        plan.size[QUEUED] -= 1
        plan.queued[s] = 0
        value = backed_up(edges, plan, s)
        if value > plan.V[s] + plan.level[THRESHOLD]:
            plan.V[s] = value
            _enqueue_predecessors(edges, plan, s, g)
    return made


@compiled
def _enqueue_predecessors(edges: Edges, plan: ValuePlan, s: int, g: int) -> None:
    A = len(edges.leaving) // len(plan.V)
    e = edges.entering[s]
    while e != NONE:
        if plan.weight[e] > 0.0 and edges.pair[e] // A != s:
            _enqueue(plan, edges.pair[e] // A, g)
        e = edges.next_entering[e]


@compiled
def _enqueue(plan: ValuePlan, s: int, g: int) -> None:
    if s != g and plan.queued[s] == 0 and plan.terminated[s] == 0:
        plan.queued[s] = 1
        plan.queue[(plan.size[HEAD] + plan.size[QUEUED]) % len(plan.queue)] = s
        plan.size[QUEUED] += 1


Tables = TypeVar("Tables")


@dataclass(frozen=True)
class ReplanningConfig(Config):
    """Options of planning.

    Attributes:
        max_reward: an upper bound on the reward of a step, for unseen outcomes; a higher observed reward replaces it.
        dead_end: D, the value of never arriving.
        threshold: smaller changes of a value aren't propagated.
        backups: the most backups per plan.
    """

    max_reward: float = 0.0
    dead_end: float = -1000.0
    threshold: float = 1e-9
    backups: int = 10_000_000

    def __post_init__(self) -> None:
        check_number("max_reward", self.max_reward)
        check_number("dead_end", self.dead_end)
        check_number("threshold", self.threshold, least=0)
        check_whole("backups", self.backups, least=1, most=10**8)


@compiled
def copy_counts(edges: Edges, plan: ValuePlan) -> None:
    """Set the weights to the counts, with nothing unseen."""
    for e in range(edges.used[USED]):
        plan.weight[e] = edges.times[e]
    plan.unseen[:] = 0.0


@compiled
def fill_values(edges: Edges, plan: ValuePlan, s: int, values: Floats) -> None:
    """Write Q(s, .) of the plan into `values` (A,)."""
    A = len(values)
    for a in range(A):
        values[a] = expected_value(edges, plan, s * A + a)


class ReplanningAgent(Agent[Tables]):
    """Counts, and a plan that's recomputed now and then; the tables have the fields `edges`, `plan` and `due`."""

    config: Any

    def empty_tables(self) -> Tables:
        """Nothing observed."""
        tables: Any = super().empty_tables()
        self._begin(tables.plan)
        return cast(Tables, tables)

    def _begin(self, plan: ValuePlan) -> None:
        """Start a plan with the agent's options, before any observation."""
        config = self.config
        plan.level[:] = config.max_reward, config.dead_end, config.threshold
        plan.V[:], plan.backups[0] = config.dead_end, config.backups

    def reserve(self, observations: int) -> None:
        """Make room for edges and their weights."""
        super().reserve(observations)
        tables = cast(Any, self.tables)
        weight, capacity = tables.plan.weight, len(tables.edges.target)
        if len(weight) < capacity:
            grown = np.concatenate([weight, np.zeros(capacity - len(weight))])
            self.tables = tables._replace(plan=tables.plan._replace(weight=grown))

    def saved_tables(self) -> Any:
        """Return the tables without spare room for edges and their weights."""
        tables = super().saved_tables()
        return tables._replace(plan=tables.plan._replace(weight=tables.plan.weight[: len(tables.edges.target)]))

    def prepare(self, goal: int) -> None:
        """Replan at the first action of the episode."""
        cast(Any, self.tables).due[0] = 1

    def mark_terminated(self, state: int) -> bool:
        """Replan so that nothing follows a terminated state, unless it's the goal."""
        tables = cast(Any, self.tables)
        if not tables.plan.terminated[state]:
            tables.plan.terminated[state] = 1
            tables.due[0] = 1
        return False

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) Q(s, .) of the counted model."""
        state = self._state(state)
        values = np.empty(self.n_actions)
        fill_values(cast(Any, self.tables).edges, self._counted(goal), state, values)
        return values

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        plan = self._counted(goal)
        table = np.empty((self.n_states, self.n_actions))
        for state, values in enumerate(table):
            fill_values(cast(Any, self.tables).edges, plan, state, values)
        return table

    def value(self, state: int, goal: int) -> float:
        """V(s) of the counted model."""
        return float(self.values(goal)[self._state(state)])

    def values(self, goal: int) -> Floats:
        """(S,) V of the counted model."""
        return self._counted(goal).V

    def check_tables(self) -> None:
        """Check also that every edge has a weight, and that levels match the agent's options."""
        super().check_tables()
        tables, config = cast(Any, self.tables), self.config
        plan = tables.plan
        levels = plan.level[[DEAD_END, THRESHOLD]].tolist() == [config.dead_end, config.threshold]
        if not (levels and plan.level[UNSEEN] >= config.max_reward and len(plan.weight) == len(tables.edges.target)):
            raise FileError("the plan doesn't fit the agent's options; the file is damaged")

    def _counted(self, goal: int) -> ValuePlan:
        """Plan for any goal on the counted model."""
        goal = self._state(goal, "goal")
        tables = cast(Any, self.tables)
        plan: ValuePlan
        weight, terminated = np.zeros(len(tables.edges.target)), tables.plan.terminated
        plan = empty(ValuePlan, self.sizes())._replace(weight=weight, terminated=terminated)
        self._begin(plan)
        copy_counts(tables.edges, plan)
        iterate(tables.edges, plan, goal)
        return plan
