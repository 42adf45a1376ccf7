"""All-goals Q-learning with replay: L. P. Kaelbling (1993), "Learning to Achieve Goals", IJCAI, which updates every
goal from every step; L.-J. Lin (1992), "Self-Improving Reactive Agents Based on Reinforcement Learning, Planning and
Teaching", Machine Learning 8, which learns from past steps again.

Q(s, a, g) is the path reward from s, starting with a, to g. A transition s, a, r -> s' updates every goal g at once,

    Q(s, a, g) <- Q(s, a, g) + alpha (r + (0 if s' = g else max_b Q(s', b, g)) - Q(s, a, g))

by the step just made and by `replays` more, drawn uniformly from the last `capacity`. The goal reward is not part of
Q, and the step that pays it is not learned from. Where rewards are negative, an `initial_value` of 0 is optimistic: an
action that was never tried counts as if it led straight to the goal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import no_episode
from fwrl.agents.all_goals import AllGoalsAgent, table_of_pairs
from fwrl.agents.options import check_whole
from fwrl.agents.ql import QConfig
from fwrl.agents.sections import REPLAY, Sections
from fwrl.agents.soundness import check_ring
from fwrl.agents.verbs import LEARNED, register_verbs
from fwrl.errors import FileError
from fwrl.kernels.exploration import GOAL, epsilon_greedy
from fwrl.kernels.model.replay import Ring, draw, empty_ring, store
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.splitmix64 import new_splitmix64

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class AllGoalsConfig(QConfig):
    """Options of all-goals Q-learning.

    Attributes:
        learning_rate: alpha, above 0 and at most 1.
        initial_value: of every Q(s, a, g).
        replays: transitions replayed at every step.
        capacity: transitions kept for replay.
    """

    learning_rate: float = 0.5
    initial_value: float = 0.0
    replays: int = 10
    capacity: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("replays", self.replays, least=0)
        check_whole("capacity", self.capacity, least=1)


class AllGoalsTables(NamedTuple):
    """Q for every goal, and transitions to replay."""

    Q: Floats  # (S, A, S)
    ring: Ring
    splitmix64: Ints  # (1,)
    episode: Ints
    alpha: Floats  # (1,)
    replays: Ints  # (1,)
    onward: Floats  # (S,)


@compiled
def update_all_goals(Q: Floats, s: int, a: int, r: float, next_s: int, alpha: float, onward: Floats) -> None:
    """One Q-learning update of Q(s, a, .); `onward` (S,) is scratch for max_b Q(s', b, .)."""
    S, A = Q.shape[0], Q.shape[1]
    for g in range(S):
        onward[g] = Q[next_s, 0, g]
    for b in range(1, A):
        for g in range(S):
            onward[g] = max(onward[g], Q[next_s, b, g])
    onward[next_s] = 0.0
    row = Q[s, a]
    for g in range(S):
        row[g] += alpha * (r + onward[g] - row[g])


@compiled
def act(agent: AllGoalsTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, ., g)."""
    return epsilon_greedy(agent.Q[s, :, agent.episode[GOAL]], agent.episode, rng)


@compiled
def observe(agent: AllGoalsTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn from the step, then replay."""
    if arrived:
        return LEARNED
    ring, alpha = agent.ring, agent.alpha[0]
    update_all_goals(agent.Q, s, a, r, next_s, alpha, agent.onward)
    if agent.replays[0] > 0:
        store(ring, s, a, r, next_s)
    for _ in range(agent.replays[0]):
        i = draw(ring, agent.splitmix64)
        update_all_goals(
            agent.Q, ring.state[i], ring.action[i], ring.reward[i], ring.next_state[i], alpha, agent.onward
        )
    return LEARNED


@compiled
def action_values(agent: AllGoalsTables, s: int, g: int, values: Floats) -> None:
    """Q(s, ., g)."""
    for a in range(len(values)):
        values[a] = agent.Q[s, a, g]


class AllGoalsQLearning(AllGoalsAgent[AllGoalsTables]):
    """Q-learning of all goals at once."""

    name = "agql"
    description = "all-goals Q-learning with replay: every step teaches every goal"
    Config = AllGoalsConfig
    verbs = register_verbs(AllGoalsTables, act, observe, action_values)
    sections: ClassVar[Sections] = {"action-values": "Q", **REPLAY}
    config: AllGoalsConfig

    def empty_tables(self) -> AllGoalsTables:
        """`initial_value` everywhere, nothing to replay."""
        S, A, config = self.n_states, self.n_actions, self.config
        return AllGoalsTables(
            Q=table_of_pairs(S, A, config.initial_value),
            ring=empty_ring(config.capacity),
            splitmix64=new_splitmix64(self.rng),
            episode=no_episode(),
            alpha=np.array([float(config.learning_rate)]),
            replays=np.array([config.replays]),
            onward=np.empty(S),
        )

    def check_tables(self) -> None:
        """Check shapes, and transitions within range."""
        S, A = self.n_states, self.n_actions
        if self.tables.Q.shape != (S, A, S) or len(self.tables.splitmix64) != 1:
            raise FileError(f"expected Q for {S} states and {A} actions")
        check_ring(self.tables.ring, self.config.capacity, S, A)
