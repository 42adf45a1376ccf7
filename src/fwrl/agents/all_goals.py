"""Agents that learn about every goal from every step: one table over (state, action, goal).

At the goal itself the table holds the value of leaving and coming back; the value of being there is 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.errors import OptionError

Floats = NDArray[np.float64]

LARGEST_TABLE = 8 * 2**30  # bytes


def table_of_pairs(n_states: int, n_actions: int, fill: float) -> Floats:
    """S x A x S numbers, if they fit."""
    size = 8 * n_states * n_states * n_actions
    if size > LARGEST_TABLE:
        raise OptionError(
            f"expected a table of at most {LARGEST_TABLE / 2**30:.0f} GiB, all goals of {n_states:,} states with "
            f"{n_actions} actions need {size / 2**30:,.1f} GiB; use a smaller world"
        )
    return np.full((n_states, n_actions, n_states), float(fill))


def check_number(name: str, value: object, least: float = -np.inf) -> None:
    """Refuse an option that is not a finite number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value) or value < least:
        bound = "" if least == -np.inf else f" of at least {least:g}"
        raise OptionError(f"expected {name} to be a finite number{bound}, got {value!r}")


def check_whole(name: str, value: object, least: int) -> None:
    """Refuse an option that is not a whole number of at least `least`, or is beyond any use."""
    if type(value) is not int or not least <= value <= 10**9:
        raise OptionError(f"expected {name} to be a whole number of at least {least}, got {value!r}")


class AllGoalsAgent(Agent):
    """An agent whose action values are those of leaving, also at the goal."""

    def value(self, state: int, goal: int) -> float:
        """The best of the action values; 0 at the goal."""
        return 0.0 if state == goal else super().value(state, goal)

    def values(self, goal: int) -> Floats:
        """(S,) the value of every state for one goal; 0 at the goal."""
        values = super().values(goal)
        values[goal] = 0.0
        return values
