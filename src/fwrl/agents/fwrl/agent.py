"""What the variants of FWRL with the paper's backup, the maximum, have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.agents.fwrl.config import DESCRIPTION, NAME, FwrlConfig
from fwrl.agents.value_function import Tables, ValueKind

Floats = NDArray[np.float64]


class FwrlAgent(Agent[Tables]):
    """An agent whose action values are F(s, a, g): -inf where no path is known."""

    name = NAME
    description = DESCRIPTION
    Config = FwrlConfig
    config: FwrlConfig

    @property
    def value_kind(self) -> ValueKind:
        """Path reward, or steps where every step counts as -1."""
        return "steps" if self.config.objective == "steps" else "path reward"

    def value(self, state: int, goal: int) -> float:
        """V(s, g): the best known path reward; 0 at the goal, -inf where no path is known."""
        state, goal = self._state(state), self._state(goal, "goal")
        return 0.0 if state == goal else super().value(state, goal)

    def arrival(self, state: int, goal: int) -> float:
        """1 where a path is known, 0 elsewhere: the maximum takes the best outcome of an action as certain."""
        return float(self.value(state, goal) > -np.inf)

    def arrivals(self, goal: int) -> Floats:
        """(S,) the same for every state."""
        return (self.values(goal) > -np.inf).astype(np.float64)
