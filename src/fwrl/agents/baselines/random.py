"""Uniformly random actions: the lower bound that learners are compared with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwrl.agents.agent import Agent, Config
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.arrays import ActionScratch, Floats
from fwrl.kernels.exploration import Episode
from fwrl.kernels.jit import inner
from fwrl.kernels.rng import one_of


class RandomTables(NamedTuple):
    """The number of actions, as the length of an array."""

    episode: Episode
    actions: ActionScratch


@inner
def act(agent: RandomTables, s: int, rng: np.random.Generator) -> int:
    """Take any action, all equally likely."""
    return one_of(len(agent.actions), rng)


@inner
def observe(agent: RandomTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn nothing."""
    return LEARNED


@inner
def action_values(agent: RandomTables, s: int, g: int, values: Floats) -> None:
    """0 for every action."""
    values[:] = 0.0


class RandomWalk(Agent[RandomTables]):
    """Acts at random and learns nothing."""

    name = "random"
    description = "uniformly random actions: the floor"
    value_kind = None
    Config = Config
    verbs = register_verbs(RandomTables, act, observe, action_values)
