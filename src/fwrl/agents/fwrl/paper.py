"""FWRL with `relaxation="paper"`: the pseudo-code of Algorithm 1 to the letter.

It assigns F(s_t, a_t, s_{t+1}) <- r_t and relaxes through s_t. So the inequality is enforced one step late, and a worse
outcome overwrites a better one. We also keep which steps were seen, only to choose among tied actions one that gets
closer to the goal. From the step that ends at a terminated state, F has no path out of that state.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from fwrl.agents.fwrl.all_pairs import FwrlAgent
from fwrl.agents.loops import LEARNED, POSITIVE_CYCLE, register_verbs
from fwrl.agents.validation import check_table_size
from fwrl.arrays import Count, Field, Floats, Ints, StateMarks
from fwrl.kernels.edges import Edges, count_edge
from fwrl.kernels.exploration import GOAL, Episode, Greedy, cache_greedy, epsilon_greedy_from
from fwrl.kernels.jit import inner
from fwrl.kernels.relaxation import relax_through
from fwrl.kernels.ties import LEAST_GAIN, largest


class PaperTables(NamedTuple):
    """F itself. `changes[0]` counts changes of F; `relaxed[k]` is that count when k was last relaxed through."""

    F: Annotated[Floats, Field("S A S", fill=-np.inf)]
    edges: Edges
    terminated: StateMarks  # 1 if an environment was seen to end there
    episode: Episode
    changes: Annotated[Ints, Field("1", np.int64)]
    relaxed: Annotated[Ints, Field("S", np.int64, fill=-1)]
    onward: Annotated[Floats, Field("S", saved=False)]
    greedy: Greedy
    counts_steps: Count  # 1 if every step counts as -1


@inner
def act(agent: PaperTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on F(s, ., g)."""
    if agent.greedy.made[s] != agent.greedy.changes[0]:
        cache_greedy(agent.greedy, s, agent.F[s, :, agent.episode[GOAL]])
    return epsilon_greedy_from(agent.greedy, s, agent.episode, rng)


@inner
def observe(agent: PaperTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """F(s_t, a_t, s_{t+1}) <- r_t, then relax through s_t.

    If F hasn't changed since the last relaxation through s_t, another one would change nothing.
    """
    if arrived or agent.terminated[s] != 0:
        return LEARNED
    if agent.counts_steps[0] != 0:
        r = -1.0
    F = agent.F
    back = 0.0 if next_s == s else largest(F[next_s, :, s])
    if r + back > LEAST_GAIN:
        return POSITIVE_CYCLE
    count_edge(agent.edges, s * F.shape[1] + a, next_s, r)
    if F[s, a, next_s] != r:
        F[s, a, next_s] = r
        agent.changes[0] += 1
    if agent.relaxed[s] != agent.changes[0]:
        if relax_through(F, s, agent.onward):
            agent.changes[0] += 1
        agent.relaxed[s] = agent.changes[0]
        agent.greedy.changes[0] += 1
    return LEARNED


@inner
def action_values(agent: PaperTables, s: int, g: int, values: Floats) -> None:
    """F(s, ., g)."""
    for a in range(len(values)):
        values[a] = agent.F[s, a, g]


class PaperFwrl(FwrlAgent[PaperTables]):
    """Algorithm 1 of the paper."""

    verbs = register_verbs(PaperTables, act, observe, action_values)
    _forgotten: Floats  # paths out of the state marked last

    def empty_tables(self) -> PaperTables:
        """No known paths."""
        S, A = self.n_states, self.n_actions
        what = f"{S:,} states with relaxation='paper'"
        check_table_size(8 * S * S * A, what, "use storage='columns' with relaxation='exact', or a smaller world")
        tables = super().empty_tables()
        tables.counts_steps[0] = self.value_kind == "steps"
        return tables

    def values(self, goal: int) -> Floats:
        """(S,) V(., g)."""
        goal = self._state(goal, "goal")
        column: Floats = self.tables.F[:, :, goal].max(axis=1)
        column[goal] = 0.0
        return column

    def _set_terminated(self, state: int, mark: int) -> None:
        """Set the mark and forget the paths out of the state, or undo both."""
        tables = self.tables
        if mark:
            self._forgotten = tables.F[state].copy()
        tables.terminated[state] = mark
        tables.F[state] = -np.inf if mark else self._forgotten
        tables.changes[0] += 1
        tables.greedy.changes[0] += 1
