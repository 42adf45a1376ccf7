"""What an experiment's rewards are measured against: the expected rewards of the oracle and of random play.

Both are exact and belong to the goal of an episode, so they need no runs and no seeds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.experiment.spec import Experiment
from fwrl.task import Task
from fwrl.task.expectation import best_rewards, random_rewards
from fwrl.worlds import load_world

LOSS = 0.1  # of the oracle's reward: where an episode at its worst loses more, zero does not mean "nothing"


class Reference(NamedTuple):
    """Expected rewards of episodes, in the shape of the goals asked for.

    Attributes:
        oracle: Of the best policy for an episode of this length.
        random: Of an agent that acts at random.
        exact: False where the oracle's is the reward per step of an endless episode, times the steps.
        gains: Whether an episode can hardly lose anything, so that a share of the oracle's reward says something.
    """

    oracle: Floats
    random: Floats
    exact: bool
    gains: bool


def reference(experiment: Experiment, goals: Ints) -> Reference:
    """The expected rewards of episodes of `experiment` with these goals.

    >>> from fwrl.experiment.catalogue import FOUR_ROOMS
    >>> found = reference(FOUR_ROOMS, np.array([[0, 67]]))
    >>> found.oracle.round().tolist(), found.random.round().tolist(), found.gains
    ([[417.0, 417.0]], [[9.0, 9.0]], True)
    """
    task = Task(load_world(experiment.world))
    distinct, place = np.unique(goals, return_inverse=True)
    episode = distinct.tolist(), experiment.steps, experiment.start
    oracle, random = best_rewards(task, *episode), random_rewards(task, *episode)
    worst = experiment.steps * min(0.0, float(task.world.tables.reward.min()))
    gains = bool(-worst <= LOSS * oracle.reward.min())
    shape = goals.shape
    return Reference(oracle.reward[place].reshape(shape), random[place].reshape(shape), oracle.exact, gains)
