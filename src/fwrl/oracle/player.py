"""The omniscient player: it knows the world and takes the optimal action from the first step on.

Its total reward, with the same driver and seeds, is what a learner's share of the oracle is measured against.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config, no_episode
from fwrl.agents.verbs import LEARNED, register_verbs
from fwrl.kernels.runtime.compiled import compiled
from fwrl.oracle.optimum import optimum
from fwrl.worlds import World

Ints = NDArray[np.int64]


class PlayerTables(NamedTuple):
    """The optimal action at every state for the goal in use."""

    policy: Ints  # (S,)
    episode: Ints


@compiled
def act(agent: PlayerTables, s: int, rng: np.random.Generator) -> int:
    """The optimal action."""
    return int(agent.policy[s])


@compiled
def observe(agent: PlayerTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Nothing left to learn."""
    return LEARNED


@compiled
def action_values(agent: PlayerTables, s: int, g: int, values: NDArray[np.float64]) -> None:
    """1 for the optimal action, 0 for the others."""
    for a in range(len(values)):
        values[a] = float(a == agent.policy[s])


class OraclePlayer(Agent[PlayerTables]):
    """Plays the optimal policy of `world`, one goal at a time.

    >>> from fwrl.worlds import load_world
    >>> player = OraclePlayer(load_world("four-rooms"))
    >>> player.begin_episode(goal=67)
    >>> player.act(66)
    3
    """

    name = "oracle"
    description = "the optimal policy of the known world"
    value_kind = None
    Config = Config
    verbs = register_verbs(PlayerTables, act, observe, action_values)

    def __init__(self, world: World) -> None:
        self.world = world
        self._policies: dict[int, Ints] = {}
        super().__init__(world.n_states, world.n_actions)

    def empty_tables(self) -> PlayerTables:
        """No goal yet."""
        return PlayerTables(np.zeros(self.n_states, np.int64), no_episode())

    def prepare(self, goal: int) -> None:
        """Look the optimal policy up, solving for it the first time."""
        if goal not in self._policies:
            self._policies[goal] = optimum(self.world, goal).policy
        self.tables.policy[:] = self._policies[goal]
