"""Optimality equations for one goal, laid out in the order in which they are solved.

    x(i) = max over the pairs k of i of   r(k) + sum over the outcomes e of k of   w(e) x(target(e)),      x(0) = 0

State 0 is the goal. The states after it are ordered by a first guess of x, best first, so that most outcomes go to an
earlier state, and memory is read sequentially. Outcomes that stay put are solved in closed form: a pair is repeated
until it goes elsewhere. Two problems have this form:

- arrival: x is the probability of arriving, r the probability of an outcome that's sure to arrive, and w sums to less
  than 1 if an outcome is a dead end;
- reward: x is the expected path reward given arrival, over the pairs that attain the best arrival, w the probability of
  an outcome given arrival, which sums to 1.

The first guess comes from one backward search. Suppose you could repeat a pair until one chosen outcome e happens. That
takes 1 / P(e) tries on average, with a total of r / P(e). The best path under this assumption is a shortest path
(Dijkstra 1959), and its pairs form a policy that arrives: each has an outcome that the search reached before. In the
arrival problem the guess is the probability of the most likely path.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fwrl.arrays import Floats, Indices, Ints, Marks
from fwrl.kernels.heap import ABSENT, CLOSED, OPEN, Heap, close, pop, push
from fwrl.kernels.jit import compiled, widened
from fwrl.kernels.mdp.counts import Outcomes
from fwrl.kernels.mdp.reachability import UNKNOWN, arriving_mass, leaving_mass

NONE = -1
PAIRS, OUTCOMES = 0, 1  # of `used`
SMALLEST = 1e-300  # avoids a division by 0
EPSILON = 2.0**-52
PROBABILITY_ROUNDING = 16 * EPSILON  # relative, of a pair's loss in the probability of arriving


class Equations(NamedTuple):
    """N states in order, their usable pairs and those pairs' outcomes."""

    first_pair: Ints  # (N + 1,)
    first: Ints  # (K + 1,)
    target: Indices  # (E,)
    w: Floats  # (E,)
    r: Floats  # (K,)
    leak: Floats  # (K,) 1 minus the sum of w: probability of sure arrival or of a dead end
    pair: Indices  # (K,) the pair of the model


def no_equations(n_states: int, pairs: int, outcomes: int) -> tuple[Equations, Ints]:
    """Allocate memory, and return it with the numbers of pairs and outcomes in use."""
    return Equations(
        np.zeros(n_states + 1, np.int64),
        np.zeros(pairs + 1, np.int64),
        np.empty(outcomes, np.int32),
        np.empty(outcomes),
        np.empty(pairs),
        np.zeros(pairs),
        np.empty(pairs, np.int32),
    ), np.zeros(2, np.int64)


def trimmed(equations: Equations, used: Ints) -> Equations:
    """Return the equations without unused memory."""
    K, E = int(used[PAIRS]), int(used[OUTCOMES])
    first_pair, first, target, w, r, leak, pair = equations
    return Equations(first_pair, first[: K + 1], target[:E], w[:E], r[:K], leak[:K], pair[:K])


@compiled
def fill_arrival(
    outcomes: Outcomes, status: Marks, sure: Marks, order: Indices, rank: Indices, equations: Equations, used: Ints
) -> None:
    """Fill in the equations of the probability of arriving, for the states of `order`; others have rank NONE."""
    K, E = used[PAIRS], used[OUTCOMES]
    for i in range(1, len(order)):
        s = order[i]
        equations.first_pair[i] = K
        for k in range(outcomes.first_pair[s], outcomes.first_pair[s + 1]):
            elsewhere, arriving = leaving_mass(outcomes, status, sure, k)
            lost, near = 0.0, 0
            for e in range(outcomes.first[k], outcomes.first[k + 1]):
                y = outcomes.target[e]
                if y != s and status[y] != UNKNOWN and sure[y] != 1:
                    near += rank[y] != NONE
                    lost += outcomes.times[e] if rank[y] == NONE else 0.0
            if arriving == 0.0 and near == 0:
                continue
            equations.first[K] = E
            equations.r[K] = arriving / elsewhere
            equations.leak[K] = (arriving + lost) / elsewhere
            equations.pair[K] = k
            K += 1
            for e in range(outcomes.first[k], outcomes.first[k + 1]):
                y = outcomes.target[e]
                if y != s and rank[y] != NONE:
                    equations.target[E] = rank[y]
                    equations.w[E] = outcomes.times[e] / elsewhere
                    E += 1
    _close(equations, used, len(order), K, E)


@compiled
def fill_reward(
    outcomes: Outcomes,
    status: Marks,
    p: Floats,
    least: float,
    order: Indices,
    rank: Indices,
    equations: Equations,
    used: Ints,
) -> None:
    """Fill in the equations of the reward given arrival, over the pairs that arrive with at least `least` times p."""
    K, E = used[PAIRS], used[OUTCOMES]
    for i in range(1, len(order)):
        s = order[i]
        equations.first_pair[i] = K
        for k in range(outcomes.first_pair[s], outcomes.first_pair[s + 1]):
            _, elsewhere, r, _ = arriving_mass(outcomes, status, p, least, k)
            if elsewhere == 0.0:
                continue
            equations.first[K] = E
            equations.r[K] = r / elsewhere
            equations.pair[K] = k
            K += 1
            for e in range(outcomes.first[k], outcomes.first[k + 1]):
                y = outcomes.target[e]
                if y != s and status[y] != UNKNOWN and p[y] > 0.0:
                    equations.target[E] = rank[y]
                    equations.w[E] = outcomes.times[e] * p[y] / elsewhere
                    E += 1
    _close(equations, used, len(order), K, E)


@compiled
def arrival_losses(
    outcomes: Outcomes, status: Marks, p: Floats, equations: Equations, policy: Ints, losses: Floats
) -> float:
    """Fill `losses` (K,) at the pairs of the policy with their relative loss of p; return the largest.

    A loss that may be rounding counts as 0.
    """
    largest = 0.0
    for i in range(1, len(policy)):
        k = policy[i]
        losses[k] = arriving_mass(outcomes, status, p, 0.0, widened(equations.pair[k]))[3] - PROBABILITY_ROUNDING
        losses[k] = max(losses[k], 0.0)
        largest = max(largest, losses[k])
    return largest


@compiled
def fill_penalty(
    outcomes: Outcomes, status: Marks, cost: float, order: Indices, rank: Indices, equations: Equations, used: Ints
) -> None:
    """Fill in the equations of the reward if giving up is allowed at any state for `cost`, and due in a dead end.

    The last pair of each state, NONE in the model, is giving up.
    """
    K, E = used[PAIRS], used[OUTCOMES]
    for i in range(1, len(order)):
        s = order[i]
        equations.first_pair[i] = K
        for k in range(outcomes.first_pair[s], outcomes.first_pair[s + 1]):
            elsewhere, lost, r = 0.0, 0.0, 0.0
            for e in range(outcomes.first[k], outcomes.first[k + 1]):
                y = outcomes.target[e]
                if status[y] == UNKNOWN:
                    continue
                r += outcomes.times[e] * outcomes.reward[e]
                if y != s:
                    elsewhere += outcomes.times[e]
                    if rank[y] == NONE:
                        lost += outcomes.times[e]
            if elsewhere == 0.0:
                continue
            equations.first[K] = E
            equations.r[K] = (r - lost * cost) / elsewhere
            equations.leak[K] = lost / elsewhere
            equations.pair[K] = k
            K += 1
            for e in range(outcomes.first[k], outcomes.first[k + 1]):
                y = outcomes.target[e]
                if y != s and rank[y] != NONE:
                    equations.target[E] = rank[y]
                    equations.w[E] = outcomes.times[e] / elsewhere
                    E += 1
        equations.first[K] = E
        equations.r[K] = -cost
        equations.leak[K] = 1.0
        equations.pair[K] = NONE
        K += 1
    _close(equations, used, len(order), K, E)


@compiled
def _close(equations: Equations, used: Ints, N: int, K: int, E: int) -> None:
    equations.first_pair[N] = K
    equations.first[K] = E
    used[PAIRS] = K
    used[OUTCOMES] = E


@compiled
def backed_up(equations: Equations, x: Floats, k: int) -> float:
    """Return r + sum of w x over the outcomes of the pair k."""
    total = equations.r[k]
    for e in range(equations.first[k], equations.first[k + 1]):
        total += equations.w[e] * x[equations.target[e]]
    return float(total)


@compiled
def gain_of(equations: Equations, x: Floats, i: int, k: int) -> tuple[float, float]:
    """Return r + sum of w x - x(i) for the pair k of state i, and a bound on its rounding error.

    We sum differences of x, which loses no digits even in a loop that's hardly ever left.
    """
    here = x[i]
    total, size = equations.r[k] - equations.leak[k] * here, abs(equations.r[k]) + abs(equations.leak[k] * here)
    for e in range(equations.first[k], equations.first[k + 1]):
        term = equations.w[e] * (x[equations.target[e]] - here)
        total += term
        size += abs(term)
    return float(total), float(size * (equations.first[k + 1] - equations.first[k] + 4) * EPSILON)


@compiled
def least_cost(equations: Equations) -> float:
    """Return the smallest cost of a pair that may not be the last; inf without any, -inf if a reward is positive.

    Pairs that go straight to the goal may cost nothing, because nothing follows them.
    """
    least = np.inf
    for k in range(len(equations.r)):
        goes_on = False
        for e in range(equations.first[k], equations.first[k + 1]):
            goes_on = goes_on or equations.target[e] != 0
        if equations.r[k] > 0.0:
            return -np.inf
        if goes_on:
            least = min(least, -equations.r[k])
    return least


@compiled
def relative_change(old: float, new: float) -> float:
    """Return |new - old| / |new|, 0 if both are 0."""
    return 0.0 if old == new else abs(new - old) / max(abs(new), SMALLEST)


@compiled
def improve(equations: Equations, x: Floats, policy: Ints, lo: int, hi: int, tolerance: float) -> tuple[int, float]:
    """Back up the states lo .. hi and let `policy` (N,) take their best pairs.

    Return the state up to which no value changed by more than `tolerance` |x|, and the largest relative change.
    """
    settled, largest = lo, 0.0
    for i in range(lo, hi):
        best = -np.inf
        for k in range(equations.first_pair[i], equations.first_pair[i + 1]):
            value = backed_up(equations, x, k)
            if value > best:
                best = value
                policy[i] = k
        change = relative_change(x[i], best)
        if settled == i and change <= tolerance:
            settled = i + 1
        largest = max(largest, change)
        x[i] = best
    return settled, largest


@compiled
def follow(equations: Equations, x: Floats, policy: Ints, lo: int, hi: int) -> None:
    """Back up the states lo .. hi by their policy's pairs."""
    for i in range(lo, hi):
        x[i] = backed_up(equations, x, policy[i])


@compiled
def weigh_pairs(outcomes: Outcomes, status: Marks, p: Floats, least: float, mass: Floats, reward: Floats) -> float:
    """Sum up each pair: its mass of arriving outcomes and their mean reward; return the largest of these rewards.

    Pairs that arrive with less than `least` times the best probability, or never leave their state, get mass 0.
    """
    largest = -np.inf
    for k in range(len(outcomes.source)):
        mass[k] = 0.0
        if p[outcomes.source[k]] > 0.0:
            arriving, elsewhere, total, _ = arriving_mass(outcomes, status, p, least, k)
            if elsewhere > 0.0:
                mass[k] = arriving
                reward[k] = total / arriving
                largest = max(largest, reward[k])
    return largest


@compiled
def search_reward(
    outcomes: Outcomes,
    p: Floats,
    g: int,
    mass: Floats,
    reward: Floats,
    count_tries: bool,
    heap: Heap,
    guess: Floats,
    choice: Ints,
    order: Indices,
) -> int:
    """Fill `order` with the states that arrive, best guess first, and `guess` and `choice` (S,); return how many.

    `count_tries` counts tries instead of rewards, for rewards that may be positive. The heap must be empty.
    """
    push(heap, g, 0.0)
    found = 0
    while heap.size[OPEN] > 0:
        key = heap.key[0]
        y = pop(heap)
        close(heap, y)
        order[found] = y
        guess[y] = key
        found += 1
        for n in range(outcomes.first_in[y], outcomes.first_in[y + 1]):
            e = outcomes.edge_in[n]
            k = outcomes.pair[e]
            x = outcomes.source[k]
            if mass[k] == 0.0 or heap.place[x] == CLOSED:
                continue
            once = -1.0 if count_tries else reward[k]
            through = key + once * mass[k] / (outcomes.times[e] * p[y])
            if heap.place[x] == ABSENT or through > heap.key[heap.place[x] - 1]:
                push(heap, widened(x), through)
                choice[x] = k
    return found


@compiled
def search_arrival(
    outcomes: Outcomes,
    status: Marks,
    sure: Marks,
    maybe: Marks,
    mass: Floats,
    heap: Heap,
    guess: Floats,
    choice: Ints,
    order: Indices,
) -> int:
    """Search the states marked in `maybe`, with the logarithm of the probability of arriving as guess."""
    for k in range(len(outcomes.source)):
        x = outcomes.source[k]
        mass[k] = 0.0
        if maybe[x] == 0:
            continue
        elsewhere, arriving = leaving_mass(outcomes, status, sure, k)
        mass[k] = elsewhere
        if arriving > 0.0:
            through = math.log(arriving / elsewhere)
            if heap.place[x] == ABSENT or through > heap.key[heap.place[x] - 1]:
                push(heap, widened(x), through)
                choice[x] = k
    found = 1  # state 0 represents all states sure to arrive
    while heap.size[OPEN] > 0:
        key = heap.key[0]
        y = pop(heap)
        close(heap, y)
        order[found] = y
        guess[y] = key
        found += 1
        for n in range(outcomes.first_in[y], outcomes.first_in[y + 1]):
            e = outcomes.edge_in[n]
            k = outcomes.pair[e]
            x = outcomes.source[k]
            if mass[k] == 0.0 or x == y or heap.place[x] == CLOSED:
                continue
            through = key + math.log(outcomes.times[e] / mass[k])
            if heap.place[x] == ABSENT or through > heap.key[heap.place[x] - 1]:
                push(heap, widened(x), through)
                choice[x] = k
    return found
