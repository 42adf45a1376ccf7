"""Reference rewards of an experiment: the exact expected rewards of the oracle and of random play.

They depend only on the goal of an episode, so they need no runs and no seeds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.experiment.spec import Experiment
from fwrl.task import Task
from fwrl.task.expectation import best_rewards, random_rewards
from fwrl.worlds import load_world

LOSS = 0.1  # of the oracle's reward: if the worst episode loses more, a share of 0 doesn't mean "nothing"


class Reference(NamedTuple):
    """Expected rewards of episodes, in the shape of the given goals.

    Attributes:
        oracle: The best policy's, for episodes of this length.
        random: Random play's.
        exact: False if `oracle` is the best long-run reward per step, times the number of steps.
        gains: Whether an episode can hardly lose anything, so that a share of the oracle's reward is meaningful.
    """

    oracle: Floats
    random: Floats
    exact: bool
    gains: bool


def reference(experiment: Experiment, goals: Ints) -> Reference:
    """Compute the expected rewards of episodes with these goals.

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
