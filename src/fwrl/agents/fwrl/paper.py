"""FWRL with `relaxation="paper"`: the pseudo-code of Algorithm 1 to the letter.

It assigns F(s_t, a_t, s_{t+1}) <- r_t and relaxes through s_t. The inequality is therefore enforced one step late, and
a worse outcome overwrites a better one.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import no_episode
from fwrl.agents.fwrl.agent import FwrlAgent
from fwrl.agents.options import check_table_size
from fwrl.agents.sections import Sections
from fwrl.agents.verbs import LEARNED, POSITIVE_CYCLE, register_verbs
from fwrl.errors import FileError
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.relaxation import relax_through
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN, largest

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class PaperTables(NamedTuple):
    """F itself. `changes[0]` counts changes of F; `relaxed[k]` is that count when k was last relaxed through."""

    F: Floats  # (S, A, S)
    episode: Ints
    changes: Ints  # (1,)
    relaxed: Ints  # (S,)
    onward: Floats  # (S,)
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step counts as -1


@compiled
def act(agent: PaperTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on F(s, ., g)."""
    return epsilon_greedy(agent.F[s, :, agent.episode[GOAL]], agent.episode, rng)


@compiled
def observe(agent: PaperTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """F(s_t, a_t, s_{t+1}) <- r_t, then relax through s_t.

    If F has not changed since the last relaxation through s_t, another one would change nothing.
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
def action_values(agent: PaperTables, s: int, g: int, values: Floats) -> None:
    """F(s, ., g)."""
    for a in range(len(values)):
        values[a] = agent.F[s, a, g]


class PaperFwrl(FwrlAgent[PaperTables]):
    """Algorithm 1 of the paper."""

    verbs = register_verbs(PaperTables, act, observe, action_values)
    sections: ClassVar[Sections] = {
        "path-rewards": "F",
        "relaxation/changes": "changes",
        "relaxation/relaxed-at": "relaxed",
    }

    def empty_tables(self) -> PaperTables:
        """No path known."""
        S, A = self.n_states, self.n_actions
        what = f"{S:,} states with relaxation='paper'"
        check_table_size(8 * S * S * A, what, "use storage='columns' with relaxation='exact', or a smaller world")
        return PaperTables(
            F=np.full((S, A, S), -np.inf),
            episode=no_episode(),
            changes=np.zeros(1, np.int64),
            relaxed=np.full(S, -1),
            onward=np.empty(S),
            action_values=np.empty(A),
            counts_steps=np.array([int(self.value_kind == "steps")]),
        )

    def check_tables(self) -> None:
        """Check shapes."""
        S, A, tables = self.n_states, self.n_actions, self.tables
        if tables.F.shape != (S, A, S) or len(tables.relaxed) != S or len(tables.changes) != 1:
            raise FileError(f"expected tables for {S} states and {A} actions")

    def values(self, goal: int) -> Floats:
        """(S,) V(., g)."""
        goal = self._state(goal, "goal")
        column: Floats = self.tables.F[:, :, goal].max(axis=1)
        column[goal] = 0.0
        return column
