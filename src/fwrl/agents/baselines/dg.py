"""DG-learning: L. P. Kaelbling (1993), "Learning to Achieve Goals", IJCAI, pages 1094-1099.

DG(s, a, g) is the expected number of steps from s, starting with a, to g. After every step s, a -> s', for every
goal g,

    DG(s, a, g) <- (1 - alpha) DG(s, a, g) + alpha (1 if s' = g else 1 + min_b DG(s', b, g))

and with `relaxation`, through the state k = s just left, for all i, a, g,

    DG(i, a, g) <- min( DG(i, a, g), DG(i, a, k) + min_b DG(k, b, g) )

As published, it counts steps and ignores rewards. The relaxation is Algorithm 1 of FWRL with steps for rewards, with
two differences: there's a learning rate, and an unknown path has `initial_steps` steps. That number should exceed every
distance, or relaxation would shorten unknown paths. The published relaxation runs from time to time over all k; ours
runs at every step over one k, as in FWRL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from fwrl.agents.agent import Config
from fwrl.agents.baselines.agql import AllGoalsAgent, check_all_goals
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.agents.validation import check_learning_rate, check_number
from fwrl.arrays import ActionScratch, Count, Field, Floats, Ints, Setting
from fwrl.errors import OptionError
from fwrl.kernels.exploration import GOAL, Episode, epsilon_greedy
from fwrl.kernels.jit import compiled, inner


@dataclass(frozen=True)
class DgConfig(Config):
    """Options of DG-learning.

    Attributes:
        learning_rate: alpha, above 0 and at most 1.
        relaxation: whether to relax through the state just left, at every step.
        initial_steps: DG of unknown paths.
    """

    learning_rate: float = 1.0
    relaxation: bool = True
    initial_steps: float = 1000.0

    def __post_init__(self) -> None:
        check_learning_rate(self.learning_rate)
        if not isinstance(self.relaxation, bool):
            raise OptionError(f"expected relaxation to be true or false, got {self.relaxation!r}")
        check_number("initial_steps", self.initial_steps, least=0)


class DgTables(NamedTuple):
    """DG; `changes[0]` counts changes of it, and `relaxed[k]` is that count when k was last relaxed through."""

    DG: Annotated[Floats, Field("S A S")]
    episode: Episode
    changes: Annotated[Ints, Field("1", np.int64)]
    relaxed: Annotated[Ints, Field("S", np.int64, fill=-1)]
    onward: Annotated[Floats, Field("S", saved=False)]
    action_values: ActionScratch
    alpha: Setting
    relaxes: Count


@compiled
def least_onward(DG: Floats, k: int, onward: Floats) -> None:
    """Write min_b DG(k, b, .) into `onward` (S,)."""
    for g in range(len(onward)):
        onward[g] = DG[k, 0, g]
    for b in range(1, DG.shape[1]):
        for g in range(len(onward)):
            onward[g] = min(onward[g], DG[k, b, g])


@compiled
def step_towards(DG: Floats, s: int, a: int, next_s: int, alpha: float, onward: Floats) -> bool:
    """Update DG(s, a, .) for every goal; return whether anything changed."""
    least_onward(DG, next_s, onward)
    onward[next_s] = 0.0
    row = DG[s, a]
    changed = False
    for g in range(len(row)):
        steps = (1.0 - alpha) * row[g] + alpha * (1.0 + onward[g])
        changed |= steps != row[g]
        row[g] = steps
    return changed


@compiled
def shorten_through(DG: Floats, k: int, onward: Floats) -> bool:
    """Relax through the waypoint `k`; return whether anything became shorter."""
    least_onward(DG, k, onward)
    changed = False
    for i in range(DG.shape[0]):
        for a in range(DG.shape[1]):
            row = DG[i, a]
            to_k = row[k]
            for g in range(len(row)):
                through = to_k + onward[g]
                changed |= through < row[g]
                row[g] = min(row[g], through)
    return changed


@inner
def act(agent: DgTables, s: int, rng: np.random.Generator) -> int:
    """Epsilon-greedy on -DG(s, ., g)."""
    action_values(agent, s, agent.episode[GOAL], agent.action_values)
    return epsilon_greedy(agent.action_values, agent.episode, rng)


@inner
def observe(agent: DgTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Update every goal, then relax through s, unless nothing changed since the last relaxation through s."""
    if arrived:
        return LEARNED
    if step_towards(agent.DG, s, a, next_s, agent.alpha[0], agent.onward):
        agent.changes[0] += 1
    if agent.relaxes[0] != 0 and agent.relaxed[s] != agent.changes[0]:
        if shorten_through(agent.DG, s, agent.onward):
            agent.changes[0] += 1
        agent.relaxed[s] = agent.changes[0]
    return LEARNED


@inner
def action_values(agent: DgTables, s: int, g: int, values: Floats) -> None:
    """-DG(s, ., g)."""
    for a in range(len(values)):
        values[a] = -agent.DG[s, a, g]


class DgLearning(AllGoalsAgent[DgTables]):
    """Kaelbling's DG-learning: values count steps and ignore rewards."""

    name = "dg"
    description = "DG-learning (Kaelbling 1993): steps to every goal, with or without relaxation"
    value_kind = "steps"
    Config = DgConfig
    verbs = register_verbs(DgTables, act, observe, action_values)
    config: DgConfig

    def empty_tables(self) -> DgTables:
        """Every path has `initial_steps` steps."""
        check_all_goals(self.n_states, self.n_actions)
        tables, config = super().empty_tables(), self.config
        tables.DG[:], tables.alpha[0], tables.relaxes[0] = config.initial_steps, config.learning_rate, config.relaxation
        return tables
