"""FWRL with `relaxation="exact"` and `storage="dense"`: V(s, g) for every pair of states, S x S numbers.

After every step V is the fixed point of the triangle inequality (see `kernels.closure`), and

    F(s, a, g) = max over observed (s, a, s') of best reward(s, a, s') + V(s', g)
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import no_episode
from fwrl.agents.fwrl.agent import FwrlAgent
from fwrl.agents.fwrl.columns import ColumnsFwrl
from fwrl.agents.options import check_table_size
from fwrl.agents.sections import EDGES, Sections
from fwrl.agents.soundness import check_edges
from fwrl.agents.verbs import LEARNED, POSITIVE_CYCLE, register_verbs
from fwrl.errors import FileError
from fwrl.kernels.closure import ClosureScratch, close_over, closure_scratch, nothing_known, path_rewards
from fwrl.kernels.exploration import GOAL, epsilon_greedy_from
from fwrl.kernels.graph.edges import EDGES as EDGE_COUNT
from fwrl.kernels.graph.edges import (
    NONE,
    Edges,
    add_edge,
    find_edge,
    no_edges,
    outgoing,
    see_edge,
)
from fwrl.kernels.model.greedy import Greedy, cache_greedy, empty_greedy
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN, improves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class DenseTables(NamedTuple):
    """V and the edges; F follows from them."""

    V: Floats  # (S, S) goal-major
    edges: Edges
    episode: Ints
    scratch: ClosureScratch
    greedy: Greedy
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step counts as -1


@compiled
def act(agent: DenseTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on F(s, ., g)."""
    if agent.greedy.made[s] != agent.greedy.changes[0]:
        path_rewards(agent.V[agent.episode[GOAL]], outgoing(agent.edges), s, agent.action_values)
        cache_greedy(agent.greedy, s, agent.action_values)
    return epsilon_greedy_from(agent.greedy, s, agent.episode, rng)


@compiled
def observe(agent: DenseTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Enforce F(s, a, s') >= r and the triangle inequality everywhere."""
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
        close_over(agent.V, outgoing(agent.edges), agent.scratch, s, r, next_s)
    return LEARNED


@compiled
def action_values(agent: DenseTables, s: int, g: int, values: Floats) -> None:
    """F(s, ., g)."""
    path_rewards(agent.V[g], outgoing(agent.edges), s, values)


def empty_pairs(n_states: int) -> Floats:
    """(S, S) V with no path known; `OptionError` where it would be too large."""
    what = f"{n_states:,} states with relaxation='exact'"
    check_table_size(8 * n_states * n_states, what, "use storage='columns', or a smaller world")
    return nothing_known(n_states)


def check_pairs(V: Floats, n_states: int) -> None:
    """Check the shape of V as read from a file."""
    if V.shape != (n_states, n_states):
        raise FileError(f"expected path rewards for all pairs of {n_states} states; the file is damaged")


class DenseFwrl(FwrlAgent[DenseTables]):
    """The paper's agent with the inequality enforced after every step."""

    verbs = register_verbs(DenseTables, act, observe, action_values)
    sections: ClassVar[Sections] = {"values": "V", **EDGES}

    def empty_tables(self) -> DenseTables:
        """No path known."""
        S, A = self.n_states, self.n_actions
        return DenseTables(
            V=empty_pairs(S),
            edges=no_edges(S, A),
            episode=no_episode(),
            scratch=closure_scratch(S),
            greedy=empty_greedy(S, A),
            action_values=np.empty(A),
            counts_steps=np.array([int(self.value_kind == "steps")]),
        )

    def prepare(self, goal: int) -> None:
        """Discard the cached greedy actions, which are those of the last goal."""
        self.tables.greedy.changes[0] += 1

    def grow(self, n_states: int) -> None:
        """Make room for more states; beyond those for which storage="auto" is dense, keep columns from now on."""
        if self.config.storage_for(n_states) == "dense":
            super().grow(n_states)
            return
        edges, used = self.tables.edges, int(self.tables.edges.used[EDGE_COUNT])
        states, actions = np.divmod(edges.pair[:used], self.n_actions)
        grown = ColumnsFwrl(n_states, self.n_actions, config=self.config)
        grown.observe_many(states, actions, edges.best[:used], edges.target[:used])
        grown.tables.episode[:] = self.tables.episode
        grown.check_tables()
        # The caller's agent becomes one on columns: `learn` lets an agent grow that its caller holds.
        changed = cast(ColumnsFwrl, self)
        changed.__class__, changed.n_states, changed.tables = ColumnsFwrl, grown.n_states, grown.tables

    def check_tables(self) -> None:
        """Check the shape of V, and the edges."""
        check_edges(self.tables.edges, self.n_states, self.n_actions)
        check_pairs(self.tables.V, self.n_states)

    def values(self, goal: int) -> Floats:
        """(S,) V(., g)."""
        column: Floats = self.tables.V[self._state(goal, "goal")].copy()
        return column
