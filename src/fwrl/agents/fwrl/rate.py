"""FWRL with `objective="rate"`: the reward per step of an endless episode, goal rewards included.

The triangle inequality holds for r - rho as it does for r. So for a goal with the rate rho (see `kernels.rate`), the
edges take the rewards r - rho, and everything that follows from them, columns, frontier and potential, is made anew
when an episode begins. `paid` keeps the rewards as they were observed. A cycle that is observed to earn more than rho a
step is no error here: it raises rho to its own reward per step.

Values are path rewards: those of the path that is best for rho. An action that is not the best has that value less what
it loses, time counted at rho a step; so the largest action value belongs to the action that the agent takes.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import DEFAULT_STEPS
from fwrl.agents.fwrl.column_updates import OUTDATED, ColumnTables
from fwrl.agents.fwrl.columns import ColumnsFwrl, SparseFwrl
from fwrl.agents.fwrl.expected import ExpectedFwrl
from fwrl.agents.fwrl.optimistic import OptimisticFwrl
from fwrl.agents.model_rate import RateModelAgent
from fwrl.agents.sections import Sections, income_sections
from fwrl.agents.soundness import check_income
from fwrl.kernels.closure import path_rewards
from fwrl.kernels.graph.compact_edges import EDGES, SORTED, CompactEdges, incoming, outgoing
from fwrl.kernels.graph.heap import clear
from fwrl.kernels.graph.incoming_csr import IncomingCsr
from fwrl.kernels.graph.potential import potential
from fwrl.kernels.graph.shortest_paths import ShortestPaths
from fwrl.kernels.rate import STEPS, CycleError, Trips, above, as_path_rewards, best_rate, no_income
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]

RATE = {"rate": "rate.rho", **income_sections("rate.income")}


@compiled
def fill_values(V: Floats, edges: CompactEdges, s: int, values: Floats) -> None:
    """Fill `values` (A,) with F(s, ., g), given the column V(., g)."""
    path_rewards(V, outgoing(edges), s, values)


@compiled
def fill_table(V: Floats, edges: CompactEdges, table: Floats) -> None:
    """Fill `table` (S, A) with the same for every state."""
    for s in range(len(table)):
        path_rewards(V, outgoing(edges), s, table[s])


class Answer(NamedTuple):
    """The best paths to one goal, with r - rho in place of r."""

    column: Floats  # (S,)
    path_reward: Floats  # (S,)
    edges: CompactEdges


class RateFwrl(SparseFwrl[Any]):
    """FWRL on columns for the reward per step, whatever its explorer."""

    _asked: tuple[tuple[int, int, int, int, float | None], Answer] | None = None  # of the latest query

    def empty_columns(self) -> ColumnTables:
        """No path known, nothing earned."""
        tables = super().empty_columns()
        paid = np.zeros(len(tables.edges.best))
        return tables._replace(rate=tables.rate._replace(income=no_income(self.n_states, on=True), paid=paid))

    def reserve(self, observations: int) -> None:
        """Make room for this many more edges."""
        super().reserve(observations)
        rate, capacity = self.tables.rate, len(self.tables.edges.best)
        if len(rate.paid) < capacity:
            paid = np.concatenate([rate.paid, np.zeros(capacity - len(rate.paid))])
            self.tables = self.tables._replace(rate=rate._replace(paid=paid))

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode with the best rate known for its goal; the next step begins a trip."""
        super().begin_episode(goal, steps, explore=explore)
        self.tables.rate.income.trip_begins[0] = 1

    def prepare(self, goal: int) -> None:
        """Find the rate of the goal, and make its column."""
        rho = self._rho(goal)
        if rho != self.tables.rate.rho[0]:
            self._take_rho(rho)
        super().prepare(goal)

    def settle(self, *, before_acting: bool = True, at: int | None = None) -> None:
        """Raise rho to the reward per step of the cycle that the latest observation has closed."""
        rate = self.tables.rate
        if not rate.cycle[0]:
            return
        rate.cycle[0] = 0
        rho = float(rate.rho[0])
        while True:
            try:
                self._potential(rho)
                break
            except CycleError as cycle:
                rho = above(rho, cycle)
        self._take_rho(rho)
        if self.goal is not None:
            self._column(self.goal)

    def saved_tables(self) -> Any:
        """The tables without spare capacity, with the rewards of edges as they were paid."""
        tables = super().saved_tables()
        best = self.tables.rate.paid[: len(tables.edges.best)]
        return tables._replace(edges=tables.edges._replace(best=best))

    def derive(self, tables: Any) -> None:
        """Take rho off the rewards, which are as they were paid; then compute what follows from the edges."""
        E = int(tables.edges.used[EDGES])
        tables.edges.best[:E] = tables.rate.paid[:E] - tables.rate.rho[0]
        tables.edges.used[SORTED] = 0
        super().derive(tables)

    def completed_tables(self, saved: Any) -> Any:
        """Check what was earned, and compute everything that follows from the edges and rho."""
        check_income(saved.rate.income, saved.rate.rho, self.n_states)
        paid = np.zeros(max(len(saved.rate.paid), len(saved.edges.best)))
        paid[: len(saved.edges.best)] = saved.edges.best
        return super().completed_tables(saved._replace(rate=saved.rate._replace(paid=paid)))

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) the value of the state, less what each action loses to the best one at rho a step."""
        state, answer = self._state(state), self._answer(goal)
        values = np.empty(self.n_actions)
        fill_values(answer.column, answer.edges, state, values)
        return as_path_rewards(values, answer.path_reward[state])

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        answer = self._answer(goal)
        table = np.empty((self.n_states, self.n_actions))
        fill_table(answer.column, answer.edges, table)
        return as_path_rewards(table, answer.path_reward)

    def value(self, state: int, goal: int) -> float:
        """The reward of the path with the best rate; 0 at the goal, -inf where no path is known."""
        return float(self.values(goal)[self._state(state)])

    def values(self, goal: int) -> Floats:
        """(S,) the same for every state."""
        return self._answer(goal).path_reward.copy()

    def _rho(self, goal: int) -> float:
        return best_rate(self.tables.rate.income, goal, partial(self._trips, goal))

    def _trips(self, goal: int, rho: float) -> Trips:
        routes = ShortestPaths(*self._potential(rho)).routes(goal)
        return Trips(routes.value, np.maximum(routes.steps, 0).astype(np.float64), np.ones(self.n_states))

    def _potential(self, rho: float) -> tuple[IncomingCsr, Floats]:
        """The edges with r - rho in place of r, and their potential; `CycleError` where there is none."""
        edges = self.tables.edges
        sorted_edges = incoming(edges)
        E = len(sorted_edges.source)
        reward = np.empty(E)
        reward[edges.place[:E]] = self.tables.rate.paid[:E] - rho
        charged = sorted_edges._replace(reward=reward)
        if not (reward > 0.0).any():
            return charged, np.zeros(self.n_states)
        h, cycle = potential(charged)
        if len(cycle):
            steps = zip(cycle.tolist(), np.roll(cycle, -1).tolist(), strict=True)
            raise CycleError(rho + float(np.mean([_best_step(charged, x, y) for x, y in steps])))
        return charged, h

    def _take_rho(self, rho: float) -> None:
        """Make rho the rate of the edges, and everything anew that follows from them."""
        tables = self.tables
        tables.rate.rho[0] = rho
        clear(tables.heap)
        tables.columns.change[:] = OUTDATED
        self.derive(tables)

    def _answer(self, goal: int) -> Answer:
        """The best paths to any goal; with the rate in use for the goal in use, else with the best rate known."""
        goal, tables = self._state(goal, "goal"), self.tables
        in_use = float(tables.rate.rho[0]) if goal == self.goal else None
        version = self.n_states, goal, int(tables.edges.changes[0]), int(tables.rate.income.sums[STEPS]), in_use
        if self._asked is None or self._asked[0] != version:
            rho = self._rho(goal) if in_use is None else in_use
            known = tables.edges._replace(best=tables.rate.paid - rho)
            trips = self._trips(goal, rho)
            self._asked = version, Answer(trips.value, trips.value + rho * trips.steps, known)
        return self._asked[1]


def _best_step(edges: IncomingCsr, x: int, y: int) -> float:
    """The largest reward of a step from x to y."""
    into = slice(int(edges.first[y]), int(edges.first[y + 1]))
    return float(edges.reward[into][edges.source[into] == x].max())


class RateColumnsFwrl(RateFwrl, ColumnsFwrl):
    """The agent on columns, for the reward per step."""

    sections: ClassVar[Sections] = {**ColumnsFwrl.sections, **RATE}


class RateOptimisticFwrl(RateFwrl, OptimisticFwrl):
    """The agent on columns with the optimistic explorer, for the reward per step."""

    sections: ClassVar[Sections] = {**OptimisticFwrl.sections, **RATE}


class RateExpectedFwrl(RateModelAgent, ExpectedFwrl):
    """FWRL on expected outcomes, for the reward per step."""
