"""An agent's answers about any goal: values, greedy actions, probabilities of arriving.

The value V(s, g) is the largest action value F(s, a, g); greedy actions tie with it. Everything is read from the
agent's tables by its compiled verb `action_values`; nothing here learns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.loops import Verbs, action_table
from fwrl.agents.validation import checked_batch, checked_index
from fwrl.arrays import Floats
from fwrl.errors import FwrlError
from fwrl.kernels.ties import least_tie, pick_best

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Tables = TypeVar("Tables", default=Any)
else:
    from typing import TypeVar

    Tables = TypeVar("Tables")

ValueKind = Literal["path reward", "return", "steps"]


class ValueFunction(Generic[Tables]):
    """Values and greedy actions for any state and goal.

    Attributes:
        tables: values are read from these.
        rng: breaks ties, if you ask for that.
        verbs: the compiled functions for these tables.
    """

    verbs: ClassVar[Verbs]

    n_states: int
    n_actions: int
    tables: Tables
    rng: np.random.Generator

    @property
    def value_kind(self) -> ValueKind | None:
        """The kind of value that's estimated.

        "path reward": the reward of the path to the goal, without the goal reward. "return": with the goal reward.
        "steps": minus the number of steps. None: nothing.
        """
        return "path reward"

    def action_values(self, state: int, goal: int) -> Floats:
        """Return the (A,) values of the actions at a state; `value_kind` says what they estimate.

        -inf for actions without a known path to the goal, if the agent can tell.
        """
        state, goal = self._state(state), self._state(goal, "goal")
        values = np.empty(self.n_actions)
        action_table.of(self.verbs)(self.tables, state, goal, values[None])
        return values

    def action_table(self, goal: int) -> Floats:
        """Return the (S, A) action values of every state, in one compiled call."""
        goal = self._state(goal, "goal")
        table = np.empty((self.n_states, self.n_actions))
        action_table.of(self.verbs)(self.tables, 0, goal, table)
        return table

    def value(self, state: int, goal: int) -> float:
        """Return the value of a state: the largest action value, unless a subclass overrides it."""
        return float(self.action_values(state, goal).max())

    def values(self, goal: int) -> Floats:
        """Return the (S,) values of all states."""
        best: Floats = self.action_table(goal).max(axis=1)
        return best

    def estimated_path_rewards(self, goal: int, step_reward: float | None) -> Floats:
        """Convert the values for a goal to path rewards.

        Args:
            step_reward: the reward of every step, to convert steps to rewards; None if rewards differ.

        Returns:
            (S,) path rewards; NaN if the agent doesn't estimate them.
        """
        kind = self.value_kind
        if kind == "path reward":
            return self.values(goal)
        if kind == "steps" and step_reward:
            return -step_reward * self.values(goal)
        return np.full(self.n_states, np.nan)

    def arrival(self, state: int, goal: int) -> float:
        """Return the estimated probability of ever arriving; NaN if the agent doesn't estimate it."""
        return float(self.arrivals(goal)[self._state(state)])

    def arrivals(self, goal: int) -> Floats:
        """Return the (S,) estimated probabilities of ever arriving; NaN if the agent doesn't estimate them."""
        self._state(goal, "goal")
        return np.full(self.n_states, np.nan)

    def greedy(self, state: int, goal: int) -> int:
        """Return the action with the largest value, the lowest if several tie; this draws nothing."""
        return int(self._best(state, goal).argmax())

    def best_actions(self, goal: int) -> NDArray[np.bool_]:
        """Return (S, A) True for every action whose value ties with the largest of its state."""
        table = self.action_table(goal)
        least = np.array([least_tie(best) for best in table.max(axis=1)])
        ties: NDArray[np.bool_] = table >= least[:, None]
        return ties

    def predict(
        self,
        observation: Mapping[str, Any],
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, None]:
        """Return greedy actions for observations of a goal environment, with the interface of Stable-Baselines3.

        Args:
            observation: states under "observation" and "desired_goal": one each, (n,) or (n, 1); a single one goes with
                all of the other.
            state: ignored; these policies have no hidden state.
            episode_start: ignored.
            deterministic: False to break ties at random, with the agent's generator.

        Returns:
            The action, or (n,) actions, and None.
        """
        try:
            asked = [(key, observation[key]) for key in ("observation", "desired_goal")]
        except (KeyError, TypeError, IndexError):
            raise FwrlError(
                f"expected an observation with the keys 'observation' and 'desired_goal', got {observation!r}"
            ) from None
        states, goals = (checked_batch(values, self.n_states, key) for key, values in asked)
        try:
            pairs = np.broadcast(states, goals)
        except ValueError:
            raise FwrlError(
                f"got {len(states)} states but {len(goals)} goals; pass the same number of both, or a single one"
            ) from None
        chosen = [
            int(pick_best(self._best(int(s), int(g)).astype(np.float64), self.rng.random()))
            if not deterministic
            else self.greedy(int(s), int(g))
            for s, g in pairs
        ]
        return np.array(chosen, dtype=np.int64) if pairs.ndim else chosen[0], None

    def _best(self, state: int, goal: int) -> NDArray[np.bool_]:
        """(A,) the greedy actions of one state."""
        values = self.action_values(state, goal)
        ties: NDArray[np.bool_] = values >= least_tie(float(values.max()))
        return ties

    def _state(self, state: int, what: str = "state") -> int:
        return checked_index(state, self.n_states, f"a {what}")
