"""A learner for an environment."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwrl.cells.action_labels import RawActions
from fwrl.cells.learning_navigator import LearningNavigator
from fwrl.cells.state_learner import StateLearner
from fwrl.errors import FwrlError


def make_navigator(env: Any, *, seed: int = 0) -> LearningNavigator | StateLearner:
    """A navigator that has learned nothing, for `fwrl.learn`.

    Args:
        env: A goal environment with Box observations and actions: its navigator pushes the coordinates of
            `achieved_goal`. Or an environment with bounded Box observations that terminates on success: its learner has
            cells over the whole state and raw actions.
        seed: Of the learner's own generator.

    Returns:
        The learner.
    """
    spaces = getattr(env.observation_space, "spaces", {})
    actions = env.action_space
    if {"achieved_goal", "desired_goal"} <= set(spaces):
        if not hasattr(actions, "low"):
            raise FwrlError(f"expected Box actions in a goal environment, got {actions}")
        return LearningNavigator(actions.low, actions.high, seed=seed)
    if not hasattr(env.observation_space, "low") or len(env.observation_space.shape) != 1:
        raise FwrlError(f"expected goal observations, or a Box with one dimension, got {env.observation_space}")
    discrete = hasattr(actions, "n")
    labels = RawActions.discrete(int(actions.n)) if discrete else RawActions.between(actions.low, actions.high)
    low, high = np.asarray(env.observation_space.low), np.asarray(env.observation_space.high)
    return StateLearner(low, high, labels, discrete=discrete, seed=seed)
