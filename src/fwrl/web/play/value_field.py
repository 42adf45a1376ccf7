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
from fwrl.kernels.runtime.ties import RELATIVE, SMALLEST_SCALE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ValueField(NamedTuple):
    """The values and best actions of one agent for one goal."""

    path_reward: NDArray[np.float32]  # (S,) -inf if unknown
    arrows: NDArray[np.uint8]  # (S,) one bit per best action, 0 if unknown
    action: Ints  # (S,) the first of the best actions, -1 if unknown


def value_field(
    agent: Agent, goal: int, goal_reward: float, *, initial: float, step_reward: float = -1.0
) -> ValueField:
    """The value field of `agent` for `goal`; `initial` is the value of every action before anything was learned.

    >>> from fwrl.agents import make_agent
    >>> agent = make_agent("fwrl", n_states=3, n_actions=2)
    >>> agent.observe(0, 1, -1.0, 1)
    >>> field = value_field(agent, goal=1, goal_reward=10.0, initial=-np.inf)
    >>> field.path_reward.tolist(), field.arrows.tolist(), field.action.tolist()
    ([-1.0, 0.0, -inf], [2, 0, 0], [1, -1, -1])
    """
    table = agent.action_table(goal)
    best: Floats = table.max(axis=1)
    finite = np.isfinite(best)
    scale = np.where(finite, np.maximum(SMALLEST_SCALE, np.abs(best)), 0.0)
    tied = table >= (best - RELATIVE * scale)[:, None]
    kind = agent.value_kind
    path_reward = _path_rewards(kind, best, goal_reward, step_reward)
    optimistic = kind == "path reward" and initial >= 0
    learned = best != initial if optimistic else best > initial
    known = finite & learned & (path_reward <= RELATIVE)
    known[goal] = False
    arrows = np.where(known, tied @ (1 << np.arange(table.shape[1])), 0).astype(np.uint8)
    action = np.where(known, tied.argmax(axis=1), -1)
    drawn = np.where(known, np.minimum(path_reward, 0.0), -np.inf).astype(np.float32)
    drawn[goal] = 0.0
    return ValueField(drawn, arrows, action)


def _path_rewards(kind: str | None, value: Floats, goal_reward: float, step_reward: float) -> Floats:
    """(S,) the path rewards that values of this kind mean."""
    match kind:
        case "return":
            return value - goal_reward
        case "steps":
            return -step_reward * value
    return value
