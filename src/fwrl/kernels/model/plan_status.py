"""Which states arrive, are trapped or unknown (see `reachability`), kept current as outcomes are first seen.

Only what changes is searched: the states that lead to the one that was left.
"""

from __future__ import annotations

import numpy as np

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.graph.heap import push
from fwrl.kernels.model.plan import ARRIVING, Marks, Plan, lower_margin
from fwrl.kernels.model.reachability import ARRIVES, TRAP, UNKNOWN
from fwrl.kernels.runtime.compiled import compiled

LEADS, OPEN_STILL = 1, 2  # of `is_touched`, while traps are sought


@compiled
def update_status(edges: Edges, plan: Plan, closed: Marks, s: int, a: int, y: int, first: bool, g: int) -> bool:
    """Update which states arrive, after a new outcome; False where the graph must be searched anew."""
    arrives = plan.status[y] == ARRIVES
    if plan.status[s] == ARRIVES:
        return True
    if plan.size[ARRIVING] == 1:
        return not arrives
    if arrives:
        return _arrive(edges, plan, closed, s, a, y, g)
    if plan.status[s] == UNKNOWN:
        if first and (plan.left[y] != 0 or closed[y] != 0):
            _turn_to_traps(edges, plan, closed, s)
    elif plan.status[y] == UNKNOWN:
        _turn_unknown(edges, plan, closed, s, g)
    return True


@compiled
def _arrive(edges: Edges, plan: Plan, closed: Marks, s: int, a: int, y: int, g: int) -> bool:
    """Let s, which has reached y, and the states that lead to it arrive; False where some of them may be trapped."""
    A = len(edges.leaving) // len(plan.p)
    plan.found[0] = s
    found, done = 1, 0
    plan.pi[s] = a
    plan.status[s] = ARRIVES
    plan.v[s] = plan.v[y]
    while done < found:
        z = plan.found[done]
        done += 1
        e = edges.entering[z]
        while e != NONE:
            x = edges.pair[e] // A
            if x != g and closed[x] == 0 and plan.status[x] != ARRIVES:
                plan.status[x] = ARRIVES
                plan.pi[x] = edges.pair[e] % A
                plan.v[x] = plan.v[z] + edges.total[e] / edges.times[e] - plan.rho[0]
                plan.found[found] = x
                found += 1
            e = edges.next_entering[e]
    for i in range(found):
        plan.p[plan.found[i]] = 1.0
    plan.size[ARRIVING] += found
    for i in range(found):
        if not _sure(edges, plan, plan.found[i]):
            return False
    for i in range(found):
        z = plan.found[i]
        push(plan.queue, z, plan.v[z])
        _let_improve(edges, plan, z)
    return True


@compiled
def _sure(edges: Edges, plan: Plan, s: int) -> bool:
    """Whether every outcome of the policy's action at s arrives surely, or is unknown."""
    A = len(edges.leaving) // len(plan.p)
    e = edges.leaving[s * A + plan.pi[s]]
    sure = True
    while e != NONE:
        y = edges.target[e]
        sure = sure and (plan.status[y] == UNKNOWN or plan.p[y] == 1.0)
        e = edges.next_leaving[e]
    return sure


@compiled
def _let_improve(edges: Edges, plan: Plan, z: int) -> None:
    """Queue the states whose action under `pi` may lead to z, and touch z and all states with an edge into it."""
    A = len(edges.leaving) // len(plan.p)
    lower_margin(plan, z, 0.0, True)
    e = edges.entering[z]
    while e != NONE:
        x = edges.pair[e] // A
        lower_margin(plan, x, 0.0, True)
        if plan.pi[x] == edges.pair[e] % A:
            push(plan.queue, x, plan.v[x])
        e = edges.next_entering[e]


@compiled
def _turn_to_traps(edges: Edges, plan: Plan, closed: Marks, s: int) -> None:
    """Let s, left for the first time, be a trap if it reaches no open end now, and so the states that need s for it.

    `found` lists the unknown states that lead to s. Those of them that reach an open end without s are listed in
    `touched`; both lists are marked in `is_touched`, by LEADS and OPEN_STILL, and nothing is touched at this point.
    """
    n = _leading_to(edges, plan, s)
    A = len(edges.leaving) // len(plan.p)
    still = 0
    for i in range(n):
        x = plan.found[i]
        if (plan.left[x] == 0 and closed[x] == 0) or _leads_to_unknown(edges, plan, x):
            plan.is_touched[x] = OPEN_STILL
            plan.touched[still] = x
            still += 1
    done = 0
    while done < still:
        e = edges.entering[plan.touched[done]]
        done += 1
        while e != NONE:
            x = edges.pair[e] // A
            if plan.is_touched[x] == LEADS:
                plan.is_touched[x] = OPEN_STILL
                plan.touched[still] = x
                still += 1
            e = edges.next_entering[e]
    trapped = 0
    for i in range(n):
        x = plan.found[i]
        if plan.is_touched[x] == LEADS:
            plan.found[trapped] = x
            trapped += 1
        plan.is_touched[x] = 0
    for i in range(trapped):
        z = plan.found[i]
        plan.status[z] = TRAP
        if plan.penalty[0] < np.inf:
            plan.p[z] = 1.0
            plan.v[z] = -plan.penalty[0]
    for i in range(trapped):
        _let_improve(edges, plan, plan.found[i])


@compiled
def _leading_to(edges: Edges, plan: Plan, s: int) -> int:
    """Fill `found` with s and the unknown states that lead to it, marked by LEADS in `is_touched`; how many."""
    A = len(edges.leaving) // len(plan.p)
    plan.found[0] = s
    plan.is_touched[s] = LEADS
    n, done = 1, 0
    while done < n:
        e = edges.entering[plan.found[done]]
        done += 1
        while e != NONE:
            x = edges.pair[e] // A
            if plan.status[x] == UNKNOWN and plan.is_touched[x] == 0:
                plan.is_touched[x] = LEADS
                plan.found[n] = x
                n += 1
            e = edges.next_entering[e]
    return n


@compiled
def _leads_to_unknown(edges: Edges, plan: Plan, x: int) -> bool:
    """Whether an action at x has an unknown outcome that is not marked in `is_touched`."""
    A = len(edges.leaving) // len(plan.p)
    for pair in range(x * A, x * A + A):
        e = edges.leaving[pair]
        while e != NONE:
            y = edges.target[e]
            if plan.status[y] == UNKNOWN and plan.is_touched[y] == 0:
                return True
            e = edges.next_leaving[e]
    return False


@compiled
def _turn_unknown(edges: Edges, plan: Plan, closed: Marks, s: int, g: int) -> None:
    """Let s and the traps that lead to it be unknown, and queue the states with an action that may lead to them."""
    A = len(edges.leaving) // len(plan.p)
    plan.found[0] = s
    plan.status[s] = UNKNOWN
    found, done = 1, 0
    while done < found:
        z = plan.found[done]
        done += 1
        plan.p[z] = 0.0
        plan.v[z] = -plan.penalty[0]
        e = edges.entering[z]
        while e != NONE:
            x = edges.pair[e] // A
            if plan.status[x] == TRAP and closed[x] == 0 and x != g:
                plan.status[x] = UNKNOWN
                plan.found[found] = x
                found += 1
            e = edges.next_entering[e]
        _let_improve(edges, plan, z)
