"""Arrival first, reward second: the best policy of a counted model for one goal, exactly.

With P(s' | s, a) the observed frequencies and r(s, a, s') the mean rewards,

    p(s) = max_a sum_s' P(s' | s, a) p(s')                                            probability of arriving
    v(s) = max_a sum_s' w(s' | s, a) [ r(s, a, s') + v(s') ],   w ~ P(s' | s, a) p(s')   reward given arrival

where the second maximum is over the actions that attain the first and the policies that arrive; p(g) = 1, v(g) = 0, and
v = -inf if p = 0. In the literature this is MAXPROB, followed by the least expected cost of the policies that attain
it, on stochastic shortest paths with unavoidable dead ends (iSSPUDE: Kolobov, Mausam and Weld 2012; S3P:
Teichteil-Koenigsbuch 2012).

1. The graph tells which states can arrive, and which are sure to (see `reachability`): these have p = 1.
2. Exact policy iteration finds the rest of p, from a policy that arrives with positive probability everywhere.
3. We find v on the model reweighted by p: by modified policy iteration if every reward is negative and it converges
   soon, by exact policy iteration otherwise.

Every answer comes with a bound on its relative error, at most 1e-9. If neither sweeps nor a factorisation can give one,
as in loops left with probability 1e-12, we raise an error instead of returning an answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Indices, Ints, Marks, empty
from fwrl.kernels.heap import Heap
from fwrl.kernels.jit import compiled
from fwrl.kernels.mdp.counts import Outcomes, outcomes_of
from fwrl.kernels.mdp.equations import (
    NONE,
    PROBABILITY_ROUNDING,
    Equations,
    arrival_losses,
    fill_arrival,
    fill_penalty,
    fill_reward,
    least_cost,
    no_equations,
    search_arrival,
    search_reward,
    trimmed,
    weigh_pairs,
)
from fwrl.kernels.mdp.evaluation import ACCURACY, PATIENCE, SWEEPS, certify, chain_of
from fwrl.kernels.mdp.policy_iteration import PositiveMeanError, iterate, sweep
from fwrl.kernels.mdp.reachability import ARRIVES, UNKNOWN, reach_of
from fwrl.kernels.ties import LEAST_GAIN, RELATIVE

BELOW_ONE = 1.0 - 2.0**-53  # the largest probability of arriving that isn't certain
TIGHTER = 100.0  # factor on a tie


class Solution(NamedTuple):
    """The best policy for one goal, and its values."""

    p: Floats  # (S,) probability of arriving
    v: Floats  # (S,) expected path reward given arrival, -inf if p is 0
    pair: Ints  # (S,) the pair chosen, -1 at the goal and if p is 0
    status: Marks  # (S,) TRAP, ARRIVES or UNKNOWN
    error: float  # bound on the relative error of v, and of p
    evaluations: int  # of states, to find v
    tie: float = RELATIVE  # pairs attain the best probability of arriving if their relative loss is smaller


def solve(
    outcomes: Outcomes, goal: int, closed: NDArray[np.bool_] | None = None, penalty: float | None = None
) -> Solution:
    """Find the best policy for `goal`.

    Args:
        closed: (S,) True at states that are traps even if something leaves them: terminated, declared or avoided.
        penalty: the positive cost of giving up, allowed at any state and due in a trap (Kolobov, Mausam and Weld 2012:
            fSSPUDE). v is then the total expected reward, p the probability that the policy arrives. None puts arriving
            first.

    Returns:
        The policy with its values, which are exact up to `error`.

    Raises:
        PositiveMeanError: actions that arrive with the best probability form a positive cycle.
        UncertifiedError: a loop is left so rarely that the values can't be determined.
    """
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
    v, reward_error, evaluations, tie = _solve_reward(outcomes, goal, status, p, pair)
    return Solution(p, v, pair, status, float(np.maximum(error, reward_error)), evaluations, tie)


def arrival_of(outcomes: Outcomes, goal: int, followed: NDArray[np.bool_]) -> Floats:
    """(S,) the probability that a policy arrives, given the pairs (K,) it follows; without a pair it's lost.

    The model of these pairs alone leaves the solver no choice: it evaluates them.
    """
    kept = followed[outcomes.pair]
    pair, source = (np.cumsum(followed) - 1)[outcomes.pair[kept]], outcomes.source[followed]
    closed = np.ones(outcomes.n_states, np.bool_)
    closed[source] = False
    rewards = np.full(len(pair), -1.0)
    plan = outcomes_of(outcomes.n_states, source, pair, outcomes.target[kept], outcomes.times[kept], rewards)
    return solve(plan, goal, closed).p


@compiled
def positive_loop(outcomes: Outcomes, status: Marks, g: int) -> int:
    """Return a pair with positive reward that only ever stays at a state that arrives, or NONE; equations omit it."""
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
    """Find the best policy if giving up is allowed."""
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
    guesses = np.maximum(guess[order], -cost) if negative else None
    error, evaluations, x, policy = _best(equations, policy, x, guesses)
    v, p, pair = np.full(S, -cost), np.zeros(S), np.full(S, NONE)
    v[order] = x
    pair[order[1:]] = equations.pair[policy[1:]]
    chain = chain_of(equations, policy)
    arriving = np.zeros(len(equations.r))
    np.add.at(arriving, policy[1:][chain.row[chain.target == 0]], chain.w[chain.target == 0])
    chance = np.zeros(len(order))
    arrival = equations._replace(r=arriving)
    arrival_error = certify(arrival, policy, chance)
    chance[0] = 1.0
    p[order] = chance
    return Solution(p, v, pair, status, float(np.maximum(error, arrival_error)), evaluations)


def _first_guess(
    outcomes: Outcomes, goal: int, status: Marks, p: Floats, least: float
) -> tuple[Indices, Indices, Floats, Ints, float]:
    """Return the states that arrive, best guess first; their ranks, the guess, its pairs; a pair's largest reward."""
    S, K = outcomes.n_states, len(outcomes.source)
    mass, reward = np.empty(K), np.empty(K)
    largest = weigh_pairs(outcomes, status, p, least, mass, reward)
    guess, choice, order = np.zeros(S), np.full(S, NONE), np.empty(S, np.int32)
    tries = bool(largest > 0.0)
    found = search_reward(outcomes, p, goal, mass, reward, tries, empty(Heap, {"S": S}), guess, choice, order)
    rank = np.full(S, NONE, np.int32)
    rank[order[:found]] = np.arange(found)
    return order[:found], rank, guess, choice, largest


def _best(equations: Equations, policy: Ints, x: Floats, guess: Floats | None) -> tuple[float, int, Floats, Ints]:
    """(error, evaluations, x, policy): by sweeps from the guess, if there is one and they converge, else exactly.

    An exact evaluation counts as the sweeps before a factorisation.
    """
    if guess is not None:
        swept, greedy = guess.copy(), policy.copy()
        error, evaluations = sweep(equations, greedy, swept)
        if error <= ACCURACY:
            return error, evaluations, swept, greedy
    return iterate(equations, policy, x), SWEEPS * PATIENCE * (len(x) - 1), x, policy


def _solve_arrival(outcomes: Outcomes, status: Marks, sure: Marks, maybe: Marks, p: Floats) -> float:
    """Fill p at the states that may or may not arrive."""
    S, K = outcomes.n_states, len(outcomes.source)
    guess, choice, order = np.zeros(S), np.full(S, NONE), np.zeros(S + 1, np.int32)
    found = search_arrival(outcomes, status, sure, maybe, np.zeros(K), empty(Heap, {"S": S}), guess, choice, order)
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
    p[order[1:]] = np.minimum(x[1:], BELOW_ONE)
    return error


def _solve_reward(
    outcomes: Outcomes, goal: int, status: Marks, p: Floats, pair: Ints
) -> tuple[Floats, float, int, float]:
    """Return v (S,), the bound on its error, the number of evaluations, and the tie; fill `pair`.

    Pairs that tie for the best arrival may each lose a little of it, and a policy that takes them over and over may
    lose much: then the tie is tightened.
    """
    tie = RELATIVE
    while True:
        order, rank, guess, choice, largest = _first_guess(outcomes, goal, status, p, 1.0 - tie)
        equations, used = no_equations(len(order), len(outcomes.source), len(outcomes.target))
        fill_reward(outcomes, status, p, 1.0 - tie, order, rank, equations, used)
        equations = trimmed(equations, used)
        x = guess[order]
        policy = _chosen(equations, choice[order])
        negative = largest <= 0.0 and least_cost(equations) > 0.0
        error, evaluations, x, policy = _best(equations, policy, x, x if negative else None)
        if tie <= PROBABILITY_ROUNDING or _arrives_best(outcomes, status, p, equations, policy):
            break
        tie = max(tie / TIGHTER, PROBABILITY_ROUNDING)
    v = np.full(outcomes.n_states, -np.inf)
    v[order] = x
    pair[order[1:]] = equations.pair[policy[1:]]
    return v, error, evaluations, tie


def _arrives_best(outcomes: Outcomes, status: Marks, p: Floats, equations: Equations, policy: Ints) -> bool:
    """Whether a policy of pairs that tie for the best arrival attains it, up to a tie."""
    losses = np.zeros(len(equations.r))
    if arrival_losses(outcomes, status, p, equations, policy, losses) == 0.0:
        return True
    lost, lossy = np.zeros(len(policy)), equations._replace(r=losses)
    certify(lossy, policy, lost)
    return float(lost.max()) <= RELATIVE


def _chosen(equations: Equations, pairs: Ints) -> Ints:
    """(N,) the positions in the equations of the pairs (N,) of the model; the first state has none."""
    places = np.full(int(equations.pair.max(initial=0)) + 1, NONE)
    places[equations.pair] = np.arange(len(equations.pair))
    policy = np.zeros(len(pairs), np.int64)
    policy[1:] = places[pairs[1:]]
    return policy
