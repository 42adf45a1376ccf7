"""Q-learning as in the paper's first baseline: Q is reset when an episode begins.

    Q(s, a) <- Q(s, a) + alpha (r + max_b Q(s', b) - Q(s, a))

without discount. The step taken on the goal sets Q(g, a) to the goal reward and doesn't bootstrap: bootstrapping
through the respawn would create a positive cycle. The agent doesn't use the goal's number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fwrl.agents.agent import Agent, Config
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.agents.validation import check_learning_rate, check_number
from fwrl.arrays import Field, Floats, Setting
from fwrl.kernels.exploration import Episode, epsilon_greedy
from fwrl.kernels.jit import inner
from fwrl.kernels.qlearning import q_update


@dataclass(frozen=True)
class QConfig(Config):
    """Options of Q-learning.

    Attributes:
        learning_rate: alpha, above 0 and at most 1.
        initial_value: initial Q(s, a); optimistic by default.
    """

    learning_rate: float = 1.0
    initial_value: float = 1.0

    def __post_init__(self) -> None:
        check_learning_rate(self.learning_rate)
        check_number("initial_value", self.initial_value)


class QTables(NamedTuple):
    """Q for the current goal."""

    Q: Annotated[Floats, Field("S A")]
    episode: Episode
    alpha: Setting


@inner
def act(agent: QTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, .)."""
    return epsilon_greedy(agent.Q[s], agent.episode, rng)


@inner
def observe(agent: QTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """One Q-learning update."""
    q_update(agent.Q, s, a, r, next_s, arrived, agent.alpha[0])
    return LEARNED


@inner
def action_values(agent: QTables, s: int, g: int, values: Floats) -> None:
    """Fill in Q(s, .), the same for every goal: there's only one Q at a time."""
    for a in range(len(values)):
        values[a] = agent.Q[s, a]


class QLearning(Agent[QTables]):
    """Q-learning that's reset with every goal."""

    name = "ql"
    description = "Q-learning, reset at the beginning of every episode"
    value_kind = "return"
    Config = QConfig
    verbs = register_verbs(QTables, act, observe, action_values)
    config: QConfig

    def empty_tables(self) -> QTables:
        """The initial value everywhere."""
        tables = super().empty_tables()
        tables.Q[:], tables.alpha[0] = self.config.initial_value, self.config.learning_rate
        return tables

    def prepare(self, goal: int) -> None:
        """Reset Q."""
        self.tables.Q[:] = self.config.initial_value

    def mark_terminated(self, state: int) -> bool:
        """Give a terminated state the return 0 instead of the initial value, until Q is reset: nothing follows it."""
        self.tables.Q[state] = 0.0
        return False
