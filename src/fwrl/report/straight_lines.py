"""The most that the authors' straight-line planner could earn."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.task import Task
from fwrl.task.expectation import expected_rewards
from fwrl.worlds import World


def straight_line_reward(world: World, steps: int) -> float:
    """The expected reward of an episode, mean over goals, with perfect knowledge of the world.

    Where repeating one action leads to the goal, the planner takes the action that does so soonest (without wind);
    elsewhere it acts at random.

    >>> from fwrl.worlds import load_world
    >>> round(straight_line_reward(load_world("four-rooms"), 400), 1)
    31.7
    """
    task = Task(world)
    goals = task.sampler.goals.tolist()
    likely = _likely(world)
    return float(np.mean([expected_rewards(task, _policy(likely, goal), [goal], steps)[0] for goal in goals]))


def _likely(world: World) -> NDArray[np.int64]:
    """(S, A) the most probable next state."""
    actions = range(world.n_actions)
    return np.array(
        [
            [max(world.outcomes(s, a), key=lambda o: o.probability).next_state for a in actions]
            for s in range(world.n_states)
        ]
    )


def _policy(likely: NDArray[np.int64], goal: int) -> NDArray[np.float64]:
    """(S, A) the nearest straight way to the goal, at random where there is none."""
    S, A = likely.shape
    steps = np.full((S, A), np.inf)
    here = np.tile(np.arange(S)[:, None], (1, A))
    for n in range(1, S + 1):
        here = likely[here, np.arange(A)]
        steps[(here == goal) & np.isinf(steps)] = n
    nearest = steps.min(axis=1, keepdims=True)
    best = np.where(np.isinf(nearest), 1.0, steps == nearest)
    chosen: NDArray[np.float64] = best / best.sum(axis=1, keepdims=True)
    return chosen
