"""Temporal difference models in a table: V. Pong, S. Gu, M. Dalal and S. Levine (2018), "Temporal Difference Models:
Model-Free Deep RL for Model-Based Control", ICLR.

Q(s, a, g, tau) is minus the expected distance to g that's left after tau + 1 steps, starting with a at s. A transition
s, a -> s' teaches every goal g and every tau:

    Q(s, a, g, tau) <- Q(s, a, g, tau) + alpha (y - Q(s, a, g, tau))
    y = 0 if s' = g,   -d(s', g) if tau = 0,   max_b Q(s', b, g, tau - 1) otherwise

d is the L1 distance of positions, as published; without positions it's 1 between any two states. The published agent
draws some goals and times for each transition; a table can take them all. Arriving ends a trip, so nothing is lost
after it. Rewards of steps aren't used.

An action is chosen for a time tau that counts down from step to step. The published agent starts at the largest tau, T.
Ours wastes no time: it starts at the smallest tau at which the distance left is within a twentieth of the least. The
count restarts at 0, on arriving and with a new goal. If the path is longer than T, the best the agent can see is to get
near, possibly behind a wall: the method needs a dense distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fwrl.agents.agent import Agent
from fwrl.agents.baselines.ql import QConfig
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.agents.validation import (
    LARGEST_CAPACITY,
    MOST_REPLAYS,
    check_table_size,
    check_whole,
    checked_index,
    checked_rows,
)
from fwrl.arrays import Count, Field, Floats, Ints, Setting
from fwrl.errors import OptionError
from fwrl.kernels.exploration import GOAL, Episode, epsilon_greedy
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.replay import Ring, draw, store
from fwrl.kernels.rng import SplitMix64, new_splitmix64

SLACK = 0.05  # distance: with random outcomes, more time always helps a little
UNSET = -1  # time left: choose it at the next action


@dataclass(frozen=True)
class TdmConfig(QConfig):
    """Options of temporal difference models.

    Attributes:
        learning_rate: alpha, above 0 and at most 1.
        initial_value: initial Q(s, a, g, tau); 0 is optimistic, as if every action ended at the goal.
        horizon: number of times tau, from 0 to horizon - 1.
        replays: transitions replayed at every step.
        capacity: transitions kept for replay.
        positions: (S, d) coordinates of the states; None for a distance of 1 between any two.
    """

    initial_value: float = 0.0
    horizon: int = 16
    replays: int = 0
    capacity: int = 10_000
    positions: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("horizon", self.horizon, least=1, most=10_000)
        check_whole("replays", self.replays, least=0, most=MOST_REPLAYS)
        check_whole("capacity", self.capacity, least=1, most=LARGEST_CAPACITY)
        object.__setattr__(self, "positions", checked_rows("positions", self.positions))


class TdmTables(NamedTuple):
    """Q for every goal and time, distances, transitions to replay, and the time left."""

    Q: Annotated[Floats, Field("S A T S")]  # state, action, tau, goal
    distance: Annotated[Floats, Field("S S", saved=False)]
    left: Annotated[Ints, Field("1", np.int64, fill=UNSET, least=UNSET, most="T")]  # tau of the next action, or UNSET
    ring: Ring
    splitmix64: SplitMix64
    episode: Episode
    alpha: Setting
    replays: Count
    onward: Annotated[Floats, Field("S", saved=False)]


@compiled
def update_all_times(Q: Floats, distance: Floats, s: int, a: int, next_s: int, alpha: float, onward: Floats) -> None:
    """Update Q(s, a, ., .) for every goal and time; `onward` (S,) is scratch for the best values at the next state."""
    A, T, S = Q.shape[1], Q.shape[2], Q.shape[3]
    for tau in range(T - 1, -1, -1):  # downwards, so a step that stays at s reads values from before this update
        for g in range(S):
            onward[g] = -distance[next_s, g] if tau == 0 else Q[next_s, 0, tau - 1, g]
        if tau > 0:
            for b in range(1, A):
                for g in range(S):
                    onward[g] = max(onward[g], Q[next_s, b, tau - 1, g])
        onward[next_s] = 0.0
        row = Q[s, a, tau]
        for g in range(S):
            row[g] += alpha * (onward[g] - row[g])


@compiled
def best_value(Q: Floats, s: int, g: int, tau: int) -> float:
    """max_a Q(s, a, g, tau)."""
    best = Q[s, 0, tau, g]
    for a in range(1, Q.shape[1]):
        best = max(best, Q[s, a, tau, g])
    return float(best)


@compiled
def least_time(Q: Floats, s: int, g: int) -> int:
    """Return the smallest tau whose best action leaves, up to `SLACK`, the least distance to `g`."""
    T = Q.shape[2]
    best = best_value(Q, s, g, 0)
    for tau in range(1, T):
        best = max(best, best_value(Q, s, g, tau))
    tau = 0
    while best_value(Q, s, g, tau) < best - SLACK:
        tau += 1
    return tau


@inner
def act(agent: TdmTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on Q(s, ., g, tau); counts tau down."""
    g = agent.episode[GOAL]
    if agent.left[0] == UNSET:
        agent.left[0] = least_time(agent.Q, s, g)
    tau = agent.left[0]
    agent.left[0] = tau - 1
    return epsilon_greedy(agent.Q[s, :, tau, g], agent.episode, rng)


@inner
def observe(agent: TdmTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn from the step, then replay."""
    if arrived:
        agent.left[0] = UNSET
        return LEARNED
    ring, alpha = agent.ring, agent.alpha[0]
    update_all_times(agent.Q, agent.distance, s, a, next_s, alpha, agent.onward)
    if agent.replays[0] > 0:
        store(ring, s, a, r, next_s)
    for _ in range(agent.replays[0]):
        i = draw(ring, agent.splitmix64)
        update_all_times(
            agent.Q, agent.distance, ring.state[i], ring.action[i], ring.next_state[i], alpha, agent.onward
        )
    return LEARNED


@inner
def action_values(agent: TdmTables, s: int, g: int, values: Floats) -> None:
    """Fill in Q(s, ., g, tau) for the smallest tau that leaves the least distance."""
    tau = least_time(agent.Q, s, g)
    for a in range(len(values)):
        values[a] = agent.Q[s, a, tau, g]


class TemporalDifferenceModel(Agent[TdmTables]):
    """Goal- and horizon-conditioned Q-learning on distances."""

    name = "tdm"
    description = "temporal difference models (Pong et al. 2018): distance left to every goal when the time is up"
    value_kind = None
    Config = TdmConfig
    verbs = register_verbs(TdmTables, act, observe, action_values)
    config: TdmConfig

    def sizes(self) -> dict[str, int]:
        """Add T times, and N, the number of transitions kept."""
        return super().sizes() | {"T": self.config.horizon, "N": self.config.capacity}

    def empty_tables(self) -> TdmTables:
        """`initial_value` everywhere, nothing to replay."""
        S, A, config = self.n_states, self.n_actions, self.config
        what = f"{config.horizon} times and all goals of {S:,} states with {A} actions"
        check_table_size(8 * S * A * config.horizon * S, what, "use a smaller world or a smaller horizon")
        tables = super().empty_tables()
        tables.Q[:], tables.alpha[0], tables.replays[0] = config.initial_value, config.learning_rate, config.replays
        tables.distance[:], tables.splitmix64[:] = _distances(S, config.positions), new_splitmix64(self.rng)
        return tables

    def prepare(self, goal: int) -> None:
        """Restart the count of time."""
        self.tables.left[0] = UNSET

    def distance_left(self, state: int, action: int, goal: int, tau: int) -> float:
        """Return the expected distance to a goal that's left, -Q(s, a, g, tau), tau steps after the action."""
        action = checked_index(action, self.n_actions, "an action")
        tau = checked_index(tau, self.config.horizon, "tau")
        return -float(self.tables.Q[self._state(state), action, tau, self._state(goal, "goal")])


def _distances(n_states: int, positions: Sequence[Sequence[float]] | None) -> Floats:
    """(S, S) L1 distances of positions; without any, 1 between different states."""
    if positions is None:
        return 1.0 - np.eye(n_states)
    x = np.array(positions, dtype=np.float64)
    if len(x) != n_states:
        raise OptionError(f"expected positions of {n_states} states, got {len(x)}")
    apart: Floats = np.abs(x[:, None] - x[None]).sum(axis=-1)
    return apart
