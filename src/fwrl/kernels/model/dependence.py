"""Which answers do not depend on changes that are still pending, so that changes are propagated many at a time.

An agent that has left a state u on its way to the goal seldom comes back before it arrives, and what it has learned
there does not change its next actions. Let v solve the model before the changes at the states U, let G > 0, and call an
action at x near if it is worse than the best by 2 G at most. D is a set of states that near actions do not leave, and
rank numbers its strongly connected components (Tarjan 1972): near actions never lead to a higher rank. Let e(u) be the
amount by which the changed equation of u exceeds v(u). If

- U is in D, and near actions at u, by the changed model, lead to ranks below that of u only,
- the sum of e(u) over U is at most G,

then f(x) = v(x) + the sum of e(u) over the u with rank(u) <= rank(x), and v(x) + G outside of D, satisfies the changed
optimality equations with >= in place of =: a near action leads to no higher rank, any other loses 2 G and gains G at
most. So the new values are at most f. From a state s of D with a rank below those of all U, the old policy never meets
U, and f(s) = v(s): its value, its best actions and their ties are what they were. This holds where every state of D
arrives surely.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.graph.heap import OPEN, push
from fwrl.kernels.model.plan import TOUCHED, Plan, lower_margin
from fwrl.kernels.model.plan_equations import solved
from fwrl.kernels.model.reachability import UNKNOWN
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

SURE = 1.0 - 1e-12  # the least p that is 1 up to rounding
ALLOWED = 0.25  # G, in rewards of the policy's action at the first of U
MEMBERS, COMPONENTS, LOWEST, ON_STACK, DEPTH = 0, 1, 2, 3, 4  # of `size`
LIMIT, USED = 0, 1  # of `gain`


class Dependence(NamedTuple):
    """The set D with its ranks, and scratch for its search."""

    rank: Indices  # (S,) NONE outside of D
    order: Indices  # (S,) when a state was found, NONE before
    low: Indices  # (S,) the earliest state on the stack that it leads to
    members: Indices  # (S,) the states found, and u
    stack: Indices  # (S,) states whose component is not complete
    path: Indices  # (S,) the path of the search
    action: Indices  # (S,) the action under way at each state of the path
    edge: Ints  # (S,) its next outcome
    gain: Floats  # (2,) G at LIMIT, the sum of e at USED
    size: Ints  # (5,)


def no_dependence(n_states: int) -> Dependence:
    """D is empty."""
    return Dependence(
        rank=np.full(n_states, NONE, np.int32),
        order=np.full(n_states, NONE, np.int32),
        low=np.zeros(n_states, np.int32),
        members=np.zeros(n_states, np.int32),
        stack=np.zeros(n_states, np.int32),
        path=np.zeros(n_states, np.int32),
        action=np.zeros(n_states, np.int32),
        edge=np.zeros(n_states, np.int64),
        gain=np.zeros(2),
        size=np.zeros(5, np.int64),
    )


@compiled
def has_pending(plan: Plan) -> bool:
    """Whether changes are pending."""
    return bool(plan.queue.size[OPEN] > 0 or plan.size[TOUCHED] > 0)


@compiled
def is_independent(D: Dependence, s: int, g: int) -> bool:
    """Whether the best actions at s are the same before and after pending changes are propagated."""
    return bool(s != g and D.rank[s] != NONE and D.rank[s] < D.size[LOWEST])


@compiled
def postpone(edges: Edges, plan: Plan, D: Dependence, u: int, g: int) -> bool:
    """Leave a change of the outcomes at u pending; False where answers may depend on it, and nothing is pending of it.

    The first pending change lays out D around u.
    """
    if plan.penalty[0] < np.inf or plan.p[u] < SURE or plan.pi[u] < 0:
        return False
    if not has_pending(plan):
        D.gain[LIMIT], D.gain[USED] = ALLOWED * abs(solved(edges, plan, u, plan.pi[u])[2]), 0.0
        if D.gain[LIMIT] == 0.0 or not _lay_out(edges, plan, D, u, g):
            return False
    if D.rank[u] == NONE or not _leads_down(edges, plan, D, u):
        return False
    D.size[LOWEST] = min(D.size[LOWEST], D.rank[u])
    push(plan.queue, u, plan.v[u])
    lower_margin(plan, u, 0.0, True)
    return True


@compiled
def _leads_down(edges: Edges, plan: Plan, D: Dependence, u: int) -> bool:
    """Whether near actions at u lead to lower ranks only and the sum of e stays below G; e(u) is added to it."""
    A = len(edges.leaving) // len(plan.p)
    best = plan.v[u]
    for a in range(A):
        p, v, _ = solved(edges, plan, u, a)
        if a == plan.pi[u] and p < SURE:
            return False
        if p < SURE or v < plan.v[u] - 2.0 * D.gain[LIMIT]:
            continue
        best = max(best, v)
        e = edges.leaving[u * A + a]
        while e != NONE:
            y = edges.target[e]
            if y != u and plan.status[y] != UNKNOWN and not (NONE < D.rank[y] < D.rank[u]):
                return False
            e = edges.next_leaving[e]
    D.gain[USED] += best - plan.v[u]
    return bool(D.gain[USED] <= D.gain[LIMIT])


@compiled
def _lay_out(edges: Edges, plan: Plan, D: Dependence, u: int, g: int) -> bool:
    """Fill D with what near actions reach from u, which gets the highest rank; False if that includes u."""
    for i in range(D.size[MEMBERS]):
        D.rank[D.members[i]] = NONE
        D.order[D.members[i]] = NONE
    D.size[:] = 0
    A = len(edges.leaving) // len(plan.p)
    for a in range(A):
        if not _is_near(edges, plan, D, u, a):
            continue
        e = edges.leaving[u * A + a]
        while e != NONE:
            y = edges.target[e]
            if y != u and plan.status[y] != UNKNOWN and D.order[y] == NONE:
                if plan.p[y] < SURE:
                    return False
                _enter(D, y)
                if not _search(edges, plan, D, u, g):
                    return False
            e = edges.next_leaving[e]
    D.members[D.size[MEMBERS]] = u
    D.size[MEMBERS] += 1
    D.rank[u] = D.size[COMPONENTS]
    D.size[LOWEST] = D.rank[u]
    return True


@compiled
def _is_near(edges: Edges, plan: Plan, D: Dependence, x: int, a: int) -> bool:
    """Whether the action a is worse than the best at x by 2 G at most."""
    if a == plan.pi[x]:
        return True
    if plan.margin[x] > 2.0 * D.gain[LIMIT]:
        return False
    p, v, _ = solved(edges, plan, x, a)
    return bool(p >= SURE and v >= plan.v[x] - 2.0 * D.gain[LIMIT])


@compiled
def _enter(D: Dependence, x: int) -> None:
    """Put x, just found, on the path and on the stack."""
    D.order[x] = D.size[MEMBERS]
    D.low[x] = D.size[MEMBERS]
    D.members[D.size[MEMBERS]] = x
    D.size[MEMBERS] += 1
    D.stack[D.size[ON_STACK]] = x
    D.size[ON_STACK] += 1
    depth = D.size[DEPTH]
    D.path[depth], D.action[depth], D.edge[depth] = x, -1, NONE
    D.size[DEPTH] = depth + 1


@compiled
def _search(edges: Edges, plan: Plan, D: Dependence, u: int, g: int) -> bool:
    """Follow the near actions of the path's states to the end; False on meeting u, or a state that may not arrive."""
    A = len(edges.leaving) // len(plan.p)
    while D.size[DEPTH] > 0:
        top = D.size[DEPTH] - 1
        x = D.path[top]
        e = D.edge[top]
        if e == NONE:
            D.action[top] += 1
            if x == g or D.action[top] == A:
                _leave(D, x)
            elif _is_near(edges, plan, D, x, D.action[top]):
                D.edge[top] = edges.leaving[x * A + D.action[top]]
            continue
        D.edge[top] = edges.next_leaving[e]
        y = edges.target[e]
        if y == x or plan.status[y] == UNKNOWN:
            continue
        if y == u or plan.p[y] < SURE:
            return False
        if D.order[y] == NONE:
            _enter(D, y)
        elif D.rank[y] == NONE:
            D.low[x] = min(D.low[x], D.order[y])
    return True


@compiled
def _leave(D: Dependence, x: int) -> None:
    """Take x, whose actions are followed, off the path; rank its component if x was found first of it."""
    D.size[DEPTH] -= 1
    if D.low[x] == D.order[x]:
        while True:
            D.size[ON_STACK] -= 1
            y = D.stack[D.size[ON_STACK]]
            D.rank[y] = D.size[COMPONENTS]
            if y == x:
                break
        D.size[COMPONENTS] += 1
    if D.size[DEPTH] > 0:
        parent = D.path[D.size[DEPTH] - 1]
        D.low[parent] = min(D.low[parent], D.low[x])
