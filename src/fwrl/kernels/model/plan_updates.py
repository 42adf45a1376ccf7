"""Policy iteration that continues from an earlier plan after an observation; only what changed is evaluated.

States whose outcomes changed are evaluated under `pi`, the highest value first, so that a change passes from the goal
outwards and most states are evaluated once. Then `pi` is improved where an action may have become better: each state
keeps the margin by which the action of `pi` was better than every other, less what it lost and others gained since. A
switch must be a strict improvement, so neither a bump into a wall nor a loop without cost can support its own value.

A plan that would take more evaluations than a new one is marked STALE, for `model.solver` to make anew. So is one for
which the graph must be searched: the goal was reached for the first time, or states that come to arrive may be
trapped.
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
    GIVES_UP,
    STALE,
    TOUCHED,
    Marks,
    Plan,
    touch,
)
from fwrl.kernels.model.reachability import ARRIVES, TRAP, UNKNOWN
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN, improves

ROUNDING = 1e-15  # of v, relative: a change that rounding alone may cause
GAIN = 4.0 * ACCURACY  # of v, relative: what a switch must gain
LEAST_CHANCE = 1e-15  # a change of p below it counts as none
SWEEPS = 21  # a new plan takes at least three rounds of seven sweeps, an optimistic one ten times as many
LEADS, OPEN_STILL = 1, 2  # of `is_touched`, while traps are sought


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
def evaluate(edges: Edges, plan: Plan, s: int) -> bool:
    """Evaluate s under `pi`, and queue what depends on it; False if no outcome other than s itself arrives."""
    if plan.pi[s] == GIVES_UP:
        change(edges, plan, s, 1.0, -plan.penalty[0])
        return True
    p, v, own = solved(edges, plan, s, plan.pi[s])
    if p == 0.0:
        return False
    plan.unit[s] = allowed_slack(own, v)
    change(edges, plan, s, p, v)
    return True


@compiled
def change(edges: Edges, plan: Plan, s: int, p: float, v: float) -> None:
    """Set p(s) and v(s), queue the states whose action under `pi` may lead to s, and touch those that may switch."""
    gain = v - plan.v[s]
    likelier = abs(p - plan.p[s]) > LEAST_CHANCE
    plan.p[s] = p
    plan.v[s] = v
    plan.slack[s] = 0.0
    if gain == 0.0 and not likelier:
        return
    _lower_margin(plan, s, -gain, likelier)
    A = len(edges.leaving) // len(plan.p)
    e = edges.entering[s]
    while e != NONE:
        x = edges.pair[e] // A
        if x == s:
            pass  # the equations of s are solved for staying at s
        elif plan.pi[x] != edges.pair[e] - x * A:
            if gain > 0.0 or likelier:
                _lower_margin(plan, x, gain, likelier)
        else:
            plan.slack[x] += abs(gain)
            if likelier or not plan.slack[x] <= plan.unit[x]:
                push(plan.queue, x, plan.v[x])
        e = edges.next_entering[e]


@compiled
def _lower_margin(plan: Plan, s: int, loss: float, any_action: bool) -> None:
    """Lower the margin of s by `loss`, or to nothing, and touch s if an action may be better than that of `pi` now."""
    plan.margin[s] = -np.inf if any_action else plan.margin[s] - loss
    if not plan.margin[s] >= -GAIN * abs(plan.v[s]) and plan.status[s] == ARRIVES:
        touch(plan, s)


@compiled
def improve(edges: Edges, plan: Plan, g: int) -> None:
    """Switch `pi` at touched states where that is strictly better.

    States that are touched meanwhile are left for the next improvement.
    """
    touched = plan.size[TOUCHED]
    for i in range(touched):
        s = plan.touched[i]
        plan.is_touched[s] = 0
        if s != g and not plan.margin[s] >= -GAIN * abs(plan.v[s]):
            improve_at(edges, plan, s)
    plan.size[TOUCHED] -= touched
    for i in range(plan.size[TOUCHED]):
        plan.touched[i] = plan.touched[touched + i]


@compiled
def improve_at(edges: Edges, plan: Plan, s: int) -> None:
    """Switch `pi` at s to the best action if that is strictly better, and set the margin of s.

    The plan is STALE where an action gains by staying at s: `model.solver` then names the positive cycle.
    """
    A = len(edges.leaving) // len(plan.p)
    own = plan.pi[s]
    if own != GIVES_UP:
        p, v, _ = solved(edges, plan, s, own)
        # The value may be outdated where an outcome has switched just now.
        if abs(v - plan.v[s]) > plan.unit[s] or abs(p - plan.p[s]) > LEAST_CHANCE:
            change(edges, plan, s, p, v)
    best, best_p, best_v, rival = own, plan.p[s], plan.v[s], -np.inf
    for b in range(A + 1):
        a = b if b < A else GIVES_UP
        if a == own or (a == GIVES_UP and plan.penalty[0] == np.inf):
            continue
        p, v = 1.0, -plan.penalty[0]
        if a != GIVES_UP:
            p, v, _ = solved(edges, plan, s, a)
            if p == 0.0 and _gains_by_staying(edges, plan, s, a):
                plan.size[STALE] = 1
        if improves(p, best_p) or (not improves(best_p, p) and v - best_v > GAIN * abs(v) + plan.unit[s]):
            rival = best_v if not improves(p, best_p) else -np.inf
            best, best_p, best_v = a, p, v
        elif not improves(best_p, p):
            rival = max(rival, v)
    if best != own:
        plan.pi[s] = best
        change(edges, plan, s, best_p, best_v)
        push(plan.queue, s, best_v)
    plan.margin[s] = best_v - rival


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
    if plan.size[STALE] != 0:
        make_stale(plan)
        return False
    return True


@compiled
def make_stale(plan: Plan) -> None:
    """Mark the plan as one to be made anew, and leave no work."""
    plan.size[STALE] = 1
    clear(plan.queue)
    for i in range(plan.size[TOUCHED]):
        plan.is_touched[plan.touched[i]] = 0
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
        improve_at(edges, plan, s)
    return iterate(edges, plan, g)


@compiled
def _gains_by_staying(edges: Edges, plan: Plan, s: int, a: int) -> bool:
    """Whether the action a only ever stays at s, with positive reward."""
    total, stays = 0.0, True
    e = edges.leaving[s * (len(edges.leaving) // len(plan.p)) + a]
    while e != NONE:
        stays = stays and (edges.target[e] == s or plan.status[edges.target[e]] == UNKNOWN)
        total += edges.total[e] - plan.rho[0] * edges.times[e] if edges.target[e] == s else 0.0
        e = edges.next_leaving[e]
    return stays and total > LEAST_GAIN


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
    _lower_margin(plan, z, 0.0, True)
    e = edges.entering[z]
    while e != NONE:
        x = edges.pair[e] // A
        _lower_margin(plan, x, 0.0, True)
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
