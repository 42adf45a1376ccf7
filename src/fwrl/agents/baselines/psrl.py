"""Posterior sampling: M. Strens (2000), "A Bayesian Framework for Reinforcement Learning", ICML; I. Osband, D. Russo
and B. Van Roy (2013), "(More) Efficient Reinforcement Learning via Posterior Sampling", NIPS.

The agent draws one model from its posterior and follows the best plan of it for a while. The outcomes of each action
have a Dirichlet posterior: with n(s, a, s') observations and one imagined observation of an outcome not seen yet,

    (u, P(s'_1 | s, a), P(s'_2 | s, a), ...) ~ Dirichlet(1, n(s, a, s'_1), n(s, a, s'_2), ...)

and the unseen outcome counts as if it led straight to the goal. Rewards are the observed means. As published, a new
model is drawn at the start of every trip: a trip is what the papers call an episode. A trip may be long, so one is also
drawn when an action has been tried twice as often as at the last draw (Y. Ouyang, M. Gagrani, A. Nayyar and R. Jain
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
    """Counts, the model drawn from them, and its plan for the goal in use."""

    edges: Edges
    plan: ValuePlan
    due: Due  # of the next model, too
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
    """Greedy on the plan of the model drawn last; on the observed frequencies where the episode does not explore."""
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
    """Count the step; a new model is due after arriving, and where the tries of the action have doubled."""
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
    """Q(s, .) of the plan, which is for the goal in use."""
    fill_values(agent.edges, agent.plan, s, values)


class PosteriorSampling(ReplanningAgent[PsrlTables]):
    """Counts, and plans on models drawn from their posterior."""

    name = "psrl"
    description = "posterior sampling (Strens 2000, Osband 2013): the best plan of a model drawn from the posterior"
    Config = PsrlConfig
    verbs = register_verbs(PsrlTables, act, observe, action_values)
    config: PsrlConfig
