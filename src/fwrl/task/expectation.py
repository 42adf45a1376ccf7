"""The exact expected reward of an episode of a task, for the best policy or any given one.

Shares of the oracle and sample efficiency compare an agent's reward with these expectations for the same goals. So the
draw of starts doesn't matter, and only luck takes an agent above the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.oracle import Protocol, best_episode, best_rate, episode_reward
from fwrl.task.task import Task

LARGEST = 10**12  # outcomes x goals x steps of one backward induction: tens of minutes


class OracleRewards(NamedTuple):
    """The oracle's expected rewards.

    Attributes:
        reward: (G,) one for each goal.
        exact: False if T x outcomes was too much; `reward` is then T times the reward per step of an endless episode.
    """

    reward: Floats
    exact: bool


def protocol_of(task: Task, goals: Sequence[int], steps: int, start: int | None = None) -> Protocol:
    """Describe the task for the oracle, with G goals.

    Args:
        steps: length of the episode.
        start: where every trip starts; None for uniform starts, as in the task.
    """
    S, G = task.world.n_states, len(goals)
    arrives, starts = np.zeros((S, G), dtype=np.bool_), np.zeros((S, G))
    for n, goal in enumerate(goals):
        setup = task.setup(goal, start)
        arrives[:, n] = setup.arrives
        starts[setup.starts, n] = 1.0 / len(setup.starts)
    return Protocol(arrives, starts, task.goal_reward, steps, task.respawn)


def best_rewards(task: Task, goals: Sequence[int], steps: int, start: int | None = None) -> OracleRewards:
    """Return the best expected reward of an episode for each of G goals, goal rewards included.

    Args:
        steps: length of the episode.
        start: where every trip starts; None for uniform starts, as in the task.

    Returns:
        Expectations over starts and outcomes.

    >>> from fwrl.worlds import load_world
    >>> task = Task(load_world("four-rooms"))
    >>> round(best_rewards(task, [0], 400).reward[0].item(), 1)
    417.0
    """
    protocol = protocol_of(task, goals, steps, start)
    work = len(task.world.tables.probability) * len(goals) * steps
    if work <= LARGEST or not task.respawn:
        return OracleRewards(best_episode(task.world, protocol), True)
    rates = [
        best_rate(task.world, protocol.arrives[:, n], protocol.starts[:, n], task.goal_reward).rho
        for n in range(len(goals))
    ]
    return OracleRewards(steps * np.array(rates), False)


def expected_rewards(
    task: Task, policy: ArrayLike, goals: Sequence[int], steps: int, start: int | None = None
) -> Floats:
    """Return the expected total reward of an episode under one policy, goal rewards included.

    Args:
        policy: (S,) the action at each state, or (S, A) their probabilities.
        goals: G of them.
        steps: length of the episode.
        start: where every trip starts; None for uniform starts, as in the task.

    Returns:
        (G,) expectations over starts and outcomes.

    >>> from fwrl.oracle import optimum
    >>> from fwrl.worlds import load_world
    >>> ring = load_world("h-maze")
    >>> task = Task(ring, goal_reward=1.0)
    >>> expected_rewards(task, optimum(ring, 3).policy, [3], steps=1).tolist()
    [-0.00025]
    """
    return episode_reward(task.world, policy, protocol_of(task, goals, steps, start))


def random_rewards(task: Task, goals: Sequence[int], steps: int, start: int | None = None) -> Floats:
    """Return the (G,) expected total rewards of an episode of random actions; arguments as for `expected_rewards`."""
    S, A = task.world.n_states, task.world.n_actions
    return expected_rewards(task, np.full((S, A), 1.0 / A), goals, steps, start)
