"""The distinct steps that one agent has observed.

FWRL's backup keeps the best outcome of a step for ever. When a wall is drawn, the steps through it are still believed.
The record says which observed steps the world no longer has, and an agent that shall forget them is made anew from the
others.
"""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.worlds import World


class Observed(NamedTuple):
    """One observed step."""

    state: int
    action: int
    reward: float
    next_state: int


class Experience:
    """The distinct steps, in the order of their first observation.

    >>> experience = Experience(3, 1)
    >>> steps = np.array([0, 1, 0]), np.zeros(3, int), -np.ones(3), np.array([1, 2, 1])
    >>> experience.record(*steps)
    >>> len(experience.steps), experience.entered.tolist()
    (2, [False, True, True])
    """

    def __init__(self, n_states: int, n_actions: int) -> None:
        self._n_actions = n_actions
        self.steps: dict[Observed, None] = {}
        self.entered = np.zeros(n_states, dtype=np.bool_)
        # The last two outcomes of each (s, a), by which repetitions are recognised; wind adds one to the calm.
        self._next_state = np.full((2, n_states * n_actions), -1)
        self._reward = np.zeros((2, n_states * n_actions))

    def __deepcopy__(self, memo: dict[int, Any]) -> Experience:
        twin = copy.copy(self)
        twin.steps = dict(self.steps)
        twin.entered = self.entered.copy()
        twin._next_state = self._next_state.copy()
        twin._reward = self._reward.copy()
        return twin

    def record(self, state: Ints, action: Ints, reward: Floats, next_state: Ints) -> None:
        """Record observed steps in order."""
        pair = state * self._n_actions + action
        known = (self._next_state[0][pair] == next_state) & (self._reward[0][pair] == reward)
        if known.all():
            return
        known |= (self._next_state[1][pair] == next_state) & (self._reward[1][pair] == reward)
        for k in np.flatnonzero(~known).tolist():
            step = Observed(int(state[k]), int(action[k]), float(reward[k]), int(next_state[k]))
            if step not in self.steps:
                self.steps[step] = None
                self.entered[step.next_state] |= step.state != step.next_state
            self._remember(int(pair[k]), step)

    def _remember(self, pair: int, step: Observed) -> None:
        for recent, value in ((self._next_state, step.next_state), (self._reward, step.reward)):
            recent[1, pair] = recent[0, pair]
            recent[0, pair] = value

    def impossible(self, world: World) -> list[Observed]:
        """The observed steps that `world` does not have."""
        return [step for step in self.steps if not _possible(world, step)]

    def without(self, forgotten: list[Observed]) -> Experience:
        """The experience without some steps."""
        kept = Experience(len(self.entered), self._n_actions)
        dropped = set(forgotten)
        left = [step for step in self.steps if step not in dropped]
        if left:
            state, action, reward, next_state = (np.array(column) for column in zip(*left, strict=True))
            kept.record(state, action, reward, next_state)
        return kept


def _possible(world: World, step: Observed) -> bool:
    return any(
        outcome.next_state == step.next_state and outcome.reward == step.reward
        for outcome in world.outcomes(step.state, step.action)
    )
