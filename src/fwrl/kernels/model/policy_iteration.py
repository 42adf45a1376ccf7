"""Policy iteration on an observed model: maximum probability of arriving first, then expected reward, for one goal.

With P(s' | s, a) = n(s, a, s') / n(s, a) and mean rewards r(s, a, s'),

    p(s) = max_a sum_s' P(s' | s, a) p(s')                                       probability of arriving
    v(s) = max_a sum_s' w(s' | s, a) [ r(s, a, s') + v(s') ],   w ~ P(s' | s, a) p(s')   reward given arrival

where the second maximum is over the actions that attain the first; p(g) = 1, v(g) = 0, and v = -inf where p = 0. These
are stochastic shortest paths with dead ends under the lexicographic criterion: MAXPROB first (Kolobov, Mausam, Weld and
Geffner 2011), then cost given arrival (iSSPUDE of Kolobov, Mausam and Weld 2012; S3P of Teichteil-Konigsbuch 2012).

Only what changed is evaluated. `pi` arrives with positive probability wherever it is defined: it starts from the
actions by which a backward search from g first found each state. New observations never remove an outcome; where an
action arrived only by an unseen outcome and q falls to 0, the plan is made from scratch. A switch must be a strict
improvement, so neither a bump into a wall nor a loop without cost can support its own value. For a fixed `pi` the
equations are linear; states are evaluated from a queue until nothing changes, with a loop s -> s solved exactly.
Evaluation diverges, or never ends, only for a positive cycle. A loop that is very rarely left converges too slowly:
evaluation is then cut short, and the plan marked as unsettled.
"""

from __future__ import annotations

import numpy as np

from fwrl.kernels.graph.edges import EDGES, NONE, Edges, tries_of
from fwrl.kernels.model.optimism import optimism_ends, unseen_probability
from fwrl.kernels.model.plan import QUEUED, TOUCHED, Plan, cut_short, dequeue, enqueue, touch
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import SMALLEST_SCALE, improves

TOLERANCE = 1e-11  # relative change below which a value counts as unchanged
MOST_EVALUATIONS = 20_000_000  # then there is a positive cycle, if any reward is positive, or a loop rarely left

UNCHANGED, CHANGED, DIVERGED = 0, 1, 2  # results of an evaluation


@compiled
def plan_for(edges: Edges, plan: Plan, g: int) -> bool:
    """Plan from scratch for the goal `g`; False where there is a positive cycle."""
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
    _search_backward(edges, plan, g)
    return settle(edges, plan, g)


@compiled
def _assume_untried(edges: Edges, plan: Plan, g: int) -> None:
    """Let every state with an untried action take it, and arrive by it."""
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
def _search_backward(edges: Edges, plan: Plan, g: int) -> None:
    """Search backward from the states that arrive: each state found gets the action that found it, and is queued.

    With optimism on, the states not found follow: those that arrive only by an unseen outcome.
    """
    A = len(edges.leaving) // len(plan.p)
    for s in range(len(plan.p)):
        if plan.p[s] > 0.0:
            _expand_into(edges, plan, s, g)
    expanded = _expand(edges, plan, g, 0)
    for pair in range(len(edges.leaving)):
        s = pair // A
        if s != g and plan.pi[s] == NONE and unseen_probability(plan.optimism, tries_of(edges, pair)) > 0.0:
            plan.pi[s] = pair % A
            enqueue(plan, s)
            expanded = _expand(edges, plan, g, expanded)


@compiled
def _expand(edges: Edges, plan: Plan, g: int, expanded: int) -> int:
    """Continue the search from the queued states after the first `expanded`; how many are expanded then."""
    while expanded < plan.size[QUEUED]:
        _expand_into(edges, plan, plan.queue[expanded], g)
        expanded += 1
    return expanded


@compiled
def _expand_into(edges: Edges, plan: Plan, y: int, g: int) -> None:
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
    """Evaluate what is queued and improve the policy until nothing changes; False where there is a positive cycle."""
    work = 0
    while plan.size[QUEUED] > 0 or plan.size[TOUCHED] > 0:
        while plan.size[QUEUED] > 0:
            work += 1
            s = dequeue(plan)
            change = _evaluate(edges, plan, s)
            if change == DIVERGED:
                return False
            if work > MOST_EVALUATIONS:
                cut_short(plan)
                return not _any_positive(edges)
            if change == CHANGED:
                touch(plan, s)
                _enqueue_followers(edges, plan, s, g)
        _improve(edges, plan, g)
    return True


@compiled
def _any_positive(edges: Edges) -> bool:
    """Whether any mean reward is positive."""
    positive = False
    for e in range(edges.used[EDGES]):
        positive = positive or edges.total[e] > 0.0
    return positive


@compiled
def outcome_of(edges: Edges, plan: Plan, pair: int) -> tuple[float, float]:
    """(p, v) of taking the action `pair` once and following `pi` after; (0, -inf) if that never arrives."""
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
    """Solve the equations of s under `pi` for p(s) and v(s): UNCHANGED, CHANGED, or DIVERGED if it never leaves s."""
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
        return DIVERGED
    p = arriving / (1.0 - known * stay)
    v = (known * (value + p * stay_total) + q * plan.optimism.reward[0]) / arriving
    changed = abs(p - plan.p[s]) > TOLERANCE or not (abs(v - plan.v[s]) <= TOLERANCE * max(SMALLEST_SCALE, abs(v)))
    plan.p[s] = p
    plan.v[s] = v
    return CHANGED if changed else UNCHANGED


@compiled
def _improve(edges: Edges, plan: Plan, g: int) -> None:
    """Switch `pi` where that is strictly better: at touched states, and at those with an edge into one.

    A state whose value changes meanwhile is touched again, so every comparison is repeated with its final values.
    """
    A = len(edges.leaving) // len(plan.p)
    touched = plan.size[TOUCHED]
    for i in range(touched):
        s = plan.touched[i]
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
    # States touched meanwhile remain for the next improvement.
    plan.size[TOUCHED] -= touched
    for i in range(plan.size[TOUCHED]):
        plan.touched[i] = plan.touched[touched + i]


@compiled
def _consider(edges: Edges, plan: Plan, s: int, a: int, g: int) -> None:
    """Switch `pi` to `a` at s if that is strictly better.

    Where `pi` takes `a` already, p and v are updated, so that other actions are compared with the current value.
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


@compiled
def update_plan(edges: Edges, plan: Plan, s: int, a: int, g: int) -> bool:
    """Update the plan after one more try of (s, a); False where there is a positive cycle."""
    if s == g:
        return True
    if plan.pi[s] == a:
        A = len(edges.leaving) // len(plan.p)
        if optimism_ends(plan.optimism, tries_of(edges, s * A + a) - 1) and not _arrives(edges, plan, s, g):
            return plan_for(edges, plan, g)
        enqueue(plan, s)
    else:
        _consider(edges, plan, s, a, g)
    return settle(edges, plan, g)


@compiled
def _enqueue_followers(edges: Edges, plan: Plan, s: int, g: int) -> None:
    """Queue the states whose action under `pi` can lead to s."""
    A = len(edges.leaving) // len(plan.p)
    e = edges.entering[s]
    while e != NONE:
        x = edges.pair[e] // A
        if x != s and x != g and plan.pi[x] == edges.pair[e] % A:
            enqueue(plan, x)
        e = edges.next_entering[e]
