"""Q-learning as in the paper's second baseline: the goal is concatenated to the state, and Q is never reset.

Q(s, g, a) is learned for the goal in use only. The table of a goal is made at its first episode.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, no_episode
from fwrl.agents.ql import QConfig
from fwrl.agents.sections import Sections
from fwrl.agents.verbs import LEARNED, register_verbs
from fwrl.errors import FileError
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.qlearning import q_update
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class GoalQTables(NamedTuple):
    """One Q for each goal that had an episode."""

    Q: Floats  # (G, S, A)
    slot: Ints  # (S,) which Q is a goal's, -1 for none
    episode: Ints
    alpha: Floats  # (1,)
    initial: Floats  # (1,)


@compiled
def act(agent: GoalQTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, g, .)."""
    return epsilon_greedy(agent.Q[agent.slot[agent.episode[GOAL]], s], agent.episode, rng)


@compiled
def observe(agent: GoalQTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """One Q-learning update for the goal in use; without a goal nothing is learned."""
    if agent.episode[GOAL] >= 0:
        Q = agent.Q[agent.slot[agent.episode[GOAL]]]
        q_update(Q, s, a, r, next_s, arrived, agent.alpha[0])
    return LEARNED


@compiled
def action_values(agent: GoalQTables, s: int, g: int, values: Floats) -> None:
    """Q(s, g, .); the initial value for a goal without a table."""
    slot = agent.slot[g]
    for a in range(len(values)):
        values[a] = agent.Q[slot, s, a] if slot >= 0 else agent.initial[0]


class QLearningConcatenated(Agent[GoalQTables]):
    """Q-learning on (state, goal) pairs."""

    name = "qlcat"
    description = "Q-learning with the goal concatenated to the state"
    value_kind = "return"
    Config = QConfig
    verbs = register_verbs(GoalQTables, act, observe, action_values)
    sections: ClassVar[Sections] = {"action-values": "Q", "goal-slots": "slot"}
    config: QConfig

    def empty_tables(self) -> GoalQTables:
        """No goal has a table."""
        return GoalQTables(
            Q=np.empty((0, self.n_states, self.n_actions)),
            slot=np.full(self.n_states, -1),
            episode=no_episode(),
            alpha=np.array([float(self.config.learning_rate)]),
            initial=np.array([float(self.config.initial_value)]),
        )

    def prepare(self, goal: int) -> None:
        """Make a table for the goal if it has none; capacity doubles."""
        if self.tables.slot[goal] >= 0:
            return
        used = int(self.tables.slot.max()) + 1
        Q = self.tables.Q
        if used == len(Q):
            more = np.full((max(1, used), self.n_states, self.n_actions), float(self.config.initial_value))
            self.tables = self.tables._replace(Q=np.concatenate([Q, more]))
        self.tables.slot[goal] = used

    def mark_terminated(self, state: int) -> bool:
        """Nothing follows a terminated state: its return is 0 for every goal known so far, not the initial value."""
        self.tables.Q[:, state] = 0.0
        return False

    def grow(self, n_states: int) -> None:
        """New states have the initial value in the tables of all goals."""
        known = self.n_states
        super().grow(n_states)
        self.tables.Q[:, known:] = self.config.initial_value

    def check_tables(self) -> None:
        """Check shapes, and slots within Q."""
        tables = self.tables
        sound = tables.Q.shape[1:] == (self.n_states, self.n_actions)
        sound = sound and tables.slot.shape == (self.n_states,)
        sound = sound and bool(np.all((tables.slot >= -1) & (tables.slot < len(tables.Q))))
        goal = tables.episode[GOAL]
        if not (sound and (goal < 0 or tables.slot[goal] >= 0)):
            raise FileError(f"expected Q for {self.n_states} states, {self.n_actions} actions")
