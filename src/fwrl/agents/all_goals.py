"""Agents that learn about every goal from every step: one table over (state, action, goal).

At the goal itself the table holds the value of leaving and coming back; the value of being there is 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.agents.options import check_table_size
from fwrl.agents.value_function import Tables

Floats = NDArray[np.float64]


def table_of_pairs(n_states: int, n_actions: int, fill: float) -> Floats:
    """(S, A, S) numbers, all `fill`; OptionError if they do not fit into memory."""
    what = f"all goals of {n_states:,} states with {n_actions} actions"
    check_table_size(8 * n_states * n_states * n_actions, what, "use a smaller world")
    return np.full((n_states, n_actions, n_states), float(fill))


class AllGoalsAgent(Agent[Tables]):
    """An agent with action values also at the goal: those of leaving it."""

    def value(self, state: int, goal: int) -> float:
        """The best of the action values; 0 at the goal."""
        state, goal = self._state(state), self._state(goal, "goal")
        return 0.0 if state == goal else super().value(state, goal)

    def values(self, goal: int) -> Floats:
        """(S,) the value of every state for one goal; 0 at the goal."""
        values = super().values(goal)
        values[goal] = 0.0
        return values
