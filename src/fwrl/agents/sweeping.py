"""Multi-goal prioritised sweeping: A. W. Moore and C. G. Atkeson (1993), "Prioritized Sweeping: Reinforcement Learning
with Less Data and Less Time", Machine Learning 13.

Outcomes are counted, which is a model, and V(g, s) is kept for every goal met so far. After every step the state left
comes first in the queue of the goal in use, and up to `backups` Bellman backups follow, the highest priority first
(the equations are in `model.sweeping`). A goal that comes back finds its values as it left them; what has been
learned since is queued by how much it would change them.

`dead_end` is D, what never arriving is worth: it must lie below the reward of every path worth taking. The
published algorithm discounts instead.

The explorer is the agents' common epsilon-greedy, and an action never tried is then worth D, or `optimistic`, which
is nearer to the published algorithm: there, an action tried too seldom is worth a fixed optimum; here, what is not yet
known counts as if it led straight to the goal (see `model.optimism`). Then V is the hopeful one; questions about values
are answered without hope.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import DEFAULT_STEPS, Agent, Config, no_episode
from fwrl.agents.all_goals import check_number, check_whole
from fwrl.agents.model import PRIOR, Explorer, check_choice
from fwrl.agents.soundness import check_edges, check_optimism, check_queue
from fwrl.agents.verbs import LEARNED, Verbs, register_verbs
from fwrl.errors import FileError
from fwrl.kernels.exploration import EXPLORE, GOAL, epsilon_greedy
from fwrl.kernels.graph.edges import NONE, Edges, count_edge, find_edge, no_edges, tries_of
from fwrl.kernels.graph.heap import Heap, empty_heap
from fwrl.kernels.model.optimism import Optimism, count_try, no_optimism, refresh, see_reward
from fwrl.kernels.model.sweeping import expected, promote, queue_all, sweep
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits
from fwrl.kernels.runtime.ties import pick_best

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ENDLESS = 10_000_000  # backups after which a question is answered as far as it got


@dataclass(frozen=True)
class SweepingConfig(Config):
    """`backups` a step, the `threshold` below which a change is let be, and the worth of a `dead_end`. `explorer`:
    "epsilon-greedy", or "optimistic" without any epsilon.
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
    """Counts, V for each goal met so far, and the queue of the goal in use."""

    edges: Edges
    V: Floats  # (G, S)
    slot: Ints  # (S,) which V is a goal's, -1 for a goal never met
    queue: Heap
    optimism: Optimism
    episode: Ints
    backups: Ints  # (1,)
    levels: Floats  # (2,) threshold and D
    action_values: Floats  # (A,)


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
    """Greedy on Q(s, .) for the goal in use; with epsilon, unless that hopes."""
    action_values(agent, s, agent.episode[GOAL], agent.action_values)
    if agent.optimism.on[0] != 0:
        return pick_best(agent.action_values, fresh_digits(rng.random()))
    return epsilon_greedy(agent.action_values, agent.episode, rng)


@compiled
def observe(agent: SweepingTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step, then back up where that matters for the goal in use."""
    if arrived:
        return LEARNED
    edges, optimism, queue = agent.edges, agent.optimism, agent.queue
    pair = s * len(agent.action_values) + a
    due = count_try(optimism, tries_of(edges, pair), find_edge(edges, pair, next_s) == NONE)
    count_edge(edges, pair, next_s, r)
    due = see_reward(optimism.reward, edges, r) or due
    g = agent.episode[GOAL]
    if g >= 0:
        threshold, D = agent.levels[0], agent.levels[1]
        V = agent.V[agent.slot[g]]
        if due and optimism.on[0] != 0:
            refresh(optimism)
            queue_all(edges, V, optimism, queue, g, D, threshold)
        if s != g:
            promote(queue, s, np.inf)
        sweep(edges, V, optimism, queue, g, D, threshold, agent.backups[0])
    return LEARNED


@compiled
def action_values(agent: SweepingTables, s: int, g: int, values: Floats) -> None:
    """Q(s, .) for a goal met before; D for any other."""
    if agent.slot[g] >= 0:
        swept_values(agent.edges, agent.V[agent.slot[g]], agent.optimism, s, agent.levels[1], values)
    else:
        values[:] = agent.levels[1]


VERBS = register_verbs(SweepingTables, act, observe, action_values)


class PrioritisedSweeping(Agent):
    """Counts, and backups where they matter most."""

    name = "sweeping"
    description = "multi-goal prioritised sweeping (Moore and Atkeson 1993): counts, and the backups that matter most"
    Config = SweepingConfig
    scratch = ("backups", "levels", "action_values", "queue.closed", "queue.closed_key")
    config: SweepingConfig

    def verbs_of_config(self) -> Verbs:
        """One kind."""
        return VERBS

    def empty_tables(self) -> SweepingTables:
        """Nothing seen, no goal met."""
        S, A, config = self.n_states, self.n_actions, self.config
        return SweepingTables(
            edges=no_edges(S, A),
            V=np.empty((0, S)),
            slot=np.full(S, -1),
            queue=empty_heap(S),
            optimism=no_optimism(PRIOR),
            episode=no_episode(),
            backups=np.array([config.backups]),
            levels=np.array([float(config.threshold), float(config.dead_end)]),
            action_values=np.empty(A),
        )

    def prepare(self, goal: int) -> None:
        """Make V for a goal never met before; queue what was learned while other goals were in use."""
        tables = self.tables
        tables.optimism.on[0] = int(self.config.explorer == "optimistic")
        refresh(tables.optimism)
        if tables.slot[goal] < 0:
            met = int(tables.slot.max()) + 1
            if met == len(tables.V):
                room = np.full((max(1, met), self.n_states), self.tables.levels[1])
                tables = self.tables = tables._replace(V=np.concatenate([tables.V, room]))
            tables.slot[goal] = met
            tables.V[met, goal] = 0.0
        threshold, D = tables.levels
        queue_all(tables.edges, tables.V[tables.slot[goal]], tables.optimism, tables.queue, goal, D, threshold)

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Take up `goal`; without exploring there is neither epsilon nor hope."""
        super().begin_episode(goal, steps, explore=explore)
        tables = self.tables
        if tables.optimism.on[0] and not tables.episode[EXPLORE]:
            V = self._without_hope(goal)
            tables.optimism.on[0] = 0
            tables.V[tables.slot[goal]] = V
            threshold, D = tables.levels
            queue_all(tables.edges, V, tables.optimism, tables.queue, goal, D, threshold)

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) Q(s, .): as it stands for the goal in use, swept to a standstill for any other."""
        state = self._state(state)
        values = np.empty(self.n_actions)
        swept_values(self.tables.edges, self._swept(goal), no_optimism(), state, self.tables.levels[1], values)
        return values

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        table = np.empty((self.n_states, self.n_actions))
        swept_table(self.tables.edges, self._swept(goal), no_optimism(), self.tables.levels[1], table)
        return table

    def value(self, state: int, goal: int) -> float:
        """V(g, s)."""
        state = self._state(state)
        return float(self._swept(goal)[state])

    def values(self, goal: int) -> Floats:
        """(S,) V(g, .)."""
        return self._swept(goal).copy()

    def check_tables(self) -> None:
        """Shapes, slots within V, edge indices, and a queue of states."""
        S, tables = self.n_states, self.tables
        sound = tables.V.shape[1:] == (S,) and tables.slot.shape == (S,)
        sound = sound and bool(np.all((tables.slot >= -1) & (tables.slot < len(tables.V))))
        if not (sound and (self.goal is None or tables.slot[self.goal] >= 0)):
            raise FileError(f"expected V for {S} states")
        check_edges(tables.edges, S, self.n_actions)
        check_queue(tables.queue, S)
        check_optimism(tables.optimism)

    def _swept(self, goal: int) -> Floats:
        """V of any goal, without optimism: of the one in use, or swept to a standstill for the question."""
        goal = self._state(goal, "goal")
        tables = self.tables
        if goal == self.goal and not tables.optimism.on[0]:
            current: Floats = tables.V[tables.slot[goal]]
            return current
        return self._without_hope(goal)

    def _without_hope(self, goal: int) -> Floats:
        """V swept to a standstill; from D on where the V there is may hope."""
        tables = self.tables
        threshold, D = tables.levels
        met = tables.slot[goal] >= 0 and self.config.explorer != "optimistic"
        V: Floats = tables.V[tables.slot[goal]].copy() if met else np.full(self.n_states, D)
        V[goal] = 0.0
        queue = empty_heap(self.n_states)
        queue_all(tables.edges, V, no_optimism(), queue, goal, D, threshold)
        sweep(tables.edges, V, no_optimism(), queue, goal, D, threshold, ENDLESS)
        return V
