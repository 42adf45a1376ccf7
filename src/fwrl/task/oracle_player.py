"""The oracle player: an agent that knows the world and takes the optimal action from the first step on.

An agent's share of the oracle is its reward over this player's, in the same task with the same seeds. Its verbs are
compiled, so it stands here, where the digest of compiled sources covers it, and not in `fwrl.oracle`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config, no_episode
from fwrl.agents.verbs import LEARNED, register_verbs
from fwrl.kernels.runtime.compiled import compiled
from fwrl.oracle import optimum
from fwrl.worlds import World

Ints = NDArray[np.int64]


class PlayerTables(NamedTuple):
    """The optimal policy for the goal in use."""

    policy: Ints  # (S,)
    episode: Ints


@compiled
def act(agent: PlayerTables, s: int, rng: np.random.Generator) -> int:
    """The optimal action."""
    return int(agent.policy[s])


@compiled
def observe(agent: PlayerTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn nothing."""
    return LEARNED


@compiled
def action_values(agent: PlayerTables, s: int, g: int, values: NDArray[np.float64]) -> None:
    """1 for the optimal action, 0 for the others."""
    for a in range(len(values)):
        values[a] = float(a == agent.policy[s])


class OraclePlayer(Agent[PlayerTables]):
    """Follows the optimal policy of `world`, one goal at a time.

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
        """Tables without a goal."""
        return PlayerTables(np.zeros(self.n_states, np.int64), no_episode())

    def prepare(self, goal: int) -> None:
        """Load the optimal policy for `goal`; it is solved for once per goal."""
        if goal not in self._policies:
            self._policies[goal] = optimum(self.world, goal).policy
        self.tables.policy[:] = self._policies[goal]
