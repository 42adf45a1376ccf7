"""R-max: R. I. Brafman and M. Tennenholtz (2002), "R-max - A General Polynomial Time Algorithm for Near-Optimal
Reinforcement Learning", Journal of Machine Learning Research 3.

An action tried fewer than m times is unknown, and counts as if it went straight to the goal for the largest reward.
After m tries it's known, and counts as observed. The agent follows the best plan of this model, and replans when an
action becomes known. As published, it never tries again after that: a small m misses rare outcomes for good, and a
large m makes every action of a deterministic world cost m tries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fwrl.agents.baselines.replanning import (
    UNSEEN,
    Due,
    ReplanningAgent,
    ReplanningConfig,
    ValuePlan,
    copy_counts,
    fill_values,
    iterate,
)
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.agents.validation import check_whole
from fwrl.arrays import ActionScratch, Count, Floats
from fwrl.kernels.edges import Edges, count_edge, tries_of
from fwrl.kernels.exploration import EXPLORE, GOAL, Episode
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.ties import pick_best


@dataclass(frozen=True)
class RMaxConfig(ReplanningConfig):
    """Options of R-max.

    Attributes:
        known_after: m, the number of tries after which an action counts as known.
    """

    known_after: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("known_after", self.known_after, least=1, most=10**6)


class RMaxTables(NamedTuple):
    """Counts, and the plan for the current goal."""

    edges: Edges
    plan: ValuePlan
    due: Due
    episode: Episode
    action_values: ActionScratch
    known_after: Count  # m


@compiled
def plan_ahead(agent: RMaxTables) -> None:
    """Plan on the known actions; the others are unseen while the episode explores."""
    copy_counts(agent.edges, agent.plan)
    if agent.episode[EXPLORE] != 0:
        for pair in range(len(agent.plan.unseen)):
            agent.plan.unseen[pair] = 1.0 if tries_of(agent.edges, pair) < agent.known_after[0] else 0.0
    iterate(agent.edges, agent.plan, agent.episode[GOAL])
    agent.due[0] = 0


@inner
def act(agent: RMaxTables, s: int, rng: np.random.Generator) -> int:
    """Greedy on the plan."""
    if agent.due[0] != 0:
        plan_ahead(agent)
    fill_values(agent.edges, agent.plan, s, agent.action_values)
    return pick_best(agent.action_values, rng.random())


@inner
def observe(agent: RMaxTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step; replan when the action becomes known, or the largest reward is exceeded."""
    if arrived:
        return LEARNED
    pair = s * len(agent.action_values) + a
    count_edge(agent.edges, pair, next_s, r)
    if r > agent.plan.level[UNSEEN]:
        agent.plan.level[UNSEEN] = r
        agent.due[0] = 1
    if tries_of(agent.edges, pair) == agent.known_after[0]:
        agent.due[0] = 1
    return LEARNED


@inner
def action_values(agent: RMaxTables, s: int, g: int, values: Floats) -> None:
    """Fill in Q(s, .) of the plan for the current goal."""
    fill_values(agent.edges, agent.plan, s, values)


class RMax(ReplanningAgent[RMaxTables]):
    """Counts, and optimism until an action has been tried m times."""

    name = "rmax"
    description = "R-max (Brafman and Tennenholtz 2002): actions tried too rarely count as if they went to the goal"
    Config = RMaxConfig
    verbs = register_verbs(RMaxTables, act, observe, action_values)
    config: RMaxConfig

    def empty_tables(self) -> RMaxTables:
        """Nothing observed."""
        tables = super().empty_tables()
        tables.known_after[0] = self.config.known_after
        return tables
