"""The exact expected reward of an episode of a task: of the best policy, and of any given one.

Shares of the oracle and sample efficiency compare an agent's reward with these expectations for the same goals, so that
the draw of starts does not matter and no agent exceeds the oracle but by luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats
from fwrl.oracle import Protocol, best_episode, best_rate, episode_reward
from fwrl.task.task import Task

LARGEST = 10**12  # outcomes x goals x steps of one backward induction: some tens of minutes


class OracleRewards(NamedTuple):
    """The oracle's expected rewards.

    Attributes:
        reward: (G,) one for each goal.
        exact: False where T x outcomes was too much and the reward per step of an endless episode, times T, stands
            instead.
    """

    reward: Floats
    exact: bool


def protocol_of(task: Task, goals: Sequence[int], steps: int, start: int | None = None) -> Protocol:
    """The task as the oracle needs it.

    Args:
        task: the world and its protocol.
        goals: G of them.
        steps: length of the episode.
        start: of every trip; None for uniform starts, as in the task.

    Returns:
        Goal states and starts of every goal.
    """
    S, G = task.world.n_states, len(goals)
    arrives, starts = np.zeros((S, G), dtype=np.bool_), np.zeros((S, G))
    for n, goal in enumerate(goals):
        setup = task.setup(goal, start)
        arrives[:, n] = setup.arrives
        starts[setup.starts, n] = 1.0 / len(setup.starts)
    return Protocol(arrives, starts, task.goal_reward, steps, task.respawn)


def best_rewards(task: Task, goals: Sequence[int], steps: int, start: int | None = None) -> OracleRewards:
    """The best expected reward of an episode for each goal, goal rewards included.

    Args:
        task: the world and its protocol.
        goals: G of them.
        steps: length of the episode.
        start: of every trip; None for uniform starts, as in the task.

    Returns:
        The expectations over starts and outcomes.

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
    """The expected total reward of an episode under one policy, goal rewards included.

    Args:
        task: the world and its protocol.
        policy: (S,) the action at each state, or (S, A) their probabilities.
        goals: G of them.
        steps: length of the episode.
        start: of every trip; None for uniform starts, as in the task.

    Returns:
        (G,) the expectations over starts and outcomes.

    >>> from fwrl.oracle import optimum
    >>> from fwrl.worlds import load_world
    >>> ring = load_world("h-maze")
    >>> task = Task(ring, goal_reward=1.0)
    >>> expected_rewards(task, optimum(ring, 3).policy, [3], steps=1).tolist()
    [-0.00025]
    """
    return episode_reward(task.world, policy, protocol_of(task, goals, steps, start))


def random_rewards(task: Task, goals: Sequence[int], steps: int, start: int | None = None) -> Floats:
    """The expected total reward of an episode of an agent that acts at random.

    Args:
        task: the world and its protocol.
        goals: G of them.
        steps: length of the episode.
        start: of every trip; None for uniform starts, as in the task.

    Returns:
        (G,) the expectations over starts, actions and outcomes.
    """
    S, A = task.world.n_states, task.world.n_actions
    return expected_rewards(task, np.full((S, A), 1.0 / A), goals, steps, start)
