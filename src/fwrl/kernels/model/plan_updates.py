"""Policy iteration that continues from an earlier plan after an observation; only what changed is evaluated.

States whose outcomes changed are evaluated under `pi`, the highest value first, so that a change passes from the goal
outwards and most states are evaluated once. Then `pi` is improved where an action may have become better: each state
keeps the margin by which the action of `pi` was better than every other, less what it lost and others gained since. A
switch must be a strict improvement, so neither a bump into a wall nor a loop without cost can support its own value.

A change is propagated when an answer may depend on it (see `dependence`), together with all that are pending by then.

Where states are few, an update that takes many evaluations is made by elimination instead (see `direct_iteration`).
Otherwise a plan that would take more evaluations than the last new one is marked STALE, for `model.solver` to make
anew. So is one for which the graph must be searched: the goal was reached for the first time, or states that come to
arrive may be trapped.
"""

from __future__ import annotations

import numpy as np

from fwrl.kernels.graph.edges import NONE, Edges, tries_of
from fwrl.kernels.graph.heap import OPEN, clear, pop, push
from fwrl.kernels.model.dependence import Dependence, has_pending, is_independent, postpone
from fwrl.kernels.model.direct_iteration import evaluate_policy
from fwrl.kernels.model.optimism import optimism_ends, unseen_probability
from fwrl.kernels.model.plan import BUDGET, EVALUATIONS, GAIN, GIVES_UP, STALE, TOUCHED, Marks, Plan, lower_margin
from fwrl.kernels.model.plan_equations import allowed_slack, arrives_along, gains_by_staying, solved
from fwrl.kernels.model.plan_status import update_status
from fwrl.kernels.model.reachability import ARRIVES
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import improves

LEAST_CHANCE = 1e-15  # a change of p below it counts as none
MOST_SWEEPS = 8  # evaluations for each state, before elimination takes their place
MOST_SWITCHES = 100  # rounds of policy iteration by elimination


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
    lower_margin(plan, s, -gain, likelier)
    A = len(edges.leaving) // len(plan.p)
    e = edges.entering[s]
    while e != NONE:
        x = edges.pair[e] // A
        if x == s:
            pass  # the equations of s are solved for staying at s
        elif plan.pi[x] != edges.pair[e] - x * A:
            if gain > 0.0 or likelier:
                lower_margin(plan, x, gain, likelier)
        else:
            plan.slack[x] += abs(gain)
            if likelier or not plan.slack[x] <= plan.unit[x]:
                push(plan.queue, x, plan.v[x])
        e = edges.next_entering[e]


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
            if p == 0.0 and gains_by_staying(edges, plan, s, a):
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
    left = plan.size[BUDGET]
    if len(plan.system) > 0:
        left = min(left, MOST_SWEEPS * len(plan.p))
    while plan.size[TOUCHED] > 0 or plan.queue.size[OPEN] > 0:
        while plan.queue.size[OPEN] > 0:
            left -= 1
            plan.size[EVALUATIONS] += 1
            arrives = evaluate(edges, plan, pop(plan.queue))
            if arrives and left < 0 and len(plan.system) > 0:
                return _iterate_directly(edges, plan, g)
            if not arrives or left < 0:
                make_stale(plan)
                return False
        improve(edges, plan, g)
    if plan.size[STALE] != 0:
        make_stale(plan)
        return False
    return True


@compiled
def _iterate_directly(edges: Edges, plan: Plan, g: int) -> bool:
    """Policy iteration by elimination; False where the plan is STALE instead."""
    for _ in range(MOST_SWITCHES):
        _leave_no_work(plan)
        if not evaluate_policy(edges, plan, g):
            break
        for s in range(len(plan.p)):
            if s != g and plan.status[s] == ARRIVES and plan.pi[s] != NONE:
                improve_at(edges, plan, s)
        if plan.size[STALE] != 0:
            break
        if plan.queue.size[OPEN] == 0:
            _leave_no_work(plan)
            return True
    make_stale(plan)
    return False


@compiled
def make_stale(plan: Plan) -> None:
    """Mark the plan as one to be made anew, and leave no work."""
    plan.size[STALE] = 1
    _leave_no_work(plan)


@compiled
def _leave_no_work(plan: Plan) -> None:
    clear(plan.queue)
    for i in range(plan.size[TOUCHED]):
        plan.is_touched[plan.touched[i]] = 0
    plan.size[TOUCHED] = 0


@compiled
def settle_for(edges: Edges, plan: Plan, D: Dependence, s: int, g: int) -> bool:
    """Propagate pending changes if the best actions at s may depend on them; False where the plan is STALE instead."""
    return bool(not has_pending(plan) or is_independent(D, s, g) or iterate(edges, plan, g))


@compiled
def update_plan(
    edges: Edges, plan: Plan, D: Dependence, closed: Marks, s: int, a: int, y: int, new: bool, g: int, may_wait: bool
) -> bool:
    """Update the plan for g after one more try of a at s, which led to y; `new` if for the first time.

    `closed` (S,) marks terminated states. With `may_wait`, changes that the best actions at y do not depend on are left
    pending. Returns False where the plan is STALE instead.
    """
    if plan.size[STALE] != 0:
        return False
    first = plan.left[s] == 0
    plan.left[s] = 1
    if s == g or closed[s] != 0:
        return settle_for(edges, plan, D, y, g)
    arrived = plan.status[s] == ARRIVES
    if new and not update_status(edges, plan, closed, s, a, y, first, g):
        make_stale(plan)
        return False
    tries = tries_of(edges, s * (len(edges.leaving) // len(plan.p)) + a)
    if plan.status[s] != ARRIVES and unseen_probability(plan.optimism, tries) > 0.0:
        make_stale(plan)
        return False
    if plan.status[s] == ARRIVES:
        if plan.pi[s] == a and optimism_ends(plan.optimism, tries - 1) and not arrives_along(edges, plan, s, g):
            make_stale(plan)
            return False
        if may_wait and arrived and postpone(edges, plan, D, s, g):
            return settle_for(edges, plan, D, y, g)
        if plan.pi[s] == a:
            push(plan.queue, s, plan.v[s])
        else:
            improve_at(edges, plan, s)
    return iterate(edges, plan, g)
