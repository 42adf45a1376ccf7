"""Multi-goal prioritised sweeping: A. W. Moore and C. G. Atkeson (1993), "Prioritized Sweeping: Reinforcement Learning
with Less Data and Less Time", Machine Learning 13.

Outcomes are counted, which is a model, and V(g, s) is kept for every goal met so far. After every step the state left
comes first in the queue of the goal in use, and up to `backups` Bellman backups follow, the highest priority first
(the equations are in `kernels.sweeping`). A goal that comes back finds its values as it left them; what has been
learned since is queued by how much it would change them.

`dead_end` is D, what never arriving is worth: it must lie below the reward of every path worth taking. The
published algorithm discounts instead, and explores by optimism; here exploring is the agents' common
epsilon-greedy, and an action never tried is worth D.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config, no_episode
from fwrl.agents.all_goals import check_number, check_whole
from fwrl.agents.verbs import LEARNED, Verbs, declare
from fwrl.errors import FileError
from fwrl.kernels.compiled import compiled
from fwrl.kernels.edges import Edges, check_edges, count_edge, no_edges
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.sweeping import Queue, check_queue, empty_queue, expected, promote, queue_all, sweep

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ENDLESS = 10_000_000  # backups after which a question is answered as far as it got


@dataclass(frozen=True)
class SweepingConfig(Config):
    """`backups` a step, the `threshold` below which a change is let be, and the worth of a `dead_end`."""

    backups: int = 20
    threshold: float = 1e-6
    dead_end: float = -1000.0

    def __post_init__(self) -> None:
        check_whole("backups", self.backups, least=1)
        check_number("threshold", self.threshold, least=0)
        check_number("dead_end", self.dead_end)


class SweepingTables(NamedTuple):
    """Counts, V for each goal met so far, and the queue of the goal in use."""

    edges: Edges
    V: Floats  # (G, S)
    slot: Ints  # (S,) which V is a goal's, -1 for a goal never met
    queue: Queue
    clock: Ints
    backups: Ints  # (1,)
    levels: Floats  # (2,) threshold and D
    action_values: Floats  # (A,)


@compiled
def swept_values(edges: Edges, V: Floats, s: int, D: float, values: Floats) -> None:
    """Q(s, .) for the goal that V (S,) belongs to."""
    A = len(values)
    for a in range(A):
        values[a] = expected(edges, V, s * A + a, D)


@compiled
def swept_table(edges: Edges, V: Floats, D: float, table: Floats) -> None:
    """The same for every state, into `table` (S, A)."""
    for s in range(len(table)):
        swept_values(edges, V, s, D, table[s])


@compiled
def act(agent: SweepingTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, .) for the goal in use."""
    action_values(agent, s, agent.clock[GOAL], agent.action_values)
    return epsilon_greedy(agent.action_values, agent.clock, rng)


@compiled
def observe(agent: SweepingTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step, then back up where that matters for the goal in use."""
    if arrived:
        return LEARNED
    count_edge(agent.edges, s * len(agent.action_values) + a, next_s, r)
    g = agent.clock[GOAL]
    if g >= 0:
        if s != g:
            promote(agent.queue, s, np.inf)
        V = agent.V[agent.slot[g]]
        sweep(agent.edges, V, agent.queue, g, agent.levels[1], agent.levels[0], agent.backups[0])
    return LEARNED


@compiled
def action_values(agent: SweepingTables, s: int, g: int, values: Floats) -> None:
    """Q(s, .) for a goal met before; D for any other."""
    if agent.slot[g] >= 0:
        swept_values(agent.edges, agent.V[agent.slot[g]], s, agent.levels[1], values)
    else:
        values[:] = agent.levels[1]


VERBS = declare(SweepingTables, act, observe, action_values)


class PrioritisedSweeping(Agent):
    """Counts, and backups where they matter most."""

    name = "sweeping"
    description = "multi-goal prioritised sweeping (Moore and Atkeson 1993): counts, and the backups that matter most"
    Config = SweepingConfig
    scratch = ("backups", "levels", "action_values")
    config: SweepingConfig

    def choose_verbs(self) -> Verbs:
        """One kind."""
        return VERBS

    def empty_tables(self) -> SweepingTables:
        """Nothing seen, no goal met."""
        S, A, config = self.n_states, self.n_actions, self.config
        return SweepingTables(
            edges=no_edges(S, A),
            V=np.empty((0, S)),
            slot=np.full(S, -1),
            queue=empty_queue(S),
            clock=no_episode(),
            backups=np.array([config.backups]),
            levels=np.array([float(config.threshold), float(config.dead_end)]),
            action_values=np.empty(A),
        )

    def prepare(self, goal: int) -> None:
        """Make V for a goal never met before; queue what was learned while other goals were in use."""
        tables = self.tables
        if tables.slot[goal] < 0:
            met = int(tables.slot.max()) + 1
            if met == len(tables.V):
                room = np.full((max(1, met), self.n_states), self.tables.levels[1])
                tables = self.tables = tables._replace(V=np.concatenate([tables.V, room]))
            tables.slot[goal] = met
            tables.V[met, goal] = 0.0
        threshold, D = tables.levels
        queue_all(tables.edges, tables.V[tables.slot[goal]], tables.queue, goal, D, threshold)

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) Q(s, .): as it stands for the goal in use, swept to a standstill for any other."""
        state = self._state(state)
        values = np.empty(self.n_actions)
        swept_values(self.tables.edges, self._swept(goal), state, self.tables.levels[1], values)
        return values

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        table = np.empty((self.n_states, self.n_actions))
        swept_table(self.tables.edges, self._swept(goal), self.tables.levels[1], table)
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

    def _swept(self, goal: int) -> Floats:
        """V of any goal: of the one in use, or swept to a standstill for the question."""
        goal = self._state(goal, "goal")
        tables = self.tables
        if goal == self.goal:
            current: Floats = tables.V[tables.slot[goal]]
            return current
        threshold, D = tables.levels
        met = tables.slot[goal] >= 0
        V: Floats = tables.V[tables.slot[goal]].copy() if met else np.full(self.n_states, D)
        V[goal] = 0.0
        queue = empty_queue(self.n_states)
        queue_all(tables.edges, V, queue, goal, D, threshold)
        sweep(tables.edges, V, queue, goal, D, threshold, ENDLESS)
        return V
