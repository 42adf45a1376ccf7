"""Arrival first, reward second: the best policy of a counted model for one goal, exactly.

With P(s' | s, a) the observed frequencies and r(s, a, s') the mean rewards,

    p(s) = max_a sum_s' P(s' | s, a) p(s')                                            probability of arriving
    v(s) = max_a sum_s' w(s' | s, a) [ r(s, a, s') + v(s') ],   w ~ P(s' | s, a) p(s')   reward given arrival

where the second maximum is over the actions that attain the first and the policies that arrive; p(g) = 1, v(g) = 0, and
v = -inf where p = 0. In the literature: MAXPROB, and then the least expected cost of the policies that attain it, on
stochastic shortest paths with unavoidable dead ends (iSSPUDE: Kolobov, Mausam and Weld 2012; S3P:
Teichteil-Koenigsbuch 2012).

1. The graph tells which states can arrive, and which surely (see `reachability`): there p = 1 without iteration.
2. The rest of p is found by exact policy iteration from a policy that arrives with positive probability everywhere.
3. v is found on the model reweighted by p: by modified policy iteration where every reward is negative and that settles
   soon, by exact policy iteration otherwise.

Every answer comes with a bound on its relative error. The one thing refused is a positive cycle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.graph.heap import empty_heap
from fwrl.kernels.model.equations import (
    NONE,
    Equations,
    fill_arrival,
    fill_penalty,
    fill_reward,
    least_cost,
    no_equations,
    trimmed,
)
from fwrl.kernels.model.evaluation import ACCURACY, CERTIFIED, chain_of, evaluate, inaccurate
from fwrl.kernels.model.exact_policy_iteration import PositiveMeanError, iterate
from fwrl.kernels.model.first_policy import search_arrival, search_reward, weigh_pairs
from fwrl.kernels.model.modified_policy_iteration import sweep
from fwrl.kernels.model.outcomes import Outcomes
from fwrl.kernels.model.reachability import ARRIVES, UNKNOWN, reach_of
from fwrl.kernels.runtime.compiled import compiled
from fwrl.kernels.runtime.ties import LEAST_GAIN, RELATIVE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.int8]


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
        PositiveMeanError: Actions that arrive with the best probability form a positive cycle.
        FwrlError: Counts differ by so large factors that rounding hides the values: the bound is above 1e-9.
    """
    solution = _solve(outcomes, goal, closed, penalty)
    if not solution.error <= CERTIFIED:
        raise inaccurate()
    return solution


def _solve(outcomes: Outcomes, goal: int, closed: NDArray[np.bool_] | None, penalty: float | None) -> Solution:
    S = outcomes.n_states
    status, sure = reach_of(outcomes, goal, closed)
    loop = positive_loop(outcomes, status, goal)
    if loop != NONE:
        raise PositiveMeanError(np.array([loop], np.int32))
    if penalty is not None:
        return _solve_penalty(outcomes, goal, status, float(penalty))
    p = (sure == 1).astype(np.float64)
    pair = np.full(S, NONE)
    error = 0.0
    maybe = ((status == ARRIVES) & (sure == 0)).astype(np.int8)
    if maybe.any():
        error = _solve_arrival(outcomes, status, sure, maybe, p)
    v, reward_error = _solve_reward(outcomes, goal, status, p, pair)
    return Solution(p, v, pair, status, float(np.maximum(error, reward_error)))


@compiled
def positive_loop(outcomes: Outcomes, status: Marks, g: int) -> int:
    """A pair with positive reward that only ever stays at a state that arrives, or NONE; equations leave it out."""
    for k in range(len(outcomes.source)):
        s = outcomes.source[k]
        if status[s] == ARRIVES and s != g:
            total, stays = 0.0, True
            for e in range(outcomes.first[k], outcomes.first[k + 1]):
                if status[outcomes.target[e]] != UNKNOWN:
                    stays = stays and outcomes.target[e] == s
                    total += outcomes.times[e] * outcomes.reward[e]
            if stays and total > LEAST_GAIN:
                return k
    return NONE


def _solve_penalty(outcomes: Outcomes, goal: int, status: Marks, cost: float) -> Solution:
    """The best policy where one may give up."""
    S, K = outcomes.n_states, len(outcomes.source)
    arrives = (status == ARRIVES).astype(np.float64)
    order, rank, guess, _, largest = _first_guess(outcomes, goal, status, arrives, 0.0)
    equations, used = no_equations(len(order), K + S, len(outcomes.target))
    fill_penalty(outcomes, status, cost, order, rank, equations, used)
    equations = trimmed(equations, used)
    policy = equations.first_pair[1:] - 1
    policy = np.concatenate([[0], policy[1:]])  # giving up
    x = np.full(len(order), -cost)
    x[0] = 0.0
    negative = largest <= 0.0 and least_cost(equations) > 0.0
    error, x, policy = _best(equations, policy, x, np.maximum(guess[order], -cost) if negative else None)
    v, p, pair = np.full(S, -cost), np.zeros(S), np.full(S, NONE)
    v[order] = x
    pair[order[1:]] = equations.pair[policy[1:]]
    chain = chain_of(equations, policy)
    arriving = np.zeros(len(equations.r))
    np.add.at(arriving, policy[1:][chain.row[chain.target == 0]], chain.w[chain.target == 0])
    chance = np.zeros(len(order))
    arrival_error = evaluate(equations._replace(r=arriving), policy, chance, np.zeros(len(order)))
    chance[0] = 1.0
    p[order] = chance
    return Solution(p, v, pair, status, float(np.maximum(error, arrival_error)))


def _first_guess(
    outcomes: Outcomes, goal: int, status: Marks, p: Floats, least: float
) -> tuple[Indices, Indices, Floats, Ints, float]:
    """The states that arrive, best guess first; their ranks, the guess, its pairs; the largest reward of a pair."""
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
    """V (S,) and the bound on its error; fill `pair`."""
    order, rank, guess, choice, largest = _first_guess(outcomes, goal, status, p, 1.0 - RELATIVE)
    equations, used = no_equations(len(order), len(outcomes.source), len(outcomes.target))
    fill_reward(outcomes, status, p, 1.0 - RELATIVE, order, rank, equations, used)
    equations = trimmed(equations, used)
    x = guess[order]
    policy = _chosen(equations, choice[order])
    error, x, policy = _best(equations, policy, x, x if largest <= 0.0 and least_cost(equations) > 0.0 else None)
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
