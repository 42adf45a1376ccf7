"""What an agent knows about every state for one goal, as the page draws it.

Drawn is the path reward to the goal. What an agent's values mean is its `value_kind`: path rewards are drawn as they
are; returns contain the goal reward, which is subtracted; steps are multiplied by the reward of one step.

A state is known once its best value exceeds the initial one. (A return falls with every step, because rewards of steps
are negative, and exceeds its initial value only once it contains the goal reward.) The exception are path rewards with
an optimistic initial value of 0, the highest possible: they are known once they have changed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.arrays import Floats, Ints
from fwrl.kernels.ties import RELATIVE, SMALLEST_SCALE


class ValueField(NamedTuple):
    """The values and best actions of one agent for one goal."""

    path_reward: NDArray[np.float32]  # (S,) -inf if unknown
    arrows: NDArray[np.uint8]  # (S,) one bit per best action, 0 if unknown
    action: Ints  # (S,) the first of the best actions, -1 if unknown


class Reading(NamedTuple):
    """How to read the values of an agent as path rewards.

    Attributes:
        goal_reward: What a return contains beside the path reward.
        initial: The value of every action before anything was learned.
        step_reward: The reward of one step.

    """

    goal_reward: float
    initial: float
    step_reward: float = -1.0

    def path_rewards(self, agent: Agent, values: Floats) -> Floats:
        """The path rewards that these values of `agent` mean; -inf where nothing is known.

        >>> from fwrl.agents import make_agent
        >>> agent = make_agent("ql", n_states=2, n_actions=1)
        >>> Reading(10.0, initial=1.0).path_rewards(agent, np.array([9.5, 1.0])).tolist()
        [-0.5, -inf]
        """
        kind = agent.value_kind
        path_reward = values
        if kind == "return":
            path_reward = values - self.goal_reward
        elif kind == "steps":
            path_reward = -self.step_reward * values
        optimistic = kind == "path reward" and self.initial >= 0
        learned = values != self.initial if optimistic else values > self.initial
        known = np.isfinite(values) & learned & (path_reward <= RELATIVE)
        return np.where(known, np.minimum(path_reward, 0.0), -np.inf)


def value_field(agent: Agent, goal: int, reading: Reading) -> ValueField:
    """The value field of `agent` for `goal`.

    >>> from fwrl.agents import make_agent
    >>> agent = make_agent("fwrl", n_states=3, n_actions=2)
    >>> agent.observe(0, 1, -1.0, 1)
    >>> field = value_field(agent, 1, Reading(10.0, initial=-np.inf))
    >>> field.path_reward.tolist(), field.arrows.tolist(), field.action.tolist()
    ([-1.0, 0.0, -inf], [2, 0, 0], [1, -1, -1])
    """
    table = agent.action_table(goal)
    best: Floats = table.max(axis=1)
    scale = np.where(np.isfinite(best), np.maximum(SMALLEST_SCALE, np.abs(best)), 0.0)
    tied = table >= (best - RELATIVE * scale)[:, None]
    drawn = reading.path_rewards(agent, best).astype(np.float32)
    known = drawn > -np.inf
    known[goal] = False
    arrows = np.where(known, tied @ (1 << np.arange(table.shape[1])), 0).astype(np.uint8)
    action = np.where(known, tied.argmax(axis=1), -1)
    drawn[goal] = 0.0
    return ValueField(drawn, arrows, action)
