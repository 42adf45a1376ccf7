"""Arriving first, reward second: the best policy of a counted model for one goal, exactly.

With P(s' | s, a) the observed frequencies and r(s, a, s') the mean rewards,

    p(s) = max_a sum_s' P(s' | s, a) p(s')                                                   probability of arriving
    v(s) = max_a sum_s' w(s' | s, a) [ r(s, a, s') + v(s') ],   w ~ P(s' | s, a) p(s')        reward given arrival

where the second maximum is over the actions that attain the first and the policies that arrive; p(g) = 1, v(g) = 0, and
v = -inf where p = 0. In the literature: MAXPROB and then the expected cost of the policies that attain it (Kolobov, Mausam
and Weld 2012: iSSPUDE; Teichteil-Koenigsbuch 2012: S3P), on stochastic shortest paths with dead ends.

1. The graph tells who can arrive, and who surely (see `reachability`): there p = 1 without any iteration.
2. The rest of p is found by policy iteration from a policy that arrives with positive probability everywhere. A switch must
   improve strictly: no set of states that is never left can hold itself up.
3. v likewise on the reweighted model. Where every reward is negative the fixed point is unique (Bertsekas and Tsitsiklis
   1991), and modified policy iteration (Puterman and Shin 1978) in the order of a first guess finds it: sweeps over a
   window of states that moves away from the goal as the values behind it stand still, so that no state is swept
   while what it depends on still changes. Otherwise policy iteration with exact evaluations (see `evaluation`).

A policy of strict improvements that does not arrive has found a positive cycle: a set of states that it never leaves, with
positive mean reward. It is the one thing that is refused.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.heap import empty_heap
from fwrl.kernels.model.equations import (
    NONE,
    Equations,
    backed_up,
    fill_arrival,
    fill_penalty,
    fill_reward,
    follow,
    improve,
    no_equations,
    trimmed,
)
from fwrl.kernels.model.evaluation import ACCURACY, chain_of, evaluate
from fwrl.kernels.model.first_policy import search_arrival, search_reward, weigh_pairs
from fwrl.kernels.model.outcomes import Outcomes
from fwrl.kernels.model.reachability import ARRIVES, reach_of
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.ties import LEAST_GAIN, RELATIVE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.int8]

STANDSTILL = 1e-15  # relative change that rounding alone may cause
ROUNDING = 64 * 2.0**-52  # relative: a switch that gains less is none
WINDOWED = 30_000  # states from which on windows pay
SHELLS = 48  # width of a window in square roots of the number of states
EVALUATIONS = 6  # sweeps that follow the policy, to one that improves it
PESSIMISM = 1.2  # factor on the guess beyond the window: what is too good there would attract
ROUNDS = 150  # of sweeps that a value may take to settle before exact evaluations take over
LOOK_BACK = 10  # rounds


class PositiveCycle(Exception):
    """Pairs of the model that circle for ever with positive mean reward."""

    def __init__(self, pairs: Indices) -> None:
        super().__init__()
        self.pairs = pairs


class Solution(NamedTuple):
    """The best policy for one goal and what it is worth."""

    p: Floats  # (S,) probability of arriving
    v: Floats  # (S,) expected path reward given arrival, -inf where p is 0
    pair: Ints  # (S,) the pair chosen, -1 at the goal and where p is 0
    status: Marks  # (S,) TRAP, ARRIVES or UNKNOWN
    error: float  # bound on the relative error of v, and of p


def solve(
    outcomes: Outcomes, goal: int, closed: NDArray[np.bool_] | None = None, penalty: float | None = None
) -> Solution:
    """The best policy for `goal`.

    Args:
        outcomes: The model.
        goal: A state.
        closed: (S,) True at states that are traps whatever leaves them: terminated, declared or avoided.
        penalty: The positive cost of giving up, allowed at any state and due in a trap (Kolobov, Mausam and Weld 2012:
            fSSPUDE). v is then the expected reward in all, p the probability that the policy arrives. None puts
            arriving first.

    Returns:
        The policy with its values, which are exact up to `error`.

    Raises:
        PositiveCycle: Actions that arrive with the best probability can circle with positive mean reward.
    """
    S = outcomes.n_states
    status, sure = reach_of(outcomes, goal, closed)
    if penalty is not None:
        return _solve_penalty(outcomes, goal, status, penalty)
    p = (sure == 1).astype(np.float64)
    pair = np.full(S, NONE)
    error = 0.0
    maybe = ((status == ARRIVES) & (sure == 0)).astype(np.int8)
    if maybe.any():
        error = _solve_arrival(outcomes, status, sure, maybe, p)
    v, reward_error = _solve_reward(outcomes, goal, status, p, pair)
    return Solution(p, v, pair, status, max(error, reward_error))


def _solve_penalty(outcomes: Outcomes, goal: int, status: Marks, cost: float) -> Solution:
    """The best policy where one may give up."""
    S, K = outcomes.n_states, len(outcomes.source)
    arrives = (status == ARRIVES).astype(np.float64)
    order, rank, guess, choice, largest = _first_guess(outcomes, goal, status, arrives, 0.0)
    equations, used = no_equations(len(order), K + S, len(outcomes.target))
    fill_penalty(outcomes, status, cost, order, rank, equations, used)
    equations = trimmed(equations, used)
    policy = equations.first_pair[1:] - 1
    policy = np.concatenate([[0], policy[1:]])  # giving up
    x = np.full(len(order), -cost)
    x[0] = 0.0
    negative = largest < 0.0 and (len(equations.r) == 0 or bool(equations.r.max() < 0.0))
    error, x, policy = _best(equations, policy, x, np.maximum(guess[order], -cost) if negative else None)
    v, p, pair = np.full(S, -cost), np.zeros(S), np.full(S, NONE)
    v[order] = x
    pair[order[1:]] = equations.pair[policy[1:]]
    chain = chain_of(equations, policy)
    arriving = np.zeros(len(equations.r))
    np.add.at(arriving, policy[1:][chain.row[chain.target == 0]], chain.w[chain.target == 0])
    chance = np.zeros(len(order))
    error = max(error, evaluate(equations._replace(r=arriving), policy, chance, np.zeros(len(order))))
    chance[0] = 1.0
    p[order] = chance
    return Solution(p, v, pair, status, error)


def _first_guess(
    outcomes: Outcomes, goal: int, status: Marks, p: Floats, least: float
) -> tuple[Indices, Indices, Floats, Ints, float]:
    """The states that arrive in the order of a first guess, their ranks, the guess, its pairs, and the largest reward."""
    S, K = outcomes.n_states, len(outcomes.source)
    mass, reward = np.empty(K), np.empty(K)
    largest = weigh_pairs(outcomes, status, p, least, mass, reward)
    guess, choice, order = np.zeros(S), np.full(S, NONE), np.empty(S, np.int32)
    tries = bool(largest > 0.0)
    found = search_reward(outcomes, p, goal, mass, reward, tries, empty_heap(S), guess, choice, order)
    rank = np.full(S, NONE, np.int32)
    rank[order[:found]] = np.arange(found)
    return order[:found], rank, guess, choice, largest


def _best(equations: Equations, policy: Ints, x: Floats, guess: Floats | None) -> tuple[float, Floats, Ints]:
    """(error, x, policy): by sweeps from the guess if there is one and it settles, else by exact policy iteration."""
    if guess is not None:
        swept, greedy = guess.copy(), policy.copy()
        error = sweep(equations, greedy, swept)
        if error <= ACCURACY:
            return error, swept, greedy
    return iterate(equations, policy, x), x, policy


def _solve_arrival(outcomes: Outcomes, status: Marks, sure: Marks, maybe: Marks, p: Floats) -> float:
    """Fill p at the states that may or may not arrive."""
    S, K = outcomes.n_states, len(outcomes.source)
    guess, choice, order = np.zeros(S), np.full(S, NONE), np.zeros(S + 1, np.int32)
    found = search_arrival(outcomes, status, sure, maybe, np.zeros(K), empty_heap(S), guess, choice, order)
    order = order[:found]
    rank = np.full(S, NONE, np.int32)
    rank[order[1:]] = np.arange(1, found)
    equations, used = no_equations(found, K, len(outcomes.target))
    fill_arrival(outcomes, status, sure, order, rank, equations, used)
    equations = trimmed(equations, used)
    x = np.zeros(found)
    x[1:] = np.exp(guess[order[1:]])
    policy = _chosen(equations, choice[order])
    error = iterate(equations, policy, x)
    p[order[1:]] = np.minimum(x[1:], 1.0)
    return error


def _solve_reward(outcomes: Outcomes, goal: int, status: Marks, p: Floats, pair: Ints) -> tuple[Floats, float]:
    """v (S,) and the bound on its error; fill `pair`."""
    order, rank, guess, choice, largest = _first_guess(outcomes, goal, status, p, 1.0 - RELATIVE)
    equations, used = no_equations(len(order), len(outcomes.source), len(outcomes.target))
    fill_reward(outcomes, status, p, 1.0 - RELATIVE, order, rank, equations, used)
    equations = trimmed(equations, used)
    x = guess[order]
    policy = _chosen(equations, choice[order])
    error, x, policy = _best(equations, policy, x, x if largest < 0.0 else None)
    v = np.full(outcomes.n_states, -np.inf)
    v[order] = x
    pair[order[1:]] = equations.pair[policy[1:]]
    return v, error


def _chosen(equations: Equations, pairs: Ints) -> Ints:
    """(N,) the places, among the equations, of the pairs (N,) of the model; the first state has none."""
    places = np.full(int(equations.pair.max(initial=0)) + 1, NONE)
    places[equations.pair] = np.arange(len(equations.pair))
    policy = np.zeros(len(pairs), np.int64)
    policy[1:] = places[pairs[1:]]
    return policy


def sweep(equations: Equations, policy: Ints, x: Floats) -> float:
    """Modified policy iteration for negative rewards, from the guess x; the bound on the error, inf if it would take long."""
    N = len(x)
    if N == 1:
        return 0.0
    # A policy that starts at s makes at most |v(s)| / least_cost steps on average, the optimal one included.
    least_cost = float(-equations.r.max())
    steps = float(np.abs(x).max()) / least_cost
    tolerance = max(ACCURACY / (8.0 * steps), STANDSTILL)
    if N > WINDOWED:
        guess = x.copy()
        x *= PESSIMISM
        window = int(SHELLS * np.sqrt(N))
        if not sweep_windows(equations, policy, x, guess, window, EVALUATIONS, tolerance, ROUNDS):
            return np.inf
    changes: list[float] = []
    while not changes or changes[-1] > tolerance:
        changes.append(improve(equations, x, policy, 1, N, tolerance)[1])
        if _rounds_left(changes, tolerance) > ROUNDS:
            return np.inf
        for _ in range(EVALUATIONS):
            follow(equations, x, policy, 1, N)
    return 2.0 * bellman_residual(equations, x) * float(np.abs(x).max()) / least_cost


def _rounds_left(changes: list[float], tolerance: float) -> float:
    """How many more rounds it takes to a standstill, going by the last ones."""
    if len(changes) < 2 * LOOK_BACK or changes[-1] == 0.0:
        return 0.0
    rate = math.log(changes[-LOOK_BACK] / changes[-1]) / LOOK_BACK
    return math.log(changes[-1] / tolerance) / rate if rate > 0.0 else math.inf


def iterate(equations: Equations, policy: Ints, x: Floats) -> float:
    """Policy iteration with exact evaluations, from a policy that arrives; the bound on the error of evaluating."""
    h = np.zeros(len(x))
    least = ROUNDING
    while True:
        error = evaluate(equations, policy, x, h)
        before = policy.copy()
        if switch(equations, x, policy, max(least, 4.0 * error if error < 1e-9 else 0.0)) == 0:
            return error
        stuck = never_arriving(equations, policy)
        if len(stuck):
            cycle = positive_cycle(equations, policy, stuck)
            if len(cycle):
                raise PositiveCycle(equations.pair[policy[cycle]])
            policy[stuck] = before[stuck]
            least *= 16.0


def never_arriving(equations: Equations, policy: Ints) -> Ints:
    """The states from which a policy has no path out of the equations."""
    from scipy.sparse.csgraph import breadth_first_order

    graph = _graph(equations, policy)
    arrives = np.zeros(len(policy), np.bool_)
    arrives[breadth_first_order(graph.T.tocsr(), 0, return_predecessors=False)] = True
    return np.flatnonzero(~arrives)


def _graph(equations: Equations, policy: Ints) -> Any:
    """Where a policy leads; what leaks leads to 0."""
    from scipy.sparse import csr_array

    chain, N = chain_of(equations, policy), len(policy)
    out = np.flatnonzero(chain.leak > 0) + 1
    rows, columns = np.concatenate([chain.row + 1, out]), np.concatenate([chain.target, np.zeros(len(out), np.int64)])
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(N, N))


def positive_cycle(equations: Equations, policy: Ints, stuck: Ints) -> Ints:
    """A closed set of states among those `stuck` whose mean reward is positive; empty where only rounding closed one."""
    from scipy.sparse.csgraph import connected_components

    graph = _graph(equations, policy)
    inside = graph[stuck][:, stuck]
    count, part = connected_components(inside, connection="strong")
    source, target = inside.nonzero()
    leaves = np.zeros(count, np.bool_)
    leaves[part[source[part[source] != part[target]]]] = True
    chain = chain_of(equations, policy)
    for n in np.flatnonzero(~leaves):
        members = stuck[part == n]
        P = np.zeros((len(members), len(members)))
        place = np.full(len(policy), NONE)
        place[members] = np.arange(len(members))
        within = np.isin(chain.row + 1, members)
        P[place[chain.row[within] + 1], place[chain.target[within]]] = chain.w[within]
        balance = np.vstack([P.T - np.eye(len(members)), np.ones(len(members))])
        share = np.linalg.lstsq(balance, np.append(np.zeros(len(members)), 1.0), rcond=None)[0]
        if share @ chain.r[members - 1] > LEAST_GAIN:
            return members
    return stuck[:0]


@compiled
def sweep_windows(
    equations: Equations,
    policy: Ints,
    x: Floats,
    guess: Floats,
    window: int,
    evaluations: int,
    tolerance: float,
    patience: int,
) -> bool:
    """Settle the states in order, a window at a time; False where a window takes more rounds than `patience`.

    A state enters the window with its guess scaled as the last settled one was off.
    """
    N = len(x)
    lo, entered = 1, 1
    begin, rounds = lo, 0
    while lo < N:
        hi = min(N, lo + window)
        scale = x[lo - 1] / guess[lo - 1] if lo > 1 else 1.0
        for i in range(entered, hi):
            x[i] = guess[i] * scale
        entered = max(entered, hi)
        lo, _ = improve(equations, x, policy, lo, hi, tolerance)
        for _ in range(evaluations):
            follow(equations, x, policy, lo, hi)
        rounds += 1
        if lo >= begin + window:
            begin, rounds = lo, 0
        elif rounds > patience:
            return False
    return True


@compiled
def bellman_residual(equations: Equations, x: Floats) -> float:
    """The largest |T x - x| relative to |x|."""
    residual = 0.0
    for i in range(1, len(x)):
        best = -np.inf
        for k in range(equations.first_pair[i], equations.first_pair[i + 1]):
            best = max(best, backed_up(equations, x, k))
        residual = max(residual, abs(best - x[i]) / abs(best))
    return residual


@compiled
def switch(equations: Equations, x: Floats, policy: Ints, least: float) -> int:
    """Let the policy take the best pair where that gains more than `least` |x|; how many states switched."""
    switched = 0
    for i in range(1, len(x)):
        best, chosen = x[i], policy[i]
        for k in range(equations.first_pair[i], equations.first_pair[i + 1]):
            value = backed_up(equations, x, k)
            if value > best:
                best = value
                chosen = k
        if chosen != policy[i] and best - x[i] > least * max(abs(best), abs(x[i])):
            policy[i] = chosen
            switched += 1
    return switched
