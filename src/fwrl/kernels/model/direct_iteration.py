"""Policy iteration by elimination, where a plan has few states and its outcomes mix slowly.

The equations of a policy, one for each state s that acts, are linear in p and in w = p v:

    p(s) = sum over s' of P(s' | s) p(s') + q                       q: probability of an unseen outcome, the goal
    w(s) = sum over s' of P(s' | s) [ p(s') r(s, s') + w(s') ] + q R

Both have the matrix I - P, which is diagonally dominant, so elimination needs no pivots. Whether the result is as
accurate as that of other updates is checked state by state, by the slack that these allow (see `plan`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.model.optimism import unseen_probability
from fwrl.kernels.model.plan import GIVES_UP, Plan
from fwrl.kernels.model.plan_equations import allowed_slack, solved
from fwrl.kernels.model.reachability import ARRIVES, UNKNOWN
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

LEAST_PIVOT = 1e-13  # below it elimination has lost too many digits
MOST_ERROR = 1e-12  # how far p may be from what its equation gives


@compiled
def evaluate_policy(edges: Edges, plan: Plan, g: int) -> bool:
    """Set p and v of all states that act under `pi`; False where elimination is not accurate enough."""
    n = _number_states(plan, g)
    M = plan.system
    for i in range(n):
        s = plan.found[i]
        M[i, :n] = 0.0
        M[i, i] = 1.0
        tries = _tries(edges, plan, s)
        q = unseen_probability(plan.optimism, tries)
        known = (1.0 - q) / max(tries, 1)
        M[i, n] = q
        e = _first(edges, plan, s)
        while e != NONE:
            y = edges.target[e]
            if plan.place[y] >= 0:
                M[i, plan.place[y]] -= known * edges.times[e]
            elif plan.status[y] != UNKNOWN:
                M[i, n] += known * edges.times[e] * plan.p[y]
            e = edges.next_leaving[e]
    if not _eliminate(M, n):
        return False
    _substitute(M, n)
    for i in range(n):
        plan.p[plan.found[i]] = min(1.0, M[i, n])
    for i in range(n):
        s = plan.found[i]
        tries = _tries(edges, plan, s)
        q = unseen_probability(plan.optimism, tries)
        known = (1.0 - q) / max(tries, 1)
        M[i, n] = q * (plan.optimism.reward[0] - plan.rho[0])
        e = _first(edges, plan, s)
        while e != NONE:
            y = edges.target[e]
            if plan.status[y] != UNKNOWN or y == s:
                M[i, n] += known * plan.p[y] * (edges.total[e] - plan.rho[0] * edges.times[e])
                if plan.place[y] < 0 and plan.p[y] > 0.0:
                    M[i, n] += known * edges.times[e] * plan.p[y] * plan.v[y]
            e = edges.next_leaving[e]
    _forward(M, n)
    _substitute(M, n)
    for i in range(n):
        s = plan.found[i]
        if not plan.p[s] > 0.0:
            return False
        plan.v[s] = M[i, n] / plan.p[s]
    return _is_accurate(edges, plan, n)


@compiled
def _number_states(plan: Plan, g: int) -> int:
    """List the states that act in `found`, and set the `place` of each; how many there are."""
    n = 0
    for s in range(len(plan.p)):
        plan.place[s] = NONE
        if s != g and plan.status[s] == ARRIVES and plan.pi[s] != GIVES_UP and plan.pi[s] != NONE:
            plan.found[n], plan.place[s] = s, n
            n += 1
    return n


@compiled
def _first(edges: Edges, plan: Plan, s: int) -> int:
    """The first edge of the policy's action at s."""
    return int(edges.leaving[s * (len(edges.leaving) // len(plan.p)) + plan.pi[s]])


@compiled
def _tries(edges: Edges, plan: Plan, s: int) -> int:
    """The number of observed outcomes of the policy's action at s that are not unknown."""
    n = 0
    e = _first(edges, plan, s)
    while e != NONE:
        if plan.status[edges.target[e]] != UNKNOWN or edges.target[e] == s:
            n += edges.times[e]
        e = edges.next_leaving[e]
    return n


@compiled
def _eliminate(M: Floats, n: int) -> bool:
    """Factorise M (n, n) in place, the factors below the diagonal; its column n goes along. False without pivots."""
    for k in range(n):
        if not M[k, k] > LEAST_PIVOT:
            return False
        for i in range(k + 1, n):
            if M[i, k] != 0.0:
                factor = M[i, k] / M[k, k]
                M[i, k] = factor
                for j in range(k + 1, n + 1):
                    M[i, j] -= factor * M[k, j]
    return True


@compiled
def _forward(M: Floats, n: int) -> None:
    """Apply the factors to column n."""
    for k in range(n):
        for i in range(k + 1, n):
            M[i, n] -= M[i, k] * M[k, n]


@compiled
def _substitute(M: Floats, n: int) -> None:
    """Solve the upper triangle for column n, in place."""
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            M[i, n] -= M[i, j] * M[j, n]
        M[i, n] /= M[i, i]


@compiled
def _is_accurate(edges: Edges, plan: Plan, n: int) -> bool:
    """Whether the equations of every state that acts hold within the slack allowed, which is set."""
    for i in range(n):
        s = plan.found[i]
        p, v, own = solved(edges, plan, s, plan.pi[s])
        plan.unit[s] = allowed_slack(own, v)
        if not (abs(v - plan.v[s]) <= plan.unit[s] and abs(p - plan.p[s]) <= MOST_ERROR):
            return False
        plan.slack[s] = 0.0
    return True
