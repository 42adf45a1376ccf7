"""Common parts of the variants of FWRL with a table of all pairs: values, greedy actions, terminated states."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.agents.fwrl.options import DESCRIPTION, NAME, FwrlConfig
from fwrl.agents.value_function import Tables, ValueKind
from fwrl.arrays import Floats
from fwrl.kernels.edges import EDGES
from fwrl.kernels.exploration import DEFAULT_STEPS, take_greedy
from fwrl.kernels.mdp.answers import closer_actions


class FwrlAgent(Agent[Tables]):
    """An agent whose action values are F(s, a, g): -inf if no path is known.

    Its tables have the fields `edges`, `terminated` (S,) and `greedy`, a cache of the best actions for the current
    goal.
    """

    name = NAME
    description = DESCRIPTION
    Config = FwrlConfig
    config: FwrlConfig
    tables: Any

    @property
    def value_kind(self) -> ValueKind:
        """Path reward, or steps if every step counts as -1."""
        return "steps" if self.config.objective == "steps" else "path reward"

    def prepare(self, goal: int) -> None:
        """Discard the cached greedy actions of the last goal."""
        self.tables.greedy.changes[0] += 1

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode; without exploration, take only actions that get closer to the goal."""
        super().begin_episode(goal, steps, explore=explore)
        if not explore and self._has_free_steps():
            take_greedy(self.tables.greedy, self.best_actions(goal))

    def mark_terminated(self, state: int) -> bool:
        """Forget paths through a terminated state: nothing follows it."""
        news = not self.tables.terminated[state]
        if news:
            self._set_terminated(state, 1)
        return news

    def unmark_terminated(self, state: int) -> None:
        """Let the environment continue at the state again."""
        self._set_terminated(state, 0)

    def value(self, state: int, goal: int) -> float:
        """V(s, g): the best known path reward; 0 at the goal, -inf if no path is known."""
        state, goal = self._state(state), self._state(goal, "goal")
        return 0.0 if state == goal else super().value(state, goal)

    def arrival(self, state: int, goal: int) -> float:
        """1 if a path is known, else 0: the maximum takes an action's best outcome as certain."""
        return float(self.value(state, goal) > -np.inf)

    def arrivals(self, goal: int) -> Floats:
        """(S,) the same for every state."""
        return (self.values(goal) > -np.inf).astype(np.float64)

    def best_actions(self, goal: int) -> NDArray[np.bool_]:
        """(S, A) the best actions that get closer to the goal; all actions if it can't be reached."""
        if not self._has_free_steps():
            return super().best_actions(goal)
        edges = self.tables.edges
        E = int(edges.used[EDGES])
        pair, target = edges.pair[:E], edges.target[:E]
        return closer_actions(self.action_table(goal), pair // self.n_actions, pair, target, self._state(goal, "goal"))

    def _best(self, state: int, goal: int) -> NDArray[np.bool_]:
        if not self._has_free_steps():
            return super()._best(state, goal)
        best: NDArray[np.bool_] = self.best_actions(goal)[self._state(state)]
        return best

    def _has_free_steps(self) -> bool:
        """Whether some step costs nothing, so that actions may tie without getting closer."""
        edges = self.tables.edges
        return bool(edges.best[: edges.used[EDGES]].max(initial=-np.inf) >= 0.0)

    @abstractmethod
    def _set_terminated(self, state: int, mark: int) -> None:
        """Set or remove the mark that nothing follows a state."""
