"""Multi-goal prioritised sweeping: A. W. Moore and C. G. Atkeson (1993), "Prioritized Sweeping: Reinforcement Learning
with Less Data and Less Time", Machine Learning 13.

Outcomes are counted, which is a model, and V(g, s) is kept for every goal that had an episode. After every step the
state left has the highest priority in the queue of the goal in use, and up to `backups` Bellman backups follow, the
highest priority first (the equations are in `model.sweeping`). When a goal comes back, its V is as before, and states
are queued by how much the steps observed since would change it.

`dead_end` is D, the value of never arriving; it must lie below the reward of every path worth taking. The published
algorithm discounts instead. A state where an environment was seen to end has this value for every other goal.

With the explorer `epsilon-greedy` an action never tried has the value D. `optimistic` is closer to the published
algorithm, in which an action tried too seldom has a fixed optimal value: an outcome not yet seen counts as if it led
straight to the goal (see `model.optimism`), and on trips that repeat actions are tried again now and then (see
`model.doubt`). V is then optimistic; values are reported without optimism.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import DEFAULT_STEPS, Agent, Config, no_episode
from fwrl.agents.model import PRIOR, Explorer
from fwrl.agents.options import check_choice, check_number, check_whole
from fwrl.agents.sections import DOUBT, EDGES, TERMINATED, Sections, optimism_sections
from fwrl.agents.soundness import check_doubt, check_edges, check_marks, check_optimism, check_queue
from fwrl.agents.verbs import LEARNED, register_verbs
from fwrl.errors import FileError
from fwrl.kernels.exploration import EXPLORE, GOAL, epsilon_greedy
from fwrl.kernels.graph.edges import NONE, Edges, count_edge, find_edge, no_edges, tries_of
from fwrl.kernels.graph.heap import OPEN, Heap, empty_heap
from fwrl.kernels.model.doubt import Doubt, begin_trips, end_trip, left_to_lose, no_doubt, try_again
from fwrl.kernels.model.optimism import Optimism, count_try, no_optimism, refresh, see_reward
from fwrl.kernels.model.sweeping import expected, promote, queue_all, sweep
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits
from fwrl.kernels.runtime.ties import pick_best

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Marks = NDArray[np.int8]

MOST_BACKUPS = 10_000_000  # for one query
THRESHOLD, DEAD_END = 0, 1  # positions in `levels`


@dataclass(frozen=True)
class SweepingConfig(Config):
    """Options of prioritised sweeping.

    Attributes:
        backups: at most, after every step.
        threshold: changes of a value below it are ignored.
        dead_end: D, the value of never arriving.
        explorer: "epsilon-greedy", or "optimistic", without epsilon.
    """

    backups: int = 20
    threshold: float = 1e-6
    dead_end: float = -1000.0
    explorer: Explorer = "epsilon-greedy"

    def __post_init__(self) -> None:
        check_whole("backups", self.backups, least=1)
        check_number("threshold", self.threshold, least=0)
        check_number("dead_end", self.dead_end)
        check_choice("explorer", self.explorer, get_args(Explorer))


class SweepingTables(NamedTuple):
    """Counts, V for each goal that had an episode, and the queue of the goal in use."""

    edges: Edges
    V: Floats  # (G, S)
    slot: Ints  # (S,) which V is a goal's, -1 for none
    terminated: Marks  # (S,) 1 where an environment was seen to end
    queue: Heap
    optimism: Optimism
    doubt: Doubt
    episode: Ints
    backups: Ints  # (1,)
    levels: Floats  # (2,) at THRESHOLD and DEAD_END
    action_values: Floats  # (A,)


class QueueEntries(NamedTuple):
    """The queue as a file holds it: n entries in the order of the heap."""

    state: Ints  # (n,)
    priority: Floats  # (n,)


@compiled
def swept_values(edges: Edges, V: Floats, optimism: Optimism, s: int, D: float, values: Floats) -> None:
    """Q(s, .) for the goal that V (S,) belongs to."""
    A = len(values)
    for a in range(A):
        values[a] = expected(edges, V, optimism, s * A + a, D)


@compiled
def swept_table(edges: Edges, V: Floats, optimism: Optimism, D: float, table: Floats) -> None:
    """The same for every state, into `table` (S, A)."""
    for s in range(len(table)):
        swept_values(edges, V, optimism, s, D, table[s])


@compiled
def act(agent: SweepingTables, s: int, rng: np.random.Generator) -> int:
    """Greedy on Q(s, .) for the goal in use; epsilon-greedy unless Q is optimistic, with doubt if it is."""
    action_values(agent, s, agent.episode[GOAL], agent.action_values)
    if agent.optimism.on[0] == 0:
        return epsilon_greedy(agent.action_values, agent.episode, rng)
    u = fresh_digits(rng.random())
    a = doubted_action(agent, s)
    return a if a != NONE else pick_best(agent.action_values, u)


@compiled
def doubted_action(agent: SweepingTables, s: int) -> int:
    """An action that is worth another try on a trip that repeats, by the current action values; NONE mostly."""
    g = agent.episode[GOAL]
    left = left_to_lose(agent.doubt, s, agent.V[agent.slot[g]], len(agent.action_values))
    if left <= 0.0 or s == g:
        return NONE
    return try_again(agent.doubt, agent.edges, s, agent.action_values, agent.optimism.reward[0], left)


@compiled
def observe(agent: SweepingTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step, then back up V of the goal in use."""
    if arrived:
        end_trip(agent.doubt)
        return LEARNED
    edges, optimism, queue = agent.edges, agent.optimism, agent.queue
    pair = s * len(agent.action_values) + a
    due = count_try(optimism, tries_of(edges, pair), find_edge(edges, pair, next_s) == NONE)
    count_edge(edges, pair, next_s, r)
    due = see_reward(optimism.reward, r) or due
    g = agent.episode[GOAL]
    if g >= 0:
        threshold, D = agent.levels[THRESHOLD], agent.levels[DEAD_END]
        V = agent.V[agent.slot[g]]
        if due and optimism.on[0] != 0:
            refresh(optimism)
            queue_all(edges, V, agent.terminated, optimism, queue, g, D, threshold)
        if s != g:
            promote(queue, s, np.inf)
        sweep(edges, V, agent.terminated, optimism, queue, g, D, threshold, agent.backups[0])
    return LEARNED


@compiled
def action_values(agent: SweepingTables, s: int, g: int, values: Floats) -> None:
    """Q(s, .) for a goal that has V; D for any other."""
    if agent.slot[g] >= 0:
        swept_values(agent.edges, agent.V[agent.slot[g]], agent.optimism, s, agent.levels[DEAD_END], values)
    else:
        values[:] = agent.levels[DEAD_END]


class PrioritisedSweeping(Agent[SweepingTables]):
    """Counts, and backups in the order of their priority."""

    name = "sweeping"
    description = "multi-goal prioritised sweeping (Moore and Atkeson 1993): counts, and the backups that matter most"
    Config = SweepingConfig
    verbs = register_verbs(SweepingTables, act, observe, action_values)
    sections: ClassVar[Sections] = {
        **EDGES,
        **TERMINATED,
        "values": "V",
        "goal-slots": "slot",
        "queue/state": "queue.state",
        "queue/priority": "queue.priority",
        **optimism_sections("optimism"),
        **DOUBT,
    }
    config: SweepingConfig

    def empty_tables(self) -> SweepingTables:
        """Nothing observed, no goal has V."""
        S, A, config = self.n_states, self.n_actions, self.config
        return SweepingTables(
            edges=no_edges(S, A),
            V=np.empty((0, S)),
            slot=np.full(S, -1),
            terminated=np.zeros(S, np.int8),
            queue=empty_heap(S),
            optimism=no_optimism(PRIOR),
            doubt=no_doubt(S if config.explorer == "optimistic" else 0),
            episode=no_episode(),
            backups=np.array([config.backups]),
            levels=np.array([float(config.threshold), float(config.dead_end)]),
            action_values=np.empty(A),
        )

    def prepare(self, goal: int) -> None:
        """Make V for the goal if it has none; queue states that steps towards other goals have changed."""
        tables = self.tables
        tables.optimism.on[0] = int(self.config.explorer == "optimistic")
        refresh(tables.optimism)
        if tables.slot[goal] < 0:
            used = int(tables.slot.max()) + 1
            if used == len(tables.V):
                more = np.full((max(1, used), self.n_states), tables.levels[DEAD_END])
                tables = self.tables = tables._replace(V=np.concatenate([tables.V, more]))
            tables.slot[goal] = used
            tables.V[used, goal] = 0.0
        threshold, D = tables.levels
        V, ended = tables.V[tables.slot[goal]], tables.terminated
        queue_all(tables.edges, V, ended, tables.optimism, tables.queue, goal, D, threshold)

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode; without exploration there is neither epsilon nor optimism."""
        same_goal = goal == self.goal
        super().begin_episode(goal, steps, explore=explore)
        tables = self.tables
        begin_trips(tables.doubt, same_goal=same_goal)
        if tables.optimism.on[0] and not tables.episode[EXPLORE]:
            V = self._without_optimism(goal)
            tables.optimism.on[0] = 0
            tables.V[tables.slot[goal]] = V
            threshold, D = tables.levels
            queue_all(tables.edges, V, tables.terminated, tables.optimism, tables.queue, goal, D, threshold)

    def mark_terminated(self, state: int) -> bool:
        """Nothing follows a terminated state: queue it, so that the next sweep gives it the value D."""
        self.tables.terminated[state] = 1
        if self.goal is not None and state != self.goal:
            promote(self.tables.queue, state, np.inf)
        return False

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) Q(s, .): the current one for the goal in use, backed up to convergence for any other."""
        state = self._state(state)
        values = np.empty(self.n_actions)
        swept_values(self.tables.edges, self._swept(goal), no_optimism(), state, self.tables.levels[DEAD_END], values)
        return values

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        table = np.empty((self.n_states, self.n_actions))
        swept_table(self.tables.edges, self._swept(goal), no_optimism(), self.tables.levels[DEAD_END], table)
        return table

    def value(self, state: int, goal: int) -> float:
        """V(g, s)."""
        state = self._state(state)
        return float(self._swept(goal)[state])

    def values(self, goal: int) -> Floats:
        """(S,) V(g, .)."""
        return self._swept(goal).copy()

    def saved_tables(self) -> Any:
        """The tables with only the entries of the queue."""
        queue = self.tables.queue
        n = int(queue.size[OPEN])
        entries = QueueEntries(state=queue.state[:n].astype(np.int64), priority=queue.key[:n])
        return cast(Any, self.tables)._replace(queue=entries)

    def completed_tables(self, saved: Any) -> SweepingTables:
        """The tables with a queue of the saved entries."""
        states, priorities = saved.queue
        if not (
            len(np.unique(states)) == len(states) == len(priorities) and np.isin(states, range(self.n_states)).all()
        ):
            raise FileError("expected a queue of different states; the file is damaged")
        queue = empty_heap(self.n_states)
        queue.state[: len(states)] = states
        queue.key[: len(states)] = priorities
        queue.place[states] = np.arange(1, len(states) + 1)
        queue.size[OPEN] = len(states)
        tables: SweepingTables = saved._replace(queue=queue)
        return tables

    def grow(self, n_states: int) -> None:
        """New states have the value D for all goals."""
        known = self.n_states
        super().grow(n_states)
        self.tables.V[:, known:] = self.tables.levels[DEAD_END]

    def check_tables(self) -> None:
        """Check shapes, slots within V, edges, queue and optimism."""
        S, tables = self.n_states, self.tables
        sound = tables.V.shape[1:] == (S,) and tables.slot.shape == (S,)
        sound = sound and bool(np.all((tables.slot >= -1) & (tables.slot < len(tables.V))))
        if not (sound and (self.goal is None or tables.slot[self.goal] >= 0)):
            raise FileError(f"expected V for {S} states")
        check_edges(tables.edges, S, self.n_actions)
        check_marks(tables.terminated, S)
        check_queue(tables.queue, S)
        check_optimism(tables.optimism)
        check_doubt(tables.doubt, S if self.config.explorer == "optimistic" else 0)

    def _swept(self, goal: int) -> Floats:
        """V of any goal, without optimism: the current one, or one backed up to convergence for this query."""
        goal = self._state(goal, "goal")
        tables = self.tables
        if goal == self.goal and not tables.optimism.on[0]:
            current: Floats = tables.V[tables.slot[goal]]
            return current
        return self._without_optimism(goal)

    def _without_optimism(self, goal: int) -> Floats:
        """V backed up to convergence; from D on where the stored V may be optimistic."""
        tables = self.tables
        threshold, D = tables.levels
        usable = tables.slot[goal] >= 0 and self.config.explorer != "optimistic"
        V: Floats = tables.V[tables.slot[goal]].copy() if usable else np.full(self.n_states, D)
        V[goal] = 0.0
        queue = empty_heap(self.n_states)
        model = tables.edges, V, tables.terminated, no_optimism(), queue, goal, D, threshold
        queue_all(*model)
        sweep(*model, MOST_BACKUPS)
        return V
