"""The exact expected reward of a policy in an episode, by propagating the distribution over states.

Sample efficiency compares a learner's reward with the oracle's *expected* reward for the same goal, so that the draw of
starts does not matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwrl.task.task import Task

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def expected_reward(task: Task, policy: Ints, goal: int, steps: int, start: int | None = None) -> float:
    """The expected total reward of an episode, goal rewards included.

    Args:
        task: the world and its protocol.
        policy: (S,) the action at each state.
        goal: of the episode.
        steps: length of the episode.
        start: of every trip; None for uniform starts, as in the task.

    Returns:
        The expectation over starts and outcomes.

    >>> from fwrl.oracle import optimum
    >>> from fwrl.worlds import load_world
    >>> ring = load_world("h-maze")
    >>> task = Task(ring, goal_reward=1.0)
    >>> expected_reward(task, optimum(ring, 3).policy, goal=3, steps=1)
    -0.00025
    """
    world, setup = task.world, task.setup(goal, start)
    T, S = world.tables, world.n_states
    pairs = np.arange(S) * world.n_actions + policy
    first, last = T.first[pairs], T.first[pairs + 1]
    slots = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    source = np.repeat(np.arange(S), last - first)
    moving = ~setup.arrives[source]
    onward = csr_array((T.probability[slots][moving], (T.next_state[slots][moving], source[moving])), shape=(S, S))
    per_step = np.zeros(S)
    np.add.at(per_step, source, T.probability[slots] * T.reward[slots])
    per_step[setup.arrives] = task.goal_reward
    fresh = np.zeros(S)
    fresh[setup.starts] = 1.0 / len(setup.starts)
    total, here = 0.0, fresh
    for _ in range(steps):
        total += float(here @ per_step)
        here = onward @ here + (here[setup.arrives].sum() if task.respawn else 0.0) * fresh
    return total
