"""Arriving first, reward second: the best policy of an observed model for one goal, kept current.

With P(s' | s, a) = n(s, a, s') / n(s, a) and mean rewards r(s, a, s'),

    p(s) = max_a sum_s' P(s' | s, a) p(s')                                       probability of arriving
    v(s) = max_a sum_s' w(s' | s, a) [ r(s, a, s') + v(s') ],   w ~ P(s' | s, a) p(s')   reward given arrival

where the second maximum is over the actions that attain the first; p(g) = 1, v(g) = 0, and v = -inf where p = 0.

This is policy iteration that touches only what changed. `pi` arrives with positive probability wherever it is
defined: it starts from the actions by which a backward search from g first found each state, new outcomes never
take an outcome away (where hope held an action up and ends, the plan is made anew), and a switch has to improve
strictly, so neither a wall bump nor a loop without cost can hold itself up. For a fixed `pi` the equations are linear;
states are re-evaluated from a queue until they stand still, an outcome that stays put solved for exactly. Only a
positive cycle makes that go astray, or on for ever. A loop that is hardly ever left makes it too long to wait for:
the plan is then left as it is, unsettled.
"""

from __future__ import annotations

import numpy as np

from fwrl.kernels.graph.edges import NONE, Edges
from fwrl.kernels.model.optimism import optimism_ends, unseen_probability
from fwrl.kernels.model.plan import Plan, dequeue, enqueue, leave, touch
from fwrl.kernels.model.tries import tries_of
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import SMALLEST_SCALE, improves

STANDSTILL = 1e-11  # relative change below which a value counts as settled
ENDLESS = 20_000_000  # evaluations after which a cycle must be profitable, if any step gains, or is not waited for

STILL, MOVED, ASTRAY = 0, 1, 2  # what an evaluation finds


@compiled
def plan_for(edges: Edges, plan: Plan, g: int) -> bool:
    """Plan anew for the goal `g`; False where a cycle is profitable."""
    plan.p[:] = 0.0
    plan.v[:] = -np.inf
    plan.pi[:] = NONE
    plan.queued[:] = 0
    plan.is_touched[:] = 0
    plan.size[:] = 0
    touch(plan, g)
    plan.p[g] = 1.0
    plan.v[g] = 0.0
    if plan.optimism.on[0] != 0:
        _assume_untried(edges, plan, g)
    _attract(edges, plan, g)
    return settle(edges, plan, g)


@compiled
def _assume_untried(edges: Edges, plan: Plan, g: int) -> None:
    """Send every state that has an action never tried straight to the goal by it."""
    A = len(edges.leaving) // len(plan.p)
    for s in range(len(plan.p)):
        for a in range(A):
            if s != g and edges.leaving[s * A + a] == NONE:
                plan.pi[s] = a
                plan.p[s] = 1.0
                plan.v[s] = plan.optimism.reward[0]
                touch(plan, s)
                break


@compiled
def _attract(edges: Edges, plan: Plan, g: int) -> None:
    """Search backward from where one arrives: each state found gets the action that found it, and is queued in order.

    While hoping, states that lead nowhere come last: trying once more what is not yet known is their only way.
    """
    A = len(edges.leaving) // len(plan.p)
    for s in range(len(plan.p)):
        if plan.p[s] > 0.0:
            _attract_to(edges, plan, s, g)
    expanded = _expand(edges, plan, g, 0)
    for pair in range(len(edges.leaving)):
        s = pair // A
        if s != g and plan.pi[s] == NONE and unseen_probability(plan.optimism, tries_of(edges, pair)) > 0.0:
            plan.pi[s] = pair % A
            enqueue(plan, s)
            expanded = _expand(edges, plan, g, expanded)


@compiled
def _expand(edges: Edges, plan: Plan, g: int, expanded: int) -> int:
    """Search on from the queued states after the first `expanded`; how many there are then."""
    while expanded < plan.size[1]:
        _attract_to(edges, plan, plan.queue[expanded], g)
        expanded += 1
    return expanded


@compiled
def _attract_to(edges: Edges, plan: Plan, y: int, g: int) -> None:
    A = len(edges.leaving) // len(plan.p)
    e = edges.entering[y]
    while e != NONE:
        x = edges.pair[e] // A
        if x != g and plan.pi[x] == NONE:
            plan.pi[x] = edges.pair[e] % A
            enqueue(plan, x)
        e = edges.next_entering[e]


@compiled
def settle(edges: Edges, plan: Plan, g: int) -> bool:
    """Evaluate what is queued, improve where that helps, until nothing changes; False if it never would."""
    work = 0
    while plan.size[1] > 0 or plan.size[2] > 0:
        while plan.size[1] > 0:
            work += 1
            s = dequeue(plan)
            change = _evaluate(edges, plan, s)
            if change == ASTRAY:
                return False
            if work > ENDLESS:
                leave(plan)
                return not _gains(edges)
            if change == MOVED:
                touch(plan, s)
                _enqueue_followers(edges, plan, s, g)
        _improve(edges, plan, g)
    return True


@compiled
def _gains(edges: Edges) -> bool:
    """Whether any step is worth more than nothing."""
    gains = False
    for e in range(edges.used[0]):
        gains = gains or edges.total[e] > 0.0
    return gains


@compiled
def outcome_of(edges: Edges, plan: Plan, pair: int) -> tuple[float, float]:
    """(p, v) of the action `pair` if it is taken once and `pi` followed after; (0, -inf) if it never arrives."""
    n = 0
    weight = 0.0
    value = 0.0
    e = edges.leaving[pair]
    while e != NONE:
        n += edges.times[e]
        p = plan.p[edges.target[e]]
        if p > 0.0:
            weight += edges.times[e] * p
            value += p * (edges.total[e] + edges.times[e] * plan.v[edges.target[e]])
        e = edges.next_leaving[e]
    q = unseen_probability(plan.optimism, n)
    known = (1.0 - q) / max(n, 1)
    p = known * weight + q
    if p == 0.0:
        return 0.0, -np.inf
    return p, (known * value + q * plan.optimism.reward[0]) / p


@compiled
def _evaluate(edges: Edges, plan: Plan, s: int) -> int:
    """Solve the equations of s under `pi` for p(s) and v(s): STILL, MOVED, or ASTRAY if it never leaves."""
    A = len(edges.leaving) // len(plan.p)
    n = 0
    weight = 0.0
    value = 0.0
    stay = 0
    stay_total = 0.0
    e = edges.leaving[s * A + plan.pi[s]]
    while e != NONE:
        y = edges.target[e]
        n += edges.times[e]
        p = plan.p[y]
        if y == s:
            stay = edges.times[e]
            stay_total = edges.total[e]
        elif p > 0.0:
            weight += edges.times[e] * p
            value += p * (edges.total[e] + edges.times[e] * plan.v[y])
        e = edges.next_leaving[e]
    q = unseen_probability(plan.optimism, n)
    known = (1.0 - q) / max(n, 1)
    arriving = known * weight + q
    if arriving == 0.0:
        return ASTRAY
    p = arriving / (1.0 - known * stay)
    v = (known * (value + p * stay_total) + q * plan.optimism.reward[0]) / arriving
    moved = abs(p - plan.p[s]) > STANDSTILL or not (abs(v - plan.v[s]) <= STANDSTILL * max(SMALLEST_SCALE, abs(v)))
    plan.p[s] = p
    plan.v[s] = v
    return MOVED if moved else STILL


@compiled
def _improve(edges: Edges, plan: Plan, g: int) -> None:
    """Switch `pi` where that is strictly better: at states that were touched, and at those that lead to them.

    A state whose value changes on the way is touched once more, so every comparison is made with the values that last.
    """
    A = len(edges.leaving) // len(plan.p)
    touched = plan.size[2]
    for n in range(touched):
        s = plan.touched[n]
        plan.is_touched[s] = 0
        if s != g:
            for a in range(A):
                _consider(edges, plan, s, a, g)
        e = edges.entering[s]
        while e != NONE:
            x = edges.pair[e] // A
            if x != g:
                _consider(edges, plan, x, edges.pair[e] % A, g)
            e = edges.next_entering[e]
    # What switching touched comes next.
    plan.size[2] -= touched
    for n in range(plan.size[2]):
        plan.touched[n] = plan.touched[touched + n]


@compiled
def _consider(edges: Edges, plan: Plan, s: int, a: int, g: int) -> None:
    """Let `pi` take `a` at s from now on if that is strictly better.

    Where `pi` does so already, its risen value is taken over, lest others be measured against an old one.
    """
    A = len(edges.leaving) // len(plan.p)
    p, v = outcome_of(edges, plan, s * A + a)
    if improves(p, plan.p[s]) or (not improves(plan.p[s], p) and improves(v, plan.v[s])):
        plan.pi[s] = a
        touch(plan, s)
        plan.p[s] = p
        plan.v[s] = v
        enqueue(plan, s)
        _enqueue_followers(edges, plan, s, g)


@compiled
def _stands(edges: Edges, plan: Plan, s: int, g: int) -> bool:
    """Whether one way along `pi` from s, by its nearest outcomes, is seen to arrive or to end in hope."""
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


@compiled
def reconsider(edges: Edges, plan: Plan, s: int, a: int, g: int) -> bool:
    """Bring the plan up to date after one more try of (s, a); False where a cycle is profitable."""
    if s == g:
        return True
    if plan.pi[s] == a:
        A = len(edges.leaving) // len(plan.p)
        if optimism_ends(plan.optimism, tries_of(edges, s * A + a) - 1) and not _stands(edges, plan, s, g):
            return plan_for(edges, plan, g)
        enqueue(plan, s)
    else:
        _consider(edges, plan, s, a, g)
    return settle(edges, plan, g)


@compiled
def _enqueue_followers(edges: Edges, plan: Plan, s: int, g: int) -> None:
    """Queue the states whose present action can lead to s."""
    A = len(edges.leaving) // len(plan.p)
    e = edges.entering[s]
    while e != NONE:
        x = edges.pair[e] // A
        if x != s and x != g and plan.pi[x] == edges.pair[e] % A:
            enqueue(plan, x)
        e = edges.next_entering[e]
