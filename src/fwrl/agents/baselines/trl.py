"""Transitive RL in a table: S. Park, A. Oberai, P. Atreya and S. Levine (2025), "Transitive RL: Value Learning via
Divide and Conquer", arXiv:2510.22512.

Q(s, a, g) estimates gamma^d, with d the number of steps from s, starting with a, to g. Three times i < k < j are drawn
from one trip, and the two halves teach the whole:

    y = Q(s_i, a_i, s_k) Q(s_k, a_k, s_j)
    Q(s_i, a_i, s_j) <- Q(s_i, a_i, s_j) + alpha w (y - Q(s_i, a_i, s_j))
    w = 1 if y is above Q(s_i, a_i, s_j), else (1 - kappa) / kappa

A half of one step is gamma exactly, and a half from a state to itself is 1. If j = i + 1 there's no midpoint, and y is
gamma. w is the weight of the expectile loss, scaled so that alpha is the rate of a rise. With kappa = alpha = 1 a value
is the largest target so far: Floyd-Warshall's minimum over way-points, restricted to way-points on the same trip.

Every step is learned as it's made. Then `replays` triples are drawn: i uniformly from the last `capacity` transitions,
j - i from the geometric distribution with mean 1 / (1 - gamma), cut off at the end of the trip, and k uniformly between
them. The published agent has a neural network, a slowly moving copy of it for the targets, and an optional weight for
pairs that are near; a table needs none of these. Rewards of steps aren't used.

Two limits of the published agent are those of its table. A pair of states that no trip visits in this order is never
learned. A step that reached its goal by luck has the value of certainty, unless trips on which it failed went on to the
goal: only these pull the value down.

A trip ends where the task moves the agent, as for `her`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fwrl.agents.agent import Config
from fwrl.agents.baselines.agql import AllGoalsAgent, check_all_goals
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.agents.validation import (
    LARGEST_CAPACITY,
    MOST_REPLAYS,
    check_learning_rate,
    check_number,
    check_whole,
)
from fwrl.arrays import ActionScratch, Count, Field, Floats
from fwrl.errors import OptionError
from fwrl.kernels.exploration import GOAL, Episode, epsilon_greedy
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.replay import ENDED, Ring, Trips, draw, left_of_trip, store_on_trip
from fwrl.kernels.rng import SplitMix64, new_splitmix64, next_uniform

RISE, FALL, GAMMA = 0, 1, 2  # positions in `rates`


@dataclass(frozen=True)
class TransitiveConfig(Config):
    """Options of Transitive RL.

    Attributes:
        learning_rate: alpha, above 0 and at most 1.
        expectile: kappa, from 0.5 (the mean of the targets) to 1 (the largest).
        discount: gamma, above 0 and below 1; goals are drawn 1 / (1 - gamma) steps ahead on average.
        initial_value: of every Q(s, a, g), from 0 (no path known) to 1 (as if every action ended at the goal).
        replays: triples of times drawn at every step.
        capacity: transitions kept for replay.
    """

    learning_rate: float = 1.0
    expectile: float = 0.7
    discount: float = 0.99
    initial_value: float = 0.0
    replays: int = 30
    capacity: int = 10_000

    def __post_init__(self) -> None:
        check_learning_rate(self.learning_rate)
        check_number("expectile", self.expectile)
        if not 0.5 <= self.expectile <= 1:
            raise OptionError(f"expected 0.5 <= expectile <= 1, got {self.expectile}")
        check_number("discount", self.discount)
        if not 0 < self.discount < 1:
            raise OptionError(f"expected 0 < discount < 1, got {self.discount}")
        check_number("initial_value", self.initial_value)
        if not 0 <= self.initial_value <= 1:
            raise OptionError(f"expected 0 <= initial_value <= 1, got {self.initial_value}")
        check_whole("replays", self.replays, least=0, most=MOST_REPLAYS)
        check_whole("capacity", self.capacity, least=1, most=LARGEST_CAPACITY)


class TransitiveTables(NamedTuple):
    """Q for every goal, and trips to draw from."""

    Q: Annotated[Floats, Field("S A S", least=0.0, most=1.0)]
    ring: Ring
    trips: Trips
    splitmix64: SplitMix64
    episode: Episode
    rates: Annotated[Floats, Field("3", saved=False)]  # at RISE, FALL and GAMMA
    replays: Count
    action_values: ActionScratch

    def sound(self) -> bool:
        """Whether trips follow one another in the ring."""
        return self.trips.follow(self.ring)


@compiled
def learn_pair(Q: Floats, s: int, a: int, g: int, y: float, rates: Floats) -> None:
    """Move Q(s, a, g) towards `y`: up at one rate, down at another."""
    error = y - Q[s, a, g]
    Q[s, a, g] += (rates[RISE] if error > 0.0 else rates[FALL]) * error


@compiled
def learn_triple(Q: Floats, ring: Ring, trips: Trips, i: int, splitmix64: SplitMix64, rates: Floats) -> None:
    """Learn from the transition in slot `i`, a later time of its trip, and a time between the two."""
    N, gamma = len(ring.state), rates[GAMMA]
    offset = math.log(1.0 - next_uniform(splitmix64)) / math.log(gamma)
    whole = int(min(1.0 + offset, left_of_trip(ring, trips, i)))  # j - i
    s, a, g = ring.state[i], ring.action[i], ring.next_state[(i + whole - 1) % N]
    y = gamma
    if whole > 1:
        first = 1 + int(next_uniform(splitmix64) * (whole - 1))  # k - i
        k = (i + first) % N
        w = ring.state[k]
        if first > 1:
            y = Q[s, a, w]
        if w != g:
            y *= gamma if whole - first == 1 else Q[w, ring.action[k], g]
    learn_pair(Q, s, a, g, y, rates)


@inner
def act(agent: TransitiveTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on the steps to the goal."""
    action_values(agent, s, agent.episode[GOAL], agent.action_values)
    return epsilon_greedy(agent.action_values, agent.episode, rng)


@inner
def observe(agent: TransitiveTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn the step, then triples of stored trips."""
    Q, ring, trips, rates = agent.Q, agent.ring, agent.trips, agent.rates
    if arrived:
        trips.newest[ENDED] = 1
        return LEARNED
    learn_pair(Q, s, a, next_s, rates[GAMMA], rates)
    store_on_trip(ring, trips, s, a, r, next_s, agent.episode[GOAL])
    for _ in range(agent.replays[0]):
        learn_triple(Q, ring, trips, draw(ring, agent.splitmix64), agent.splitmix64, rates)
    return LEARNED


@inner
def action_values(agent: TransitiveTables, s: int, g: int, values: Floats) -> None:
    """Minus the number of steps that Q(s, ., g) stands for; -inf where it's 0."""
    for a in range(len(values)):
        q = agent.Q[s, a, g]
        values[a] = -math.log(q) / math.log(agent.rates[GAMMA]) if q > 0.0 else -np.inf


class TransitiveLearning(AllGoalsAgent[TransitiveTables]):
    """Values of long trips as products of the values of their halves."""

    name = "trl"
    description = "Transitive RL (Park et al. 2025) on a table: long trips learned from two halves of one trip"
    value_kind = "steps"
    Config = TransitiveConfig
    verbs = register_verbs(TransitiveTables, act, observe, action_values)
    config: TransitiveConfig

    def sizes(self) -> dict[str, int]:
        """Also N, the transitions that are kept."""
        return super().sizes() | {"N": self.config.capacity}

    def empty_tables(self) -> TransitiveTables:
        """`initial_value` everywhere, no trip."""
        check_all_goals(self.n_states, self.n_actions)
        tables, config = super().empty_tables(), self.config
        alpha, kappa = config.learning_rate, config.expectile
        tables.rates[:] = alpha, alpha * (1 - kappa) / kappa, config.discount
        tables.Q[:], tables.replays[0] = config.initial_value, config.replays
        tables.splitmix64[:] = new_splitmix64(self.rng)
        return tables

    def prepare(self, goal: int) -> None:
        """Begin a new trip."""
        self.tables.trips.newest[ENDED] = 1
