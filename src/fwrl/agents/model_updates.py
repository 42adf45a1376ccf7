"""Counts of outcomes and the plan for the goal in use, kept current by compiled code (see `agents.model`).

After an observation the plan is updated as far as the next action needs it (see `model.plan_updates`). Where that would
take longer than a new plan, `observe` returns UNSETTLED, and the agent's `settle` makes one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.verbs import LEARNED, POSITIVE_CYCLE, UNSETTLED, register_verbs
from fwrl.kernels.exploration import GOAL, epsilon_greedy_from
from fwrl.kernels.graph.edges import NONE, Edges, add_edge, drop_newest_edge, find_edge, see_edge, tries_of
from fwrl.kernels.model.doubt import Doubt, end_trip, left_to_lose, repeats, try_again
from fwrl.kernels.model.envelope import Envelope
from fwrl.kernels.model.greedy import Greedy, cache_greedy
from fwrl.kernels.model.optimism import LEVELS, count_try, level_of, refresh, see_reward, uncount_try
from fwrl.kernels.model.plan import STALE, Plan
from fwrl.kernels.model.plan_equations import outcome_of
from fwrl.kernels.model.plan_updates import change_optimism, settle_for, update_plan
from fwrl.kernels.rate import Income, count_step
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.sampling import fresh_digits
from fwrl.kernels.runtime.ties import LEAST_GAIN, improves

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Marks = NDArray[np.int8]

EDGE, NEW, TRIES = 0, 1, 2  # of `Latest.counts`
TOTAL, BEST, LATEST, OPTIMISTIC = 0, 1, 2, 3  # of `Latest.rewards`


class Latest(NamedTuple):
    """The latest observation that changed the model, and what it changed, so that it can be taken back."""

    counts: Ints  # (3,) the edge at EDGE, 1 at NEW if it was added, earlier tries of its pair at TRIES
    rewards: Floats  # (4,) of the edge before at TOTAL and BEST, its own at LATEST, of an unseen outcome at OPTIMISTIC
    unseen: Floats  # (LEVELS,) the probabilities of an unseen outcome before


class ModelTables(NamedTuple):
    """Counts, and the plan for the goal in use."""

    edges: Edges
    terminated: Marks  # (S,) 1 where an environment was seen to end
    plan: Plan
    doubt: Doubt
    envelope: Envelope
    latest: Latest
    largest: Floats  # (1,) the largest r - rho so far, -inf before
    unchecked: Ints  # (1,) 1 if the latest step may close a positive cycle that an optimistic plan does not show
    episode: Ints
    greedy: Greedy
    action_values: Floats  # (A,)
    counts_steps: Ints  # (1,) 1 where every step counts as -1
    income: Income


@compiled
def planned_values(edges: Edges, plan: Plan, s: int, values: Floats) -> None:
    """v(s, .) of the actions with the largest arrival probability, -inf for the others."""
    A = len(values)
    best = 0.0
    for a in range(A):
        best = max(best, outcome_of(edges, plan, s * A + a)[0])
    for a in range(A):
        p, v = outcome_of(edges, plan, s * A + a)
        values[a] = -np.inf if improves(best, p) else v


@compiled
def planned_table(edges: Edges, plan: Plan, table: Floats) -> None:
    """The same for every state, into `table` (S, A)."""
    for s in range(len(table)):
        planned_values(edges, plan, s, table[s])


@compiled
def act(agent: ModelTables, s: int, rng: np.random.Generator) -> int:
    """Greedy on the plan; epsilon-greedy unless the plan is optimistic, with a doubted action now and then if it is."""
    if agent.greedy.made[s] != agent.greedy.changes[0]:
        planned_values(agent.edges, agent.plan, s, agent.action_values)
        cache_greedy(agent.greedy, s, agent.action_values)
    if agent.plan.optimism.on[0] == 0:
        return epsilon_greedy_from(agent.greedy, s, agent.episode, rng)
    u = fresh_digits(rng.random())
    a = doubted_action(agent, s)
    return a if a != NONE else int(agent.greedy.best[s, int(u * agent.greedy.ties[s])])


@compiled
def doubted_action(agent: ModelTables, s: int) -> int:
    """An action that is worth another try on a trip that repeats; NONE mostly."""
    left = left_to_lose(agent.doubt, s, agent.plan.v, len(agent.action_values))
    if left <= 0.0 or s == agent.episode[GOAL]:
        return NONE
    planned_values(agent.edges, agent.plan, s, agent.action_values)
    promise = agent.plan.optimism.reward[0] - agent.plan.rho[0]
    return try_again(agent.doubt, agent.edges, s, agent.action_values, promise, left)


@compiled
def observe(agent: ModelTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Count the step; if that changes the model, update the plan as far as the best actions at `next_s` need it."""
    if agent.income.on[0] != 0:
        count_step(agent.income, s, r, arrived)
    if arrived:
        end_trip(agent.doubt)
        return settled_for(agent, next_s)
    if agent.counts_steps[0] != 0:
        r = -1.0
    edges, plan, g = agent.edges, agent.plan, agent.episode[GOAL]
    pair = s * len(agent.action_values) + a
    if next_s == s and gains_by_staying(agent, s, pair, r):
        return POSITIVE_CYCLE
    n = tries_of(edges, pair)
    e = find_edge(edges, pair, next_s)
    new = e == NONE
    due = count_try(plan.optimism, n, new)
    if new:
        e = add_edge(edges, pair, next_s)
    elif not due and certain(edges, pair, e, r) and level_of(n + 1) == level_of(n):
        see_edge(edges, e, r)
        return settled_for(agent, next_s)
    latest = agent.latest
    latest.counts[EDGE], latest.counts[NEW], latest.counts[TRIES] = e, new, n
    latest.rewards[TOTAL], latest.rewards[BEST], latest.rewards[LATEST] = edges.total[e], edges.best[e], r
    latest.rewards[OPTIMISTIC] = plan.optimism.reward[0]
    for j in range(LEVELS):
        latest.unseen[j] = plan.optimism.unseen[j]
    see_edge(edges, e, r)
    agent.greedy.changes[0] += 1
    promises = see_reward(plan.optimism.reward, r)
    agent.largest[0] = max(agent.largest[0], r - plan.rho[0])
    if g < 0:
        return LEARNED
    settled = plan.size[STALE] == 0
    agent.unchecked[0] = hides_positive_cycles(agent)
    negative = agent.largest[0] < 0.0
    if plan.optimism.on[0] != 0 and (due or promises):
        ends = refresh(plan.optimism)
        change_optimism(edges, plan, agent.envelope, g, negative, ends or promises)
    asked = _asked(agent, next_s)
    if update_plan(edges, plan, agent.envelope, agent.terminated, s, a, next_s, new, g, negative, asked):
        return LEARNED if agent.unchecked[0] == 0 else UNSETTLED
    return UNSETTLED if settled or agent.largest[0] > 0.0 else LEARNED


@compiled
def gains_by_staying(agent: ModelTables, s: int, pair: int, r: float) -> bool:
    """Whether `pair`, of s, would only ever stay at s and gain in all, after one more try that pays r.

    That is a positive cycle wherever the goal is, unless nothing follows s, or steps are paid less than rho.
    """
    if agent.terminated[s] != 0 or agent.income.on[0] != 0:
        return False
    e = agent.edges.leaving[pair]
    if e == NONE:
        return r > LEAST_GAIN
    stays = agent.edges.target[e] == s and agent.edges.next_leaving[e] == NONE
    return bool(stays and agent.edges.total[e] + r > LEAST_GAIN)


@compiled
def hides_positive_cycles(agent: ModelTables) -> bool:
    """Whether the plan may have values although the counted outcomes have a positive cycle.

    An unseen outcome ends any cycle at the goal. Where steps are paid less than rho, no cycle is refused.
    """
    return bool(agent.plan.optimism.on[0] != 0 and agent.largest[0] > 0.0 and agent.income.on[0] == 0)


@compiled
def settled_for(agent: ModelTables, s: int) -> int:
    """Make the best actions at s exact, all values if s is NONE."""
    g, negative = agent.episode[GOAL], agent.largest[0] < 0.0
    exact = settle_for(agent.edges, agent.plan, agent.envelope, _asked(agent, s), g, negative)
    return LEARNED if exact else UNSETTLED


@compiled
def _asked(agent: ModelTables, s: int) -> int:
    """Where values are needed for the action at s: there, or everywhere if it may be one that is tried again."""
    everywhere = s == NONE or (agent.plan.optimism.on[0] != 0 and repeats(agent.doubt, s))
    return NONE if everywhere else s


@compiled
def take_back(agent: ModelTables) -> None:
    """Undo the latest observation."""
    edges, latest = agent.edges, agent.latest
    e, new = latest.counts[EDGE], latest.counts[NEW] != 0
    edges.times[e] -= 1
    edges.total[e] = latest.rewards[TOTAL]
    edges.best[e] = latest.rewards[BEST]
    agent.plan.optimism.reward[0] = latest.rewards[OPTIMISTIC]
    for j in range(LEVELS):
        agent.plan.optimism.unseen[j] = latest.unseen[j]
    uncount_try(agent.plan.optimism, latest.counts[TRIES], new)
    if new:
        drop_newest_edge(edges)


@compiled
def certain(edges: Edges, pair: int, e: int, r: float) -> bool:
    """Whether `e` is the only outcome of `pair`, and `r` its reward every time."""
    if edges.leaving[pair] != e or edges.next_leaving[e] != NONE:
        return False
    mean = edges.total[e] / edges.times[e]
    return not improves(r, mean) and not improves(mean, r)


@compiled
def action_values(agent: ModelTables, s: int, g: int, values: Floats) -> None:
    """The action values of the plan, which is for the goal in use."""
    planned_values(agent.edges, agent.plan, s, values)


VERBS = register_verbs(ModelTables, act, observe, action_values)
