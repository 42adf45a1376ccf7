"""Floyd-Warshall Reinforcement Learning, Algorithm 1 of the paper.

F(s, a, g) is the best known total reward on the way from s, starting with a, to any g. After every step the
triangle inequality

    F(i, a, j) >= F(i, a, k) + max_b F(k, b, j)

is enforced, so two trips that share a state answer a third that nobody made.

`relaxation="paper"` is the pseudo-code to the letter: it assigns F(s_t, a_t, s_{t+1}) <- r_t and relaxes through
s_t, which closes one step late and lets a worse outcome overwrite a better one. `relaxation="exact"` keeps the
best reward of each (s, a, s') and the fixed point of the inequality after every step (see `kernels.closure`).
Steps with the goal reward are not learned from.

`backup="expected"` and `explorer="optimistic"` go beyond the paper: see `agents.expected` and `agents.optimistic`.

`storage="dense"` keeps V for every pair of states, S x S numbers; `storage="columns"` only for the goals in use,
and then learns in worlds of a million states (see `columns`). Both believe the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from fwrl.agents import columns
from fwrl.agents.agent import Agent, Config, no_episode
from fwrl.agents.columns import COLUMNS, ColumnTables
from fwrl.agents.model import Explorer, check_choice
from fwrl.agents.verbs import LEARNED, POSITIVE_CYCLE, Verbs, register_verbs
from fwrl.errors import FileError, OptionError
from fwrl.kernels.closure import Walk, close_over, closure_scratch, nothing_known, path_rewards
from fwrl.kernels.exploration import GOAL, epsilon_greedy, epsilon_greedy_from
from fwrl.kernels.graph.edges import (
    NONE,
    Edges,
    add_edge,
    check_edges,
    find_edge,
    no_edges,
    see_edge,
)
from fwrl.kernels.greedy import Greedy, nothing_remembered, remember
from fwrl.kernels.relaxation import relax_through
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.ties import LEAST_GAIN, improves, largest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

Relaxation = Literal["exact", "paper"]
Objective = Literal["reward", "steps"]
Backup = Literal["best", "expected"]
Storage = Literal["auto", "dense", "columns"]
LARGEST_DENSE = 2000  # states up to which "auto" is dense
LARGEST_TABLE = 8 * 2**30  # bytes


@dataclass(frozen=True)
class FwrlConfig(Config):
    """`relaxation`: "exact", or "paper" for Algorithm 1 to the letter. `objective`: "reward", or "steps" to
    count every step as -1, as the paper's predecessor (Kaelbling 1993) did. `storage`: "dense", "columns", or
    "auto" for dense up to 2,000 states. `memory`: MB for columns of goals other than the one in use. `backup`:
    "best", the paper's, or "expected", the mean over observed outcomes. `explorer`: "epsilon-greedy" or "optimistic".
    """

    relaxation: Relaxation = "exact"
    backup: Backup = "best"
    explorer: Explorer = "epsilon-greedy"
    objective: Objective = "reward"
    storage: Storage = "auto"
    memory: int = 256

    def __post_init__(self) -> None:
        choices = {
            "relaxation": Relaxation,
            "backup": Backup,
            "explorer": Explorer,
            "objective": Objective,
            "storage": Storage,
        }
        for name, choice in choices.items():
            check_choice(name, getattr(self, name), get_args(choice))
        if self.relaxation == "paper" and (self.backup, self.explorer) != ("best", "epsilon-greedy"):
            raise OptionError(
                "expected backup='best' and explorer='epsilon-greedy' with relaxation='paper', which is Algorithm 1 "
                f"to the letter, got {self.backup!r} and {self.explorer!r}"
            )
        if self.storage == "columns" and (self.backup, self.explorer) != ("best", "epsilon-greedy"):
            raise OptionError(
                "expected backup='best' and explorer='epsilon-greedy' with storage='columns', got "
                f"{self.backup!r} and {self.explorer!r}"
            )
        if self.relaxation == "paper" and self.storage == "columns":
            raise OptionError(
                "expected relaxation='exact' with storage='columns', got 'paper', which relaxes all of F at every "
                "step; use storage='dense'"
            )
        if type(self.memory) is not int or self.memory < 0:
            raise OptionError(f"expected memory as a whole number of MB, got {self.memory!r}")


class ExactTables(NamedTuple):
    """V and the edges; F follows from them."""

    V: Floats  # (S, S) goal-major
    edges: Edges
    episode: Ints
    walk: Walk
    greedy: Greedy
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step is worth -1


class PaperTables(NamedTuple):
    """F itself. `changes[0]` counts changes of F; `relaxed[k]` is that count when k was last relaxed through."""

    F: Floats  # (S, A, S)
    episode: Ints
    changes: Ints  # (1,)
    relaxed: Ints  # (S,)
    onward: Floats  # (S,)
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step is worth -1


@compiled
def act_exact(agent: ExactTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on F(s, ., g)."""
    if agent.greedy.made[s] != agent.greedy.changes[0]:
        path_rewards(agent.V, agent.edges, s, agent.episode[GOAL], agent.action_values)
        remember(agent.greedy, s, agent.action_values)
    return epsilon_greedy_from(agent.greedy, s, agent.episode, rng)


@compiled
def observe_exact(agent: ExactTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """F(s, a, s') >= r, and the triangle inequality everywhere."""
    if arrived:
        return LEARNED
    if agent.counts_steps[0] != 0:
        r = -1.0
    pair = s * len(agent.action_values) + a
    e = find_edge(agent.edges, pair, next_s)
    if e != NONE and r <= agent.edges.best[e]:
        agent.edges.times[e] += 1
        agent.edges.total[e] += r
        return LEARNED
    if r + agent.V[s, next_s] > LEAST_GAIN:
        return POSITIVE_CYCLE
    if e == NONE:
        e = add_edge(agent.edges, pair, next_s)
    see_edge(agent.edges, e, r)
    agent.greedy.changes[0] += 1
    if improves(r, agent.V[next_s, s]):
        close_over(agent.V, agent.edges, agent.walk, s, r, next_s)
    return LEARNED


@compiled
def action_values_exact(agent: ExactTables, s: int, g: int, values: Floats) -> None:
    """F(s, ., g)."""
    path_rewards(agent.V, agent.edges, s, g, values)


@compiled
def act_paper(agent: PaperTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on F(s, ., g)."""
    return epsilon_greedy(agent.F[s, :, agent.episode[GOAL]], agent.episode, rng)


@compiled
def observe_paper(agent: PaperTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """F(s_t, a_t, s_{t+1}) <- r_t, then relax through s_t.

    Where F has not changed since s_t was last relaxed through, doing it again would change nothing.
    """
    if arrived:
        return LEARNED
    if agent.counts_steps[0] != 0:
        r = -1.0
    F = agent.F
    back = 0.0 if next_s == s else largest(F[next_s, :, s])
    if r + back > LEAST_GAIN:
        return POSITIVE_CYCLE
    if F[s, a, next_s] != r:
        F[s, a, next_s] = r
        agent.changes[0] += 1
    if agent.relaxed[s] != agent.changes[0]:
        if relax_through(F, s, agent.onward):
            agent.changes[0] += 1
        agent.relaxed[s] = agent.changes[0]
    return LEARNED


@compiled
def action_values_paper(agent: PaperTables, s: int, g: int, values: Floats) -> None:
    """F(s, ., g)."""
    for a in range(len(values)):
        values[a] = agent.F[s, a, g]


EXACT = register_verbs(ExactTables, act_exact, observe_exact, action_values_exact)
PAPER = register_verbs(PaperTables, act_paper, observe_paper, action_values_paper)


class Fwrl(Agent):
    """The paper's agent: stitches past trips into paths to any goal."""

    name = "fwrl"
    description = "Floyd-Warshall RL: the triangle inequality stitches past trips to any goal"
    Config = FwrlConfig
    scratch: tuple[str, ...] = ("walk", "greedy", "onward", "action_values", "counts_steps")
    config: FwrlConfig

    @classmethod
    def made_for(cls, config: FwrlConfig) -> type[Agent]:
        """Another class for the mean backup, and for the optimistic explorer."""
        if config.backup == "expected":
            from fwrl.agents.expected import ExpectedFwrl

            return ExpectedFwrl
        if config.explorer == "optimistic":
            from fwrl.agents.optimistic import OptimisticFwrl

            return OptimisticFwrl
        return cls

    @property
    def storage(self) -> Storage:
        """Dense or columns, "auto" resolved."""
        if self.config.storage != "auto":
            return self.config.storage
        plain = self.config.relaxation == "exact" and self.config.explorer == "epsilon-greedy"
        large = self.n_states > LARGEST_DENSE and plain
        return "columns" if large else "dense"

    def verbs_of_config(self) -> Verbs:
        """Those of the relaxation and the storage."""
        if self.storage == "columns":
            return COLUMNS
        return EXACT if self.config.relaxation == "exact" else PAPER

    def empty_tables(self) -> ExactTables | PaperTables | ColumnTables:
        """No path known."""
        S, A = self.n_states, self.n_actions
        steps = self.config.objective == "steps"
        if self.storage == "columns":
            self.scratch = columns.SCRATCH
            return columns.no_columns(S, A, self.config.memory, counts_steps=steps)
        exact = self.config.relaxation == "exact"
        size = 8 * S * S * (1 if exact else A)
        if size > LARGEST_TABLE:
            raise OptionError(
                f"expected a table of at most {LARGEST_TABLE / 2**30:.0f} GiB, {S:,} states with "
                f"relaxation={self.config.relaxation!r} need {size / 2**30:,.1f} GiB; "
                "use storage='columns' with relaxation='exact', or a smaller world"
            )
        counts_steps = np.array([int(steps)])
        if exact:
            return ExactTables(
                nothing_known(S),
                no_edges(S, A),
                no_episode(),
                closure_scratch(S),
                nothing_remembered(S, A),
                np.empty(A),
                counts_steps,
            )
        F = np.full((S, A, S), -np.inf)
        changes, relaxed = np.zeros(1, np.int64), np.full(S, -1)
        return PaperTables(F, no_episode(), changes, relaxed, np.empty(S), np.empty(A), counts_steps)

    def reserve(self, observations: int) -> None:
        """Make room for this many more observations."""
        if isinstance(self.tables, ColumnTables):
            self.tables = columns.reserve(self.tables, observations)
        else:
            super().reserve(observations)

    def prepare(self, goal: int) -> None:
        """Another goal, another column, other best actions."""
        if isinstance(self.tables, ColumnTables):
            columns.take_up(self.tables, goal)
        elif not isinstance(self.tables, PaperTables):
            self.tables.greedy.changes[0] += 1

    def saved_tables(self) -> ExactTables | PaperTables | ColumnTables:
        """Without room for more columns' edges."""
        if isinstance(self.tables, ColumnTables):
            return columns.trimmed(self.tables)
        tables: ExactTables | PaperTables = self.tables
        return tables

    def check_tables(self) -> None:
        """Shapes and edge indices; columns are made anew."""
        S, A = self.n_states, self.n_actions
        if isinstance(self.tables, ColumnTables):
            self.tables = columns.completed(self.tables, S, A)
            return
        if not isinstance(self.tables, PaperTables):
            sound = self.tables.V.shape == (S, S)
            check_edges(self.tables.edges, S, A)
        else:
            sound = self.tables.F.shape == (S, A, S) and len(self.tables.relaxed) == S
            sound = sound and len(self.tables.changes) == 1
        if not sound:
            raise FileError(f"expected tables for {S} states and {A} actions")

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) F(s, ., g): the best known path reward of each action, -inf where it leads to no known path."""
        if isinstance(self.tables, ColumnTables):
            columns.make_current_at(self.tables, self._state(state), self._state(goal, "goal"))
        return super().action_values(state, goal)

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        if isinstance(self.tables, ColumnTables):
            columns.column(self.tables, self._state(goal, "goal"))
        return super().action_table(goal)

    def value(self, state: int, goal: int) -> float:
        """V(s, g): the best known path reward; 0 at the goal, -inf where no path is known."""
        return 0.0 if state == goal else super().value(state, goal)

    def values(self, goal: int) -> Floats:
        """(S,) V(., g)."""
        goal = self._state(goal, "goal")
        if isinstance(self.tables, ColumnTables):
            return columns.column(self.tables, goal).copy()
        if not isinstance(self.tables, PaperTables):
            known: Floats = self.tables.V[goal].copy()
            return known
        column: Floats = self.tables.F[:, :, goal].max(axis=1)
        column[goal] = 0.0
        return column

    def arrival(self, state: int, goal: int) -> float:
        """1 where a path is known, 0 elsewhere: this agent takes its best outcomes for certain."""
        return float(self.value(state, goal) > -np.inf)

    def arrivals(self, goal: int) -> Floats:
        """(S,) the same for every state."""
        return (self.values(goal) > -np.inf).astype(np.float64)
