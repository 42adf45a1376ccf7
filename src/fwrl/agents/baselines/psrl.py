"""Posterior sampling: M. Strens (2000), "A Bayesian Framework for Reinforcement Learning", ICML; I. Osband, D. Russo
and B. Van Roy (2013), "(More) Efficient Reinforcement Learning via Posterior Sampling", NIPS.

The agent draws one model from its posterior and follows that model's best plan for a while. The outcomes of each action
have a Dirichlet posterior: with n(s, a, s') observations and one imagined observation of an unseen outcome,

    (u, P(s'_1 | s, a), P(s'_2 | s, a), ...) ~ Dirichlet(1, n(s, a, s'_1), n(s, a, s'_2), ...)

and the unseen outcome counts as if it went straight to the goal. Rewards are the observed means. As published, the
agent draws a new model at the start of every trip (the papers call it an episode). Trips can be long, so it also draws
one when an action has been tried twice as often as at the last draw (Y. Ouyang, M. Gagrani, A. Nayyar and R. Jain
2017, "Learning Unknown Markov Decision Processes: A Thompson Sampling Approach", NIPS).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

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
from fwrl.arrays import ActionScratch, Field, Floats, Ints
from fwrl.kernels.edges import NONE, Edges, count_edge, tries_of
from fwrl.kernels.exploration import EXPLORE, GOAL, Episode
from fwrl.kernels.jit import compiled, inner
from fwrl.kernels.rng import gamma
from fwrl.kernels.ties import pick_best


@dataclass(frozen=True)
class PsrlConfig(ReplanningConfig):
    """Options of posterior sampling: those of planning."""


class PsrlTables(NamedTuple):
    """Counts, the model drawn from them, and its plan for the current goal."""

    edges: Edges
    plan: ValuePlan
    due: Due  # also for the next model
    drawn_at: Annotated[Ints, Field("P", np.int64, least=0, most=2**53)]  # tries of each pair at the last draw
    episode: Episode
    action_values: ActionScratch


@compiled
def draw_model(agent: PsrlTables, rng: np.random.Generator) -> None:
    """Draw the outcomes of every pair from their posterior."""
    edges, plan = agent.edges, agent.plan
    for pair in range(len(plan.unseen)):
        agent.drawn_at[pair] = tries_of(edges, pair)
        plan.unseen[pair] = 1.0
        if agent.drawn_at[pair] > 0:
            imagined = gamma(1.0, rng)
            total = imagined
            e = edges.leaving[pair]
            while e != NONE:
                plan.weight[e] = gamma(float(edges.times[e]), rng)
                total += plan.weight[e]
                e = edges.next_leaving[e]
            plan.unseen[pair] = imagined / total


@inner
def act(agent: PsrlTables, s: int, rng: np.random.Generator) -> int:
    """Act greedily on the plan of the latest model; if the episode doesn't explore, on the observed frequencies."""
    if agent.due[0] != 0:
        if agent.episode[EXPLORE] != 0:
            draw_model(agent, rng)
        else:
            copy_counts(agent.edges, agent.plan)
        iterate(agent.edges, agent.plan, agent.episode[GOAL])
        agent.due[0] = 0
    fill_values(agent.edges, agent.plan, s, agent.action_values)
    return pick_best(agent.action_values, rng.random())


@inner
def observe(agent: PsrlTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step; a new model is due after arriving, and when the tries of the action have doubled."""
    if arrived:
        agent.due[0] = 1
        return LEARNED
    pair = s * len(agent.action_values) + a
    count_edge(agent.edges, pair, next_s, r)
    agent.plan.level[UNSEEN] = max(agent.plan.level[UNSEEN], r)
    if tries_of(agent.edges, pair) >= 2 * max(agent.drawn_at[pair], 1) or agent.drawn_at[pair] == 0:
        agent.due[0] = 1
    return LEARNED


@inner
def action_values(agent: PsrlTables, s: int, g: int, values: Floats) -> None:
    """Fill in Q(s, .) of the plan for the current goal."""
    fill_values(agent.edges, agent.plan, s, values)


class PosteriorSampling(ReplanningAgent[PsrlTables]):
    """Counts, and plans on models drawn from their posterior."""

    name = "psrl"
    description = "posterior sampling (Strens 2000, Osband 2013): the best plan of a model drawn from the posterior"
    Config = PsrlConfig
    verbs = register_verbs(PsrlTables, act, observe, action_values)
    config: PsrlConfig
