"""Belief: what an agent thinks of every cell for the goal in use, as the page draws it.

Agents speak of two things. Those of paths (FWRL, model-based) say the reward of the way, at most 0 on a map, and
-inf where they know none. Those of goal rewards (Q-learning) say the way *plus* R_goal where word of the goal has
come through, and until then what they were told to hope for. Drawn is the reward of the way in both cases; ways in
steps (DG-learning) are turned into rewards. A cell is unknown where hope is all there is: where the best action is
worth what every action was before anything was learned, or, if that is less than nothing, no more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.kernels.ties import RELATIVE, SMALLEST_SCALE

Ints = NDArray[np.int64]


class Belief(NamedTuple):
    """An agent's belief about the way to one goal."""

    way: NDArray[np.float32]  # (S,) reward of the way, -inf where unknown
    arrows: NDArray[np.uint8]  # (S,) a bit for every best action, 0 where unknown
    action: Ints  # (S,) the first of the best actions, -1 where unknown


def believe(
    agent: Agent, goal: int, goal_reward: float, *, blank: float = -np.inf, step_reward: float = -1.0
) -> Belief:
    """What `agent` believes about the way to `goal`; `blank` is what every action was worth when it was new.

    >>> from fwrl.agents import make_agent
    >>> agent = make_agent("fwrl", n_states=3, n_actions=2)
    >>> agent.observe(0, 1, -1.0, 1)
    >>> belief = believe(agent, goal=1, goal_reward=10.0)
    >>> belief.way.tolist(), belief.arrows.tolist(), belief.action.tolist()
    ([-1.0, 0.0, -inf], [2, 0, 0], [1, -1, -1])
    """
    table = agent.action_table(goal)
    best = table.max(axis=1)
    finite = np.isfinite(best)
    scale = np.where(finite, np.maximum(SMALLEST_SCALE, np.abs(best)), 0.0)
    tied = table >= (best - RELATIVE * scale)[:, None]
    way = np.where(best > goal_reward / 2, best - goal_reward, best)
    learned = best > blank if blank < 0 else best != blank
    known = finite & learned & (way <= RELATIVE)
    known[goal] = False
    arrows = np.where(known, tied @ (1 << np.arange(table.shape[1])), 0).astype(np.uint8)
    action = np.where(known, tied.argmax(axis=1), -1)
    unit = -step_reward if agent.believes == "steps" else 1.0
    drawn = np.where(known, np.minimum(unit * way, 0.0), -np.inf).astype(np.float32)
    drawn[goal] = 0.0
    return Belief(drawn, arrows, action)
