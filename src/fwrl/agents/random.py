"""Uniformly random actions: the lower bound that learners are compared with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config, no_episode
from fwrl.agents.verbs import LEARNED, register_verbs
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import one_of


class RandomTables(NamedTuple):
    """The number of actions, as the length of an array."""

    episode: NDArray[np.int64]
    actions: NDArray[np.int64]  # (A,)


@compiled
def act(agent: RandomTables, s: int, rng: np.random.Generator) -> int:
    """Any action, each as likely as any other."""
    return one_of(len(agent.actions), rng)


@compiled
def observe(agent: RandomTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn nothing."""
    return LEARNED


@compiled
def action_values(agent: RandomTables, s: int, g: int, values: NDArray[np.float64]) -> None:
    """0 for every action."""
    values[:] = 0.0


class RandomWalk(Agent[RandomTables]):
    """Acts at random and learns nothing."""

    name = "random"
    description = "uniformly random actions: the floor"
    value_kind = None
    Config = Config
    verbs = register_verbs(RandomTables, act, observe, action_values)

    def empty_tables(self) -> RandomTables:
        """Nothing to learn."""
        return RandomTables(no_episode(), np.arange(self.n_actions))
