"""All-goals Q-learning with replay: L. P. Kaelbling (1993), "Learning to Achieve Goals", IJCAI, which updates every
goal from every step; L.-J. Lin (1992), "Self-Improving Reactive Agents Based on Reinforcement Learning, Planning and
Teaching", Machine Learning 8, which learns from past steps again.

Q(s, a, g) is the path reward from s, starting with a, to g. A transition s, a, r -> s' updates every goal g:

    Q(s, a, g) <- Q(s, a, g) + alpha (r + (0 if s' = g else max_b Q(s', b, g)) - Q(s, a, g))

This happens for the latest step, and for `replays` more, drawn uniformly from the last `capacity`. The goal reward
isn't part of Q, and the step that pays it isn't learned from. If rewards are negative, an `initial_value` of 0 is
optimistic: an untried action counts as if it went straight to the goal.

At the goal itself, the table has the value of leaving and coming back; the value of being there is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fwrl.agents.agent import Agent
from fwrl.agents.baselines.ql import QConfig
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.agents.validation import LARGEST_CAPACITY, MOST_REPLAYS, check_table_size, check_whole
from fwrl.agents.value_function import Tables
from fwrl.arrays import Count, Field, Floats, Setting
from fwrl.kernels.exploration import GOAL, Episode, epsilon_greedy
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.replay import Ring, draw, store
from fwrl.kernels.rng import SplitMix64, new_splitmix64


def check_all_goals(n_states: int, n_actions: int) -> None:
    """Require that S A S numbers fit into memory."""
    what = f"all goals of {n_states:,} states with {n_actions} actions"
    check_table_size(8 * n_states * n_states * n_actions, what, "use a smaller world")


class AllGoalsAgent(Agent[Tables]):
    """An agent that also has action values at the goal, those of leaving it."""

    def value(self, state: int, goal: int) -> float:
        """Return the best of the action values; 0 at the goal."""
        state, goal = self._state(state), self._state(goal, "goal")
        return 0.0 if state == goal else super().value(state, goal)

    def values(self, goal: int) -> Floats:
        """(S,) the value of every state for one goal; 0 at the goal."""
        values = super().values(goal)
        values[goal] = 0.0
        return values


@dataclass(frozen=True)
class AllGoalsConfig(QConfig):
    """Options of all-goals Q-learning.

    Attributes:
        learning_rate: alpha, above 0 and at most 1.
        initial_value: initial Q(s, a, g).
        replays: transitions replayed at every step.
        capacity: transitions kept for replay.
    """

    learning_rate: float = 0.5
    initial_value: float = 0.0
    replays: int = 10
    capacity: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("replays", self.replays, least=0, most=MOST_REPLAYS)
        check_whole("capacity", self.capacity, least=1, most=LARGEST_CAPACITY)


class AllGoalsTables(NamedTuple):
    """Q for every goal, and transitions to replay."""

    Q: Annotated[Floats, Field("S A S")]
    ring: Ring
    splitmix64: SplitMix64
    episode: Episode
    alpha: Setting
    replays: Count
    onward: Annotated[Floats, Field("S", saved=False)]


@compiled
def update_all_goals(Q: Floats, s: int, a: int, r: float, next_s: int, alpha: float, onward: Floats) -> None:
    """Make one Q-learning update of Q(s, a, .); `onward` (S,) is scratch for max_b Q(s', b, .)."""
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


@inner
def act(agent: AllGoalsTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, ., g)."""
    return epsilon_greedy(agent.Q[s, :, agent.episode[GOAL]], agent.episode, rng)


@inner
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


@inner
def action_values(agent: AllGoalsTables, s: int, g: int, values: Floats) -> None:
    """Q(s, ., g)."""
    for a in range(len(values)):
        values[a] = agent.Q[s, a, g]


class AllGoalsQLearning(AllGoalsAgent[AllGoalsTables]):
    """Q-learning for all goals in parallel."""

    name = "agql"
    description = "all-goals Q-learning with replay: every step teaches every goal"
    Config = AllGoalsConfig
    verbs = register_verbs(AllGoalsTables, act, observe, action_values)
    config: AllGoalsConfig

    def sizes(self) -> dict[str, int]:
        """Add N, the number of transitions kept."""
        return super().sizes() | {"N": self.config.capacity}

    def empty_tables(self) -> AllGoalsTables:
        """`initial_value` everywhere, nothing to replay."""
        check_all_goals(self.n_states, self.n_actions)
        tables, config = super().empty_tables(), self.config
        tables.Q[:], tables.alpha[0], tables.replays[0] = config.initial_value, config.learning_rate, config.replays
        tables.splitmix64[:] = new_splitmix64(self.rng)
        return tables
