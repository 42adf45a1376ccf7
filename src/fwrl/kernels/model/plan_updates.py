"""Policy iteration that continues from an earlier plan after an observation; only what changed is evaluated.

States whose outcomes changed are evaluated under `pi`, the highest value first, so that a change passes from the goal
outwards and most states are evaluated once. Then `pi` is improved where an action may have become better: each state
keeps the margin by which the action of `pi` was better than every other, less what it lost and others gained since. A
switch must be a strict improvement, so neither a bump into a wall nor a loop without cost can support its own value.

Where every reward is negative and all states that arrive do so surely, this is not needed: values are kept as bounds,
and made exact where an answer depends on them (see `envelope`).

Where states are few, an update that takes many evaluations is made by elimination instead (see `direct_iteration`).
Otherwise a plan that would take more evaluations than the last new one is marked STALE, for `model.solver` to make
anew. So is one for which the graph must be searched: the goal was reached for the first time, or states that come to
arrive may be trapped.
"""

from __future__ import annotations

import numpy as np

from fwrl.kernels.graph.edges import NONE, Edges, tries_of
from fwrl.kernels.graph.heap import OPEN, clear, pop, push
from fwrl.kernels.model.bounds import revise_all, settle_around
from fwrl.kernels.model.direct_iteration import evaluate_policy
from fwrl.kernels.model.envelope import (
    WAITING,
    Envelope,
    forget_waiting,
    has_pending,
    values_bound,
)
from fwrl.kernels.model.optimism import optimism_ends, unseen_probability
from fwrl.kernels.model.plan import (
    BUDGET,
    EVALUATIONS,
    GAIN,
    GIVES_UP,
    STALE,
    TOUCHED,
    Marks,
    Plan,
    count_unsure,
    lower_margin,
)
from fwrl.kernels.model.plan_equations import allowed_slack, arrives_along, gains_by_staying, solved
from fwrl.kernels.model.plan_status import update_status
from fwrl.kernels.model.reachability import ARRIVES
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import improves

LEAST_CHANCE = 1e-15  # a change of p below it counts as none
MOST_SWEEPS = 8  # evaluations for each state, before elimination takes their place
MOST_SWITCHES = 100  # rounds of policy iteration by elimination
DEAR = 10  # evaluations in a sweep of `solver` that cost as much as a backup


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
            count_unsure(plan)
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
def settle_for(edges: Edges, plan: Plan, envelope: Envelope, s: int, g: int, negative: bool) -> bool:
    """Make the best actions at s exact, all values if s is NONE; False where the plan is STALE instead.

    Args:
        edges: counted.
        plan: for g.
        envelope: of the plan.
        s: a state, or NONE.
        g: the goal.
        negative: whether all rewards are.

    Returns:
        Whether that is done.
    """
    if not has_pending(plan, envelope):
        return True
    if negative and values_bound(plan):
        most = plan.size[BUDGET] // DEAR
        if len(plan.system) > 0:
            most = min(most, MOST_SWEEPS * len(plan.p))
        if settle_around(edges, plan, envelope, s, g, most):
            return True
        forget_waiting(envelope)
        if len(plan.system) > 0:
            return _iterate_directly(edges, plan, g)
        make_stale(plan)
        return False
    if envelope.size[WAITING] > 0:
        forget_waiting(envelope)
        make_stale(plan)
        return False
    return iterate(edges, plan, g)


@compiled
def change_optimism(edges: Edges, plan: Plan, envelope: Envelope, g: int, negative: bool, ends: bool) -> None:
    """Take over new probabilities of unseen outcomes; the plan is STALE if one of them `ends`."""
    if plan.size[STALE] != 0:
        return
    most = len(plan.p) + plan.size[BUDGET] // DEAR
    if ends or not negative or not values_bound(plan) or not revise_all(edges, plan, envelope, g, most):
        forget_waiting(envelope)
        make_stale(plan)


@compiled
def update_plan(
    edges: Edges,
    plan: Plan,
    envelope: Envelope,
    closed: Marks,
    s: int,
    a: int,
    y: int,
    new: bool,
    g: int,
    negative: bool,
    asked: int,
) -> bool:
    """Update the plan for g after one more try of a at s, which led to y; False where the plan is STALE instead.

    Args:
        edges: counted.
        plan: for g.
        envelope: of the plan.
        closed: (S,) marks terminated states.
        s: a state.
        a: the action that was tried.
        y: where it led.
        new: whether for the first time.
        g: the goal.
        negative: whether all rewards are.
        asked: the state at which the best actions must be exact, NONE for all.

    Returns:
        Whether the plan is up to date, as far as asked.
    """
    if plan.size[STALE] != 0:
        return False
    first = plan.left[s] == 0
    plan.left[s] = 1
    if s == g or closed[s] != 0:
        return settle_for(edges, plan, envelope, asked, g, negative)
    tries = tries_of(edges, s * (len(edges.leaving) // len(plan.p)) + a)
    anew = new and not update_status(edges, plan, closed, s, a, y, first, g)
    if plan.status[s] != ARRIVES:
        anew = anew or unseen_probability(plan.optimism, tries) > 0.0
    elif plan.pi[s] == a and optimism_ends(plan.optimism, tries - 1):
        anew = anew or not arrives_along(edges, plan, s, g)
    if anew:
        forget_waiting(envelope)
        make_stale(plan)
        return False
    if plan.status[s] == ARRIVES:
        if negative and values_bound(plan):
            plan.margin[s] = -np.inf
            push(plan.queue, s, plan.v[s])
        elif plan.pi[s] == a:
            push(plan.queue, s, plan.v[s])
        else:
            improve_at(edges, plan, s)
            if plan.size[STALE] != 0:
                forget_waiting(envelope)
                make_stale(plan)
                return False
    return settle_for(edges, plan, envelope, asked, g, negative)
