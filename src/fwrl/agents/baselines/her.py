"""Hindsight experience replay in a table: M. Andrychowicz, F. Wolski, A. Ray, J. Schneider, R. Fong, P. Welinder,
B. McGrew, J. Tobin, P. Abbeel and W. Zaremba (2017), "Hindsight Experience Replay", NeurIPS.

Q(g, s, a) is the return from s, starting with a, goal reward R included. Learning a transition s, a, r -> s' for a
goal g means

    Q(g, s, a) <- Q(g, s, a) + alpha (y - Q(g, s, a)),   y = r + R if s' = g, else r + max_b Q(g, s', b)

Entering the goal ends the trip, so there's no bootstrapping there. R is the option `goal_reward`, because a goal in
hindsight paid nothing. The agent learns every step for its current goal, and stores it with that goal. Then it draws
`replays` transitions uniformly from the last `capacity`, and learns each again for its own goal, and for `k` goals
drawn from the states reached later on the same trip, its own s' included (the strategy "future").

A trip ends when the task moves the agent: at the arriving step, at a new episode, or if s isn't the last s'. The
arriving step itself, taken on the goal, sets Q(g, s, a) to the reward it paid and isn't stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fwrl.agents.agent import Agent
from fwrl.agents.baselines.agql import check_all_goals
from fwrl.agents.baselines.ql import QConfig
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.agents.validation import LARGEST_CAPACITY, MOST_REPLAYS, check_number, check_whole
from fwrl.arrays import Field, Floats, Ints
from fwrl.kernels.exploration import GOAL, Episode, epsilon_greedy
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.replay import (
    ENDED,
    Ring,
    Trips,
    draw,
    draw_achieved,
    store_on_trip,
)
from fwrl.kernels.rng import SplitMix64, new_splitmix64
from fwrl.kernels.ties import largest

ALPHA, R_GOAL = 0, 1  # positions in `rates`
REPLAYS, K = 0, 1  # positions in `counts`


@dataclass(frozen=True)
class HindsightConfig(QConfig):
    """Options of hindsight experience replay.

    Attributes:
        learning_rate: alpha, above 0 and at most 1.
        initial_value: initial Q(g, s, a).
        k: goals in hindsight for each replayed transition.
        replays: transitions replayed at every step.
        capacity: transitions kept for replay.
        goal_reward: R, the reward for arriving at a goal in hindsight.
    """

    k: int = 4
    replays: int = 10
    capacity: int = 10_000
    goal_reward: float = 10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("k", self.k, least=0, most=MOST_REPLAYS)
        check_whole("replays", self.replays, least=0, most=MOST_REPLAYS)
        check_whole("capacity", self.capacity, least=1, most=LARGEST_CAPACITY)
        check_number("goal_reward", self.goal_reward)


class HindsightTables(NamedTuple):
    """Q for every goal, and trips to replay."""

    Q: Annotated[Floats, Field("S S A")]  # goal, state, action
    ring: Ring
    trips: Trips
    splitmix64: SplitMix64
    episode: Episode
    rates: Annotated[Floats, Field("2", saved=False)]  # at ALPHA and R_GOAL
    counts: Annotated[Ints, Field("2", np.int64, saved=False)]  # at REPLAYS and K

    def sound(self) -> bool:
        """Check that trips follow one another in the ring."""
        return self.trips.follow(self.ring)


@compiled
def learn_for(Q: Floats, g: int, s: int, a: int, r: float, next_s: int, alpha: float, R: float) -> None:
    """Make one Q-learning update of Q(g, s, a)."""
    onward = R if next_s == g else largest(Q[g, next_s])
    Q[g, s, a] += alpha * (r + onward - Q[g, s, a])


@inner
def act(agent: HindsightTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(g, s, .)."""
    return epsilon_greedy(agent.Q[agent.episode[GOAL], s], agent.episode, rng)


@inner
def observe(agent: HindsightTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn from the step for the current goal, then replay with hindsight."""
    Q, ring, trips, g = agent.Q, agent.ring, agent.trips, agent.episode[GOAL]
    alpha, R = agent.rates[ALPHA], agent.rates[R_GOAL]
    if arrived:
        trips.newest[ENDED] = 1
        if g >= 0:
            Q[g, s, a] = r
        return LEARNED
    if g >= 0:
        learn_for(Q, g, s, a, r, next_s, alpha, R)
    store_on_trip(ring, trips, s, a, r, next_s, g)
    for _ in range(agent.counts[REPLAYS]):
        i = draw(ring, agent.splitmix64)
        s_i, a_i, r_i, next_i = ring.state[i], ring.action[i], ring.reward[i], ring.next_state[i]
        if trips.goal[i] >= 0:
            learn_for(Q, trips.goal[i], s_i, a_i, r_i, next_i, alpha, R)
        for _ in range(agent.counts[K]):
            achieved = draw_achieved(ring, trips, i, agent.splitmix64)
            learn_for(Q, achieved, s_i, a_i, r_i, next_i, alpha, R)
    return LEARNED


@inner
def action_values(agent: HindsightTables, s: int, g: int, values: Floats) -> None:
    """Q(g, s, .)."""
    for a in range(len(values)):
        values[a] = agent.Q[g, s, a]


class HindsightReplay(Agent[HindsightTables]):
    """Q-learning that also learns each trip for the states it reached."""

    name = "her"
    description = "hindsight experience replay (Andrychowicz et al. 2017) on a table"
    value_kind = "return"
    Config = HindsightConfig
    verbs = register_verbs(HindsightTables, act, observe, action_values)
    config: HindsightConfig

    def sizes(self) -> dict[str, int]:
        """Add N, the number of transitions kept."""
        return super().sizes() | {"N": self.config.capacity}

    def empty_tables(self) -> HindsightTables:
        """`initial_value` everywhere, no trips."""
        check_all_goals(self.n_states, self.n_actions)
        tables, config = super().empty_tables(), self.config
        tables.Q[:], tables.splitmix64[:] = config.initial_value, new_splitmix64(self.rng)
        tables.rates[:], tables.counts[:] = (config.learning_rate, config.goal_reward), (config.replays, config.k)
        return tables

    def prepare(self, goal: int) -> None:
        """Begin a new trip."""
        self.tables.trips.newest[ENDED] = 1
