"""Make a learner for an environment."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwrl.arguments import check_whole
from fwrl.errors import FwrlError
from fwrl.navigator.action_labels import RawActions
from fwrl.navigator.learning_navigator import LearningNavigator
from fwrl.navigator.state_learner import StateLearner


def make_navigator(env: Any, *, seed: int = 0) -> LearningNavigator | StateLearner:
    """Make a navigator that learns from scratch with `fwrl.learn`.

    Args:
        env: a goal environment with Box observations and actions, whose navigator pushes the coordinates of
            `achieved_goal`; or an environment with bounded Box observations that terminates on success, whose learner
            has cells over the whole state and raw actions.
        seed: seeds the learner's own generator.

    >>> import gymnasium
    >>> learner = make_navigator(gymnasium.make("MountainCar-v0"))
    >>> type(learner).__name__
    'StateLearner'
    """
    if not (hasattr(env, "observation_space") and hasattr(env, "action_space")):
        raise FwrlError(f"expected an environment, got {env!r}; call make_navigator(gymnasium.make(...))")
    check_whole("seed", seed)
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
