"""The goal methods for the result of `gymnasium.make`.

Gymnasium's wrappers only pass on methods that every environment has, but Stable-Baselines3 calls `compute_reward` on
the wrapped environment. So this is the outermost wrapper of the registered ids.
"""

from __future__ import annotations

import gymnasium
import numpy as np
from gymnasium.utils import RecordConstructorArgs

from fwrl.envs.world_env import Observation, WorldEnv
from fwrl.errors import FwrlError


class GoalWrapper(gymnasium.Wrapper[Observation, np.int64, Observation, np.int64], RecordConstructorArgs):
    """A wrapped `WorldEnv` with its three goal methods.

    Args:
        env: a `WorldEnv`, possibly wrapped.

    >>> import gymnasium, fwrl
    >>> env = gymnasium.make("fwrl/HMaze-v0")
    >>> env.compute_reward([0, 1], 1).tolist()
    [-0.00025, 9.99975]
    """

    def __init__(self, env: gymnasium.Env[Observation, np.int64]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        inner = env.unwrapped
        if not isinstance(inner, WorldEnv):
            raise FwrlError(f"expected a WorldEnv to wrap, got {type(inner).__name__}")
        self.compute_reward = inner.compute_reward
        self.compute_terminated = inner.compute_terminated
        self.compute_truncated = inner.compute_truncated
