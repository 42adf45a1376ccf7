"""The equations of a plan, one state at a time, on counted edges.

Outcomes that are unknown are left out, an unseen one counts as the goal while optimism is on, and staying at a state is
solved for: an action is repeated until it leads elsewhere.
"""

from __future__ import annotations

import numpy as np

from fwrl.kernels.graph.edges import NONE, Edges, tries_of
from fwrl.kernels.model.evaluation import ACCURACY
from fwrl.kernels.model.optimism import unseen_probability
from fwrl.kernels.model.plan import Plan
from fwrl.kernels.model.reachability import UNKNOWN
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN

ROUNDING = 1e-15  # of v, relative: a change that rounding alone may cause


@compiled
def outcome_of(edges: Edges, plan: Plan, pair: int) -> tuple[float, float]:
    """(p, v) of taking the action `pair` once and following `pi` after; (0, -inf) if that never arrives."""
    n = 0
    weight = 0.0
    value = 0.0
    rho = plan.rho[0]
    e = edges.leaving[pair]
    while e != NONE:
        y = edges.target[e]
        if plan.status[y] != UNKNOWN:
            n += edges.times[e]
            p = plan.p[y]
            if p > 0.0:
                weight += edges.times[e] * p
                value += p * (edges.total[e] + edges.times[e] * (plan.v[y] - rho))
        e = edges.next_leaving[e]
    q = unseen_probability(plan.optimism, n)
    if n == 0:
        return q, (plan.optimism.reward[0] - rho if q > 0.0 else -np.inf)
    p = weight / n
    if q > 0.0:
        p = (1.0 - q) * p + q
        return p, ((1.0 - q) * (value / n) + q * (plan.optimism.reward[0] - rho)) / p
    return (p, value / weight) if weight > 0.0 else (0.0, -np.inf)


@compiled
def solved(edges: Edges, plan: Plan, s: int, a: int) -> tuple[float, float, float]:
    """(p, v, r) that solve the equations of s for the action a; r is the part of v that is reward of the action itself.

    p is 0 where no outcome other than s itself arrives.
    """
    A = len(edges.leaving) // len(plan.p)
    n, stay = 0, 0
    weight, value, own, own_stay = 0.0, 0.0, 0.0, 0.0
    rho = plan.rho[0]
    e = edges.leaving[s * A + a]
    while e != NONE:
        y = edges.target[e]
        if plan.status[y] != UNKNOWN or y == s:
            n += edges.times[e]
            p = plan.p[y]
            if y == s:
                stay = edges.times[e]
                own_stay = edges.total[e] - rho * stay
            elif p > 0.0:
                weight += edges.times[e] * p
                own += p * (edges.total[e] - rho * edges.times[e])
                value += edges.times[e] * p * plan.v[y]
        e = edges.next_leaving[e]
    q = unseen_probability(plan.optimism, n)
    if q > 0.0:
        known = (1.0 - q) / max(n, 1)
        arriving = known * weight + q
        p = arriving / (1.0 - known * stay)
        own = (known * (own + p * own_stay) + q * (plan.optimism.reward[0] - rho)) / arriving
        return p, own + known * value / arriving, own
    if weight == 0.0:
        return 0.0, -np.inf, 0.0
    p = weight / (n - stay)
    own = (own + p * own_stay) / weight
    return p, own + value / weight, own


@compiled
def allowed_slack(own: float, v: float) -> float:
    """The slack allowed at a state with the value v whose action has the reward `own`."""
    return max(ACCURACY * abs(own), ROUNDING * abs(v))


@compiled
def own_units(edges: Edges, plan: Plan, g: int) -> None:
    """Set the slack allowed at every state."""
    for s in range(len(plan.p)):
        plan.unit[s] = 0.0
        if plan.pi[s] >= 0 and s != g:
            plan.unit[s] = allowed_slack(solved(edges, plan, s, plan.pi[s])[2], plan.v[s])


@compiled
def gains_by_staying(edges: Edges, plan: Plan, s: int, a: int) -> bool:
    """Whether the action a only ever stays at s, with positive reward."""
    total, stays = 0.0, True
    e = edges.leaving[s * (len(edges.leaving) // len(plan.p)) + a]
    while e != NONE:
        stays = stays and (edges.target[e] == s or plan.status[edges.target[e]] == UNKNOWN)
        total += edges.total[e] - plan.rho[0] * edges.times[e] if edges.target[e] == s else 0.0
        e = edges.next_leaving[e]
    return stays and total > LEAST_GAIN


@compiled
def arrives_along(edges: Edges, plan: Plan, s: int, g: int) -> bool:
    """Whether the path along `pi` from s, by the outcomes nearest to g, arrives or meets an unseen outcome."""
    A = len(edges.leaving) // len(plan.p)
    for _ in range(len(plan.p)):
        if s == g:
            return True
        pair = s * A + plan.pi[s]
        if unseen_probability(plan.optimism, tries_of(edges, pair)) > 0.0:
            return True
        nearest, p, v = s, 0.0, -np.inf
        e = edges.leaving[pair]
        while e != NONE:
            y = edges.target[e]
            if y != s and (plan.p[y] > p or (plan.p[y] == p and plan.v[y] > v)):
                nearest, p, v = y, plan.p[y], plan.v[y]
            e = edges.next_leaving[e]
        if nearest == s:
            return False
        s = nearest
    return False
