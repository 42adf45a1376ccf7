"""Q-learning as the paper's second baseline: the goal is concatenated to the state, and nothing is forgotten.

Q(s, g, a) is learned for the goal in use only, one goal's table being made when that goal is first met.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, no_episode
from fwrl.agents.ql import QConfig
from fwrl.agents.verbs import LEARNED, Verbs, register_verbs
from fwrl.errors import FileError
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.qlearning import q_update
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class GoalQTables(NamedTuple):
    """One Q for each goal met so far; `slot[g]` says which, -1 for a goal never met."""

    Q: Floats  # (G, S, A)
    slot: Ints  # (S,)
    episode: Ints
    alpha: Floats  # (1,)
    initial: Floats  # (1,)


@compiled
def act(agent: GoalQTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, g, .)."""
    return epsilon_greedy(agent.Q[agent.slot[agent.episode[GOAL]], s], agent.episode, rng)


@compiled
def observe(agent: GoalQTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """One Q-learning update for the goal in use; before any goal is known there is nothing to learn."""
    if agent.episode[GOAL] >= 0:
        Q = agent.Q[agent.slot[agent.episode[GOAL]]]
        q_update(Q, s, a, r, next_s, arrived, agent.alpha[0])
    return LEARNED


@compiled
def action_values(agent: GoalQTables, s: int, g: int, values: Floats) -> None:
    """Q(s, g, .); the initial value for a goal never met."""
    slot = agent.slot[g]
    for a in range(len(values)):
        values[a] = agent.Q[slot, s, a] if slot >= 0 else agent.initial[0]


VERBS = register_verbs(GoalQTables, act, observe, action_values)


class QLearningConcatenated(Agent):
    """Q-learning on (state, goal) pairs."""

    name = "qlcat"
    description = "Q-learning with the goal concatenated to the state"
    believes = "nothing"
    Config = QConfig
    config: QConfig

    def verbs_of_config(self) -> Verbs:
        """One kind."""
        return VERBS

    def empty_tables(self) -> GoalQTables:
        """No goal met yet."""
        Q = np.empty((0, self.n_states, self.n_actions))
        alpha, initial = (
            np.array([self.config.learning_rate]),
            np.array([self.config.initial_value]),
        )
        return GoalQTables(Q, np.full(self.n_states, -1), no_episode(), alpha, initial)

    def prepare(self, goal: int) -> None:
        """Make a table for a goal never met before."""
        if self.tables.slot[goal] >= 0:
            return
        met = int(self.tables.slot.max()) + 1
        Q = self.tables.Q
        if met == len(Q):
            room = np.full((max(1, met), self.n_states, self.n_actions), self.config.initial_value)
            self.tables = self.tables._replace(Q=np.concatenate([Q, room]))
        self.tables.slot[goal] = met

    def check_tables(self) -> None:
        """Shapes, and slots within Q."""
        tables = self.tables
        sound = tables.Q.shape[1:] == (self.n_states, self.n_actions)
        sound = sound and tables.slot.shape == (self.n_states,)
        sound = sound and bool(np.all((tables.slot >= -1) & (tables.slot < len(tables.Q))))
        sound = sound and len(tables.alpha) == len(tables.initial) == 1
        goal = tables.episode[GOAL]
        if not (sound and (goal < 0 or tables.slot[goal] >= 0)):
            raise FileError(f"expected Q for {self.n_states} states, {self.n_actions} actions")
