"""Policy iteration that continues from an earlier plan after an observation; only what changed is evaluated.

States whose outcomes changed are evaluated under `pi`, the highest value first, so that a change passes from the goal
outwards and most states are evaluated once. Then `pi` is improved at the states that changed and at those with an edge
into one. A switch must be a strict improvement, so neither a bump into a wall nor a loop without cost can support its
own value.

A plan that would take more evaluations than a new one is marked STALE, for `model.solver` to make anew. So is one for
which the graph must be searched: the goal was reached for the first time, or states may have turned into traps.
"""

from __future__ import annotations

import numpy as np

from fwrl.kernels.graph.edges import NONE, Edges, tries_of
from fwrl.kernels.graph.heap import OPEN, clear, pop, push
from fwrl.kernels.model.evaluation import ACCURACY
from fwrl.kernels.model.optimism import optimism_ends, unseen_probability
from fwrl.kernels.model.plan import (
    ARRIVING,
    EVALUATIONS,
    FELL,
    GIVES_UP,
    ROSE,
    STALE,
    TOUCHED,
    Indices,
    Marks,
    Plan,
    touch,
)
from fwrl.kernels.model.reachability import ARRIVES, TRAP, UNKNOWN
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import improves

ROUNDING = 1e-15  # of v, relative: a change that rounding alone may cause
GAIN = 4.0 * ACCURACY  # of v, relative: what a switch must gain
LEAST_CHANCE = 1e-15  # a change of p below it counts as none
SWEEPS = 8  # a new plan evaluates every state at least as often
NEARBY = 64  # states searched for one that was never left


@compiled
def outcome_of(edges: Edges, plan: Plan, pair: int) -> tuple[float, float]:
    """(p, v) of taking the action `pair` once and following `pi` after; (0, -inf) if that never arrives."""
    n = 0
    weight = 0.0
    value = 0.0
    e = edges.leaving[pair]
    while e != NONE:
        y = edges.target[e]
        if plan.status[y] != UNKNOWN:
            n += edges.times[e]
            p = plan.p[y]
            if p > 0.0:
                weight += edges.times[e] * p
                value += p * (edges.total[e] + edges.times[e] * plan.v[y])
        e = edges.next_leaving[e]
    q = unseen_probability(plan.optimism, n)
    if n == 0:
        return q, (plan.optimism.reward[0] if q > 0.0 else -np.inf)
    p = weight / n
    if q > 0.0:
        p = (1.0 - q) * p + q
        return p, ((1.0 - q) * (value / n) + q * plan.optimism.reward[0]) / p
    return (p, value / weight) if weight > 0.0 else (0.0, -np.inf)


@compiled
def solved(edges: Edges, plan: Plan, s: int) -> tuple[float, float, float]:
    """(p, v, r) that solve the equations of s under `pi`; r is the part of v that is reward of the action itself.

    p is 0 where no outcome other than s itself arrives.
    """
    A = len(edges.leaving) // len(plan.p)
    n, stay = 0, 0
    weight, value, own, own_stay = 0.0, 0.0, 0.0, 0.0
    e = edges.leaving[s * A + plan.pi[s]]
    while e != NONE:
        y = edges.target[e]
        if plan.status[y] != UNKNOWN or y == s:
            n += edges.times[e]
            p = plan.p[y]
            if y == s:
                stay = edges.times[e]
                own_stay = edges.total[e]
            elif p > 0.0:
                weight += edges.times[e] * p
                own += p * edges.total[e]
                value += edges.times[e] * p * plan.v[y]
        e = edges.next_leaving[e]
    q = unseen_probability(plan.optimism, n)
    if q > 0.0:
        known = (1.0 - q) / max(n, 1)
        arriving = known * weight + q
        p = arriving / (1.0 - known * stay)
        own = (known * (own + p * own_stay) + q * plan.optimism.reward[0]) / arriving
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
            plan.unit[s] = allowed_slack(solved(edges, plan, s)[2], plan.v[s])


@compiled
def evaluate(edges: Edges, plan: Plan, s: int) -> bool:
    """Evaluate s under `pi`, and queue what depends on it; False if no outcome other than s itself arrives."""
    if plan.pi[s] == GIVES_UP:
        change(edges, plan, s, 1.0, -plan.penalty[0])
        return True
    p, v, own = solved(edges, plan, s)
    if p == 0.0:
        return False
    plan.unit[s] = allowed_slack(own, v)
    change(edges, plan, s, p, v)
    return True


@compiled
def change(edges: Edges, plan: Plan, s: int, p: float, v: float) -> None:
    """Set p(s) and v(s), and queue the states whose action under `pi` may lead to s if they may change too."""
    rise, gain = p - plan.p[s], v - plan.v[s]
    plan.p[s] = p
    plan.v[s] = v
    plan.slack[s] = 0.0
    likelier = abs(rise) > LEAST_CHANCE
    if likelier:
        touch(plan, s, ROSE | FELL)
    elif abs(gain) > plan.unit[s]:
        touch(plan, s, ROSE if gain > 0.0 else FELL)
    elif gain == 0.0:
        return
    A = len(edges.leaving) // len(plan.p)
    e = edges.entering[s]
    while e != NONE:
        x = edges.pair[e] // A
        if x != s and plan.pi[x] == edges.pair[e] % A:
            plan.slack[x] += abs(gain)
            if likelier or not plan.slack[x] <= plan.unit[x]:
                push(plan.queue, x, plan.v[x])
        e = edges.next_entering[e]


@compiled
def consider(edges: Edges, plan: Plan, s: int, a: int) -> None:
    """Switch `pi` to `a` at s if that is strictly better.

    Where `pi` takes `a` already, p and v are updated, so that other actions are compared with the current value.
    """
    if plan.status[s] != ARRIVES:
        return
    p, v = outcome_of(edges, plan, s * (len(edges.leaving) // len(plan.p)) + a)
    if plan.pi[s] == a:
        if abs(v - plan.v[s]) > plan.unit[s] or abs(p - plan.p[s]) > LEAST_CHANCE:
            change(edges, plan, s, p, v)
            push(plan.queue, s, v)
        return
    gains = v - plan.v[s] > GAIN * abs(v) + plan.unit[s]
    if improves(p, plan.p[s]) or (gains and not improves(plan.p[s], p)):
        plan.pi[s] = a
        change(edges, plan, s, p, v)
        push(plan.queue, s, v)


@compiled
def consider_giving_up(edges: Edges, plan: Plan, s: int) -> None:
    """Give up at s if that is strictly better."""
    if plan.status[s] == ARRIVES and -plan.penalty[0] > plan.v[s] + GAIN * plan.penalty[0]:
        plan.pi[s] = GIVES_UP
        change(edges, plan, s, 1.0, -plan.penalty[0])


@compiled
def improve(edges: Edges, plan: Plan, g: int) -> None:
    """Switch `pi` where that is strictly better.

    Where a value rose, actions that lead to it may be better now; where it fell, other actions at the same state.
    States that change meanwhile are left for the next improvement.
    """
    A = len(edges.leaving) // len(plan.p)
    touched = plan.size[TOUCHED]
    for i in range(touched):
        s = plan.touched[i]
        moved = plan.moved[s]
        plan.moved[s] = 0
        if moved & FELL and s != g:
            for a in range(A):
                consider(edges, plan, s, a)
            if plan.penalty[0] < np.inf:
                consider_giving_up(edges, plan, s)
        if moved & ROSE:
            e = edges.entering[s]
            while e != NONE:
                x = edges.pair[e] // A
                if x != g:
                    consider(edges, plan, x, edges.pair[e] % A)
                e = edges.next_entering[e]
    plan.size[TOUCHED] -= touched
    for i in range(plan.size[TOUCHED]):
        plan.touched[i] = plan.touched[touched + i]


@compiled
def iterate(edges: Edges, plan: Plan, g: int) -> bool:
    """Evaluate what is queued and improve the policy until nothing changes; False where the plan is STALE instead."""
    left = SWEEPS * plan.size[ARRIVING]
    while plan.size[TOUCHED] > 0 or plan.queue.size[OPEN] > 0:
        while plan.queue.size[OPEN] > 0:
            left -= 1
            plan.size[EVALUATIONS] += 1
            if not evaluate(edges, plan, pop(plan.queue)) or left < 0:
                make_stale(plan)
                return False
        improve(edges, plan, g)
    return True


@compiled
def make_stale(plan: Plan) -> None:
    """Mark the plan as one to be made anew, and leave no work."""
    plan.size[STALE] = 1
    clear(plan.queue)
    for i in range(plan.size[TOUCHED]):
        plan.moved[plan.touched[i]] = 0
    plan.size[TOUCHED] = 0


@compiled
def update_plan(edges: Edges, plan: Plan, closed: Marks, s: int, a: int, y: int, new: bool, g: int) -> bool:
    """Update the plan for g after one more try of a at s, which led to y; `new` if for the first time.

    `closed` (S,) marks terminated states. Returns False where the plan is STALE instead.
    """
    if plan.size[STALE] != 0:
        return False
    first = plan.left[s] == 0
    plan.left[s] = 1
    if s == g or closed[s] != 0:
        return True
    if new and not _update_status(edges, plan, closed, s, a, y, first, g):
        make_stale(plan)
        return False
    A = len(edges.leaving) // len(plan.p)
    if plan.status[s] != ARRIVES and unseen_probability(plan.optimism, tries_of(edges, s * A + a)) > 0.0:
        make_stale(plan)
        return False
    if plan.status[s] == ARRIVES and plan.pi[s] == a:
        if optimism_ends(plan.optimism, tries_of(edges, s * A + a) - 1) and not _arrives(edges, plan, s, g):
            make_stale(plan)
            return False
        push(plan.queue, s, plan.v[s])
    elif plan.status[s] == ARRIVES:
        consider(edges, plan, s, a)
    return iterate(edges, plan, g)


@compiled
def _update_status(edges: Edges, plan: Plan, closed: Marks, s: int, a: int, y: int, first: bool, g: int) -> bool:
    """Update which states arrive, after a new outcome; False where the graph must be searched anew."""
    arrives = plan.status[y] == ARRIVES
    if plan.status[s] == ARRIVES:
        return True
    if plan.size[ARRIVING] == 1:
        return not arrives
    if arrives:
        return _arrive(edges, plan, closed, s, a, y, g)
    if plan.status[s] == UNKNOWN:
        return not first or _open_end_near(edges, plan, closed, s)
    if plan.status[y] == UNKNOWN:
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
                plan.v[x] = plan.v[z] + edges.total[e] / edges.times[e]
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
        touch(plan, z, ROSE | FELL)
        _queue_users(edges, plan, z)
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
def _queue_users(edges: Edges, plan: Plan, z: int) -> None:
    """Queue the states whose action under `pi` may lead to z."""
    A = len(edges.leaving) // len(plan.p)
    e = edges.entering[z]
    while e != NONE:
        x = edges.pair[e] // A
        if plan.pi[x] == edges.pair[e] % A:
            push(plan.queue, x, plan.v[x])
        e = edges.next_entering[e]


@compiled
def _open_end_near(edges: Edges, plan: Plan, closed: Marks, s: int) -> bool:
    """Whether a short search from s finds a state that was never left: then s is still unknown."""
    A = len(edges.leaving) // len(plan.p)
    found = _search_from(edges, plan.found, plan.moved, closed, s, A)
    near = False
    for i in range(found):
        plan.moved[plan.found[i]] = 0
        near = near or (plan.left[plan.found[i]] == 0 and closed[plan.found[i]] == 0)
    return near


@compiled
def _search_from(edges: Edges, found: Indices, seen: Marks, closed: Marks, s: int, A: int) -> int:
    """Fill `found` with the states nearest to s, up to NEARBY of them; `seen` marks them. How many."""
    found[0] = s
    seen[s] = 1
    n, done = 1, 0
    while done < n and n < NEARBY:
        for a in range(A):
            e = edges.leaving[found[done] * A + a] if closed[found[done]] == 0 else NONE
            while e != NONE and n < NEARBY:
                y = edges.target[e]
                if seen[y] == 0:
                    seen[y] = 1
                    found[n] = y
                    n += 1
                e = edges.next_leaving[e]
        done += 1
    return n


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
        touch(plan, z, ROSE)
        e = edges.entering[z]
        while e != NONE:
            x = edges.pair[e] // A
            if plan.status[x] == TRAP and closed[x] == 0 and x != g:
                plan.status[x] = UNKNOWN
                plan.found[found] = x
                found += 1
            e = edges.next_entering[e]
        _queue_users(edges, plan, z)


@compiled
def _arrives(edges: Edges, plan: Plan, s: int, g: int) -> bool:
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
