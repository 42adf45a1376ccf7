"""Q-learning as in the paper's second baseline: the goal is concatenated to the state, and Q is never reset.

It learns Q(s, g, a) only for the current goal, and makes a goal's table at its first episode.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from fwrl.agents.agent import Agent
from fwrl.agents.baselines.ql import QConfig
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.arrays import Field, Floats, Ints, Setting
from fwrl.kernels.exploration import GOAL, Episode, epsilon_greedy
from fwrl.kernels.jit import inner
from fwrl.kernels.qlearning import q_update


class GoalQTables(NamedTuple):
    """One Q for each goal that has had an episode."""

    Q: Annotated[Floats, Field("G S A")]
    slot: Annotated[Ints, Field("S", np.int64, fill=-1, least=-1)]  # the index of a goal's Q, -1 for none
    episode: Episode
    alpha: Setting
    initial: Setting

    def sound(self) -> bool:
        """Check that slots are within Q, and that the current goal has one."""
        goal = self.episode[GOAL]
        return bool(self.slot.max() < len(self.Q) and (goal < 0 or self.slot[goal] >= 0))


@inner
def act(agent: GoalQTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, g, .)."""
    return epsilon_greedy(agent.Q[agent.slot[agent.episode[GOAL]], s], agent.episode, rng)


@inner
def observe(agent: GoalQTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Make one Q-learning update for the current goal; without a goal, learn nothing."""
    if agent.episode[GOAL] >= 0:
        Q = agent.Q[agent.slot[agent.episode[GOAL]]]
        q_update(Q, s, a, r, next_s, arrived, agent.alpha[0])
    return LEARNED


@inner
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
    config: QConfig

    def empty_tables(self) -> GoalQTables:
        """Tables for no goals yet."""
        tables = super().empty_tables()
        tables.alpha[0], tables.initial[0] = self.config.learning_rate, self.config.initial_value
        return tables

    def prepare(self, goal: int) -> None:
        """Make a table for a new goal; capacity doubles."""
        if self.tables.slot[goal] >= 0:
            return
        used = int(self.tables.slot.max()) + 1
        Q = self.tables.Q
        if used == len(Q):
            more = np.full((max(1, used), self.n_states, self.n_actions), float(self.config.initial_value))
            self.tables = self.tables._replace(Q=np.concatenate([Q, more]))
        self.tables.slot[goal] = used

    def mark_terminated(self, state: int) -> bool:
        """Give a terminated state the return 0 for every known goal, not the initial value: nothing follows it."""
        self.tables.Q[:, state] = 0.0
        return False

    def grow(self, n_states: int) -> None:
        """Grow; new states have the initial value for all goals."""
        known = self.n_states
        super().grow(n_states)
        self.tables.Q[:, known:] = self.config.initial_value
