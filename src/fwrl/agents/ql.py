"""Q-learning as the paper's first baseline: everything is forgotten when an episode begins.

    Q(s, a) <- Q(s, a) + alpha (r + max_b Q(s', b) - Q(s, a))

without discount. The step taken on the goal sets Q(g, a) to the goal reward and does not bootstrap: going on
through the respawn would make a positive cycle. The agent never looks at the goal it is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent, Config, no_episode
from fwrl.agents.verbs import LEARNED, Verbs, register_verbs
from fwrl.errors import FileError, OptionError
from fwrl.kernels.exploration import epsilon_greedy
from fwrl.kernels.qlearning import q_update
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class QConfig(Config):
    """`learning_rate` alpha, and the `initial_value` of every Q(s, a), optimistic by default."""

    learning_rate: float = 1.0
    initial_value: float = 1.0

    def __post_init__(self) -> None:
        for name in ("learning_rate", "initial_value"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not np.isfinite(value):
                raise OptionError(f"expected a finite {name}, got {value!r}")
        if not 0 < self.learning_rate <= 1:
            raise OptionError(f"expected 0 < learning_rate <= 1, got {self.learning_rate}")


class QTables(NamedTuple):
    """Q for the goal in use."""

    Q: Floats  # (S, A)
    episode: NDArray[np.int64]
    alpha: Floats  # (1,)


@compiled
def act(agent: QTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, .)."""
    return epsilon_greedy(agent.Q[s], agent.episode, rng)


@compiled
def observe(agent: QTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """One Q-learning update."""
    q_update(agent.Q, s, a, r, next_s, arrived, agent.alpha[0])
    return LEARNED


@compiled
def action_values(agent: QTables, s: int, g: int, values: Floats) -> None:
    """Q(s, .), whatever goal is asked for: this agent knows one goal at a time."""
    for a in range(len(values)):
        values[a] = agent.Q[s, a]


VERBS = register_verbs(QTables, act, observe, action_values)


class QLearning(Agent):
    """Q-learning that starts over with every goal."""

    name = "ql"
    description = "Q-learning, reset at the beginning of every episode"
    believes = "nothing"
    Config = QConfig
    config: QConfig

    def verbs_of_config(self) -> Verbs:
        """One kind."""
        return VERBS

    def empty_tables(self) -> QTables:
        """Optimism everywhere."""
        Q = np.full((self.n_states, self.n_actions), self.config.initial_value)
        return QTables(Q, no_episode(), np.array([self.config.learning_rate]))

    def prepare(self, goal: int) -> None:
        """Forget everything."""
        self.tables.Q[:] = self.config.initial_value

    def check_tables(self) -> None:
        """Shapes."""
        if self.tables.Q.shape != (self.n_states, self.n_actions) or len(self.tables.alpha) != 1:
            raise FileError(f"expected Q for {self.n_states} states, {self.n_actions} actions")
