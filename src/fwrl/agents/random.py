"""The floor: uniformly random actions, whatever was seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config, no_episode
from fwrl.agents.verbs import LEARNED, Verbs, register_verbs
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import one_of


class RandomTables(NamedTuple):
    """Only the number of actions, as the length of an array."""

    episode: NDArray[np.int64]
    actions: NDArray[np.int64]  # (A,)


@compiled
def act(agent: RandomTables, s: int, rng: np.random.Generator) -> int:
    """Any action."""
    return one_of(len(agent.actions), rng)


@compiled
def observe(agent: RandomTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn nothing."""
    return LEARNED


@compiled
def action_values(agent: RandomTables, s: int, g: int, values: NDArray[np.float64]) -> None:
    """All the same."""
    values[:] = 0.0


VERBS = register_verbs(RandomTables, act, observe, action_values)


class RandomWalk(Agent):
    """Walks at random."""

    name = "random"
    description = "uniformly random actions: the floor"
    believes = "nothing"
    Config = Config
    scratch = ("actions",)

    def verbs_of_config(self) -> Verbs:
        """One kind."""
        return VERBS

    def empty_tables(self) -> RandomTables:
        """Nothing to know."""
        return RandomTables(no_episode(), np.arange(self.n_actions))
