"""The oracle player: an agent that knows the world and plays each episode as well as possible.

Its expected reward is that of `fwrl.oracle.best_episode`; here you can watch it play. It isn't in `fwrl.oracle` because
its functions are compiled, and the digest of compiled sources covers this package.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.arrays import Field, Ints
from fwrl.kernels.exploration import DEFAULT_STEPS, STEP, Episode
from fwrl.kernels.jit import compiled
from fwrl.oracle import best_episode_policy
from fwrl.task.expectation import protocol_of
from fwrl.task.task import CACHED, Task


class PlayerTables(NamedTuple):
    """The best actions for the goal in use, by steps left."""

    policy: Annotated[Ints, Field("T S", np.int64, saved=False)]
    episode: Episode


@compiled
def act(agent: PlayerTables, s: int, rng: np.random.Generator) -> int:
    """Take the best action for the steps left; after the last step, the one for one step left."""
    left = agent.policy.shape[0] - agent.episode[STEP]
    agent.episode[STEP] += 1
    return int(agent.policy[max(0, left - 1), s])


@compiled
def observe(agent: PlayerTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn nothing."""
    return LEARNED


@compiled
def action_values(agent: PlayerTables, s: int, g: int, values: NDArray[np.float64]) -> None:
    """Set 1 for the best action with all steps left, 0 for the others."""
    for a in range(len(values)):
        values[a] = float(a == agent.policy[-1, s])


class OraclePlayer(Agent[PlayerTables]):
    """Follows the policy with the best expected reward of an episode, one goal at a time.

    Args:
        task: the world, goal reward and respawn it knows.
        start: where every trip starts; None for uniform starts, as in the task.

    >>> from fwrl.worlds import load_world
    >>> player = OraclePlayer(Task(load_world("four-rooms")))
    >>> player.begin_episode(goal=67)
    >>> player.act(66)
    3
    """

    name = "oracle"
    description = "the policy with the best expected reward of an episode in the known world"
    value_kind = None
    Config = Config
    verbs = register_verbs(PlayerTables, act, observe, action_values)

    def __init__(self, task: Task, start: int | None = None) -> None:
        self.task, self.start = task, start
        self._policies: OrderedDict[tuple[int, int], Ints] = OrderedDict()
        super().__init__(task.world.n_states, task.world.n_actions)

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode; the policy of a goal is solved once and cached."""
        super().begin_episode(goal, steps, explore=explore)
        key = goal, steps
        if key not in self._policies:
            protocol = protocol_of(self.task, [goal], steps, self.start)
            self._policies[key] = best_episode_policy(self.task.world, protocol)
            while len(self._policies) > max(1, CACHED // self._policies[key].nbytes):
                self._policies.popitem(last=False)
        self.tables = self.tables._replace(policy=self._policies[key])
