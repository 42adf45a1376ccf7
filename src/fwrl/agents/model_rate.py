"""Agents that back up the mean over outcomes, with the reward per step as their objective (see `kernels.rate`).

When an episode begins, rho is the best rate of trips to its goal on the counted outcomes, and the plan is made with
r - rho in place of r. rho stays for the episode, unless a cycle is observed that earns more per step: then it rises to
that. Counts keep the rewards as they were paid, and values are path rewards: those of the policy that is best for rho.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import DEFAULT_STEPS
from fwrl.agents.model import ModelAgent
from fwrl.agents.model_updates import ModelTables
from fwrl.agents.sections import Sections, income_sections
from fwrl.agents.soundness import check_income
from fwrl.kernels.model.plan import Plan
from fwrl.kernels.model.planning import make_plan
from fwrl.kernels.model.positive_means import PositiveMeanError
from fwrl.kernels.model.trips import best_trips, mean_reward
from fwrl.kernels.rate import CycleError, Trips, above, as_path_rewards, best_rate, no_income

Floats = NDArray[np.float64]


class RateModelAgent(ModelAgent):
    """Counts, and exact planning on them for the reward per step."""

    sections: ClassVar[Sections] = {**ModelAgent.sections, "rate": "plan.rho", **income_sections("income")}

    _path_rewards: tuple[tuple[int, int, int, float], Floats] | None = None  # of the latest query

    def empty_tables(self) -> ModelTables:
        """Nothing observed, nothing earned."""
        return super().empty_tables()._replace(income=no_income(self.n_states, on=True))

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode with the best rate known for its goal; the next step begins a trip."""
        super().begin_episode(goal, steps, explore=explore)
        self.tables.income.trip_begins[0] = 1

    def prepare(self, goal: int) -> None:
        """Find the rate of the goal, and plan for it."""
        super().prepare(goal)
        self._find_largest()

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) the value of the state, less what each action loses to the best one at rho a step."""
        return as_path_rewards(super().action_values(state, goal), self.values(goal)[state])

    def action_table(self, goal: int) -> Floats:
        """(S, A) the same for every state."""
        return as_path_rewards(super().action_table(goal), self.values(goal))

    def value(self, state: int, goal: int) -> float:
        """The expected path reward, given arrival, of the policy with the best rate; -inf where it never arrives."""
        return float(self.values(goal)[self._state(state)])

    def values(self, goal: int) -> Floats:
        """(S,) the same for every state."""
        rho = float(self._plan(goal).rho[0])
        version = self.n_states, goal, int(self.tables.greedy.changes[0]), rho
        if self._path_rewards is None or self._path_rewards[0] != version:
            trips = self._trips(goal, rho)
            self._path_rewards = version, trips.value + rho * trips.steps
        return self._path_rewards[1].copy()

    def check_tables(self) -> None:
        """Check what was earned, too."""
        check_income(self.tables.income, self.tables.plan.rho, self.n_states)
        super().check_tables()

    def _rho(self, goal: int) -> float:
        return best_rate(self.tables.income, goal, partial(self._trips, goal))

    def _trips(self, goal: int, rho: float) -> Trips:
        return best_trips(self.tables.edges, self.tables.terminated, goal, rho)

    def _solve(self, plan: Plan, goal: int) -> None:
        while True:
            try:
                make_plan(self.tables.edges, plan, self.tables.terminated, goal)
                break
            except PositiveMeanError as found:
                plan.rho[0] = above(float(plan.rho[0]), CycleError(mean_reward(self.tables.edges, found.pairs)))
        self.tables.greedy.changes[0] += plan is self.tables.plan
