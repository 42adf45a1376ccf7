"""Policy iteration in two forms: exact for rewards of any sign (`iterate`), by sweeps for negative ones (`sweep`).

`iterate` evaluates each policy exactly (Howard 1960), starting from a policy that arrives. A switch must improve
strictly. So every policy arrives, and each is better than the one before, unless there's a positive cycle.

Switch only if the gain exceeds the evaluation error, or equal pairs would be exchanged for ever. That misses at most
this gain at each step. So at the end we repeat the evaluation to an accuracy that makes the miss negligible even summed
over all steps of the policy. If floating point can't do that, we raise an error instead of returning an answer.

`sweep` is modified policy iteration (Puterman and Shin 1978). If every step that may not be the last has a negative
reward, and no step a positive one, the optimality equations have one solution and sweeps find it from any guess
(Bertsekas and Tsitsiklis 1991). One sweep improves the policy, the next ones only follow it, which costs less. Sweeps
go in the order of the guess, so that most outcomes go to states that were swept just before.

With many states we sweep a window that moves away from the goal as the values behind it converge: no state is swept
while values it depends on still change, and a window fits into the processor's cache. Beyond the window we make the
guess pessimistic, because a value that's too good there would attract the policy.

A positive cycle is a closed set of states with positive mean reward; with one, no policy that arrives is the best. A
policy that's strictly better than one that arrives, but doesn't arrive itself, has a closed set of states in which the
improvements average to the mean reward. So if no mean reward is positive, it arrives. A mean reward that's only
rounding counts as 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Ints
from fwrl.errors import PositiveCycleError, UncertifiedError
from fwrl.kernels.jit import compiled
from fwrl.kernels.mdp.equations import (
    EPSILON,
    NONE,
    SMALLEST,
    Equations,
    follow,
    gain_of,
    improve,
    least_cost,
)
from fwrl.kernels.mdp.evaluation import ACCURACY, CERTIFIED, UNCERTIFIED, chain_of, evaluate, factorised
from fwrl.kernels.ties import LEAST_GAIN

RESTART = 1e-12  # keeps the equations of shares of time regular; the iteration removes its effect
CONVERGED = 1e-14  # change of a share of time, relative to the largest
ITERATIONS = 100  # enough unless states hardly ever reach each other


class PositiveMeanError(PositiveCycleError):
    """The observed steps stay in a set of states with positive mean reward; names the pairs of the model."""

    def __init__(self, pairs: NDArray[np.integer]) -> None:
        super().__init__("the observed steps have a positive cycle; check the sign of the rewards")
        self.pairs = pairs


def refuse_positive_mean(equations: Equations, policy: Ints) -> Ints:
    """Return the states from which an improved policy doesn't arrive, if that's only due to rounding.

    Raises:
        PositiveMeanError: they have a positive cycle.
    """
    stuck = never_arriving(equations, policy)
    cycle = positive_cycle(equations, policy, stuck) if len(stuck) else stuck
    if len(cycle):
        raise PositiveMeanError(equations.pair[policy[cycle]])
    return stuck


def never_arriving(equations: Equations, policy: Ints) -> Ints:
    """Return the states from which a policy has no path out of the equations."""
    from scipy.sparse.csgraph import breadth_first_order

    graph = _graph(equations, policy)
    arrives = np.zeros(len(policy), np.bool_)
    arrives[breadth_first_order(graph.T.tocsr(), 0, return_predecessors=False)] = True
    return np.flatnonzero(~arrives)


def _graph(equations: Equations, policy: Ints) -> Any:
    """Return the graph of a policy; leaks go to 0."""
    from scipy.sparse import csr_array

    chain, N = chain_of(equations, policy), len(policy)
    out = np.flatnonzero(chain.leak > 0) + 1
    rows, columns = np.concatenate([chain.row + 1, out]), np.concatenate([chain.target, np.zeros(len(out), np.int64)])
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=(N, N))


def positive_cycle(equations: Equations, policy: Ints, stuck: Ints) -> Ints:
    """Return a closed set among the states `stuck` with positive mean reward; empty if only rounding closed one."""
    from scipy.sparse import csr_array
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
        place = np.full(len(policy), NONE)
        place[members] = np.arange(len(members))
        within = place[chain.row + 1] != NONE
        ends = place[chain.row[within] + 1], place[chain.target[within]]
        P = csr_array((chain.w[within], ends), shape=(len(members), len(members)))
        if stationary(P) @ chain.r[members - 1] > LEAST_GAIN:
            found: Ints = members
            return found
    return stuck[:0]


def stationary(P: Any) -> Floats:
    """(N,) the share of time at each of N states that all reach each other by the sparse probabilities P (N, N).

    By inverse iteration: each solution is the share of time of a random walk that restarts, from the previous solution,
    with probability about `RESTART`. So no number overflows, even if the shares are very unequal.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.linalg import splu

    flow = P - diags_array(P.diagonal())
    N = P.shape[0]
    solve = splu((diags_array(np.asarray(flow.sum(axis=1)) + RESTART) - flow.T).tocsc()).solve
    share: Floats = np.full(N, 1.0 / N)
    for _ in range(ITERATIONS):
        before, share = share, solve(share)
        share /= share.sum()
        if np.abs(share - before).max() <= CONVERGED * share.max():
            break
    return share


ROUNDING = 64 * EPSILON  # relative: a switch must gain more
MOST_SWITCHES = 1000
COARSE = 1e-3  # relative error up to which switches can be distinguished from noise


def iterate(equations: Equations, policy: Ints, x: Floats) -> float:
    """Run policy iteration with exact evaluations from a policy that arrives; return the bound on x's relative error.

    Raises:
        PositiveMeanError: there's a positive cycle.
        UncertifiedError: a loop is hardly ever left.
    """
    h = np.zeros(len(x))
    least = ROUNDING
    for _ in range(MOST_SWITCHES):
        error = evaluate(equations, policy, x, h)
        if not error <= COARSE:
            break
        before = policy.copy()
        # After a factorisation the bound is larger than the rounding error.
        gain = max(least, 4.0 * error) if error <= ACCURACY else least
        scale = scale_of(equations, policy, x)
        switched, doubtful = switch(equations, x, scale, policy, gain)
        if switched == 0:
            missed = 2.0 * (gain if gain > ROUNDING else doubtful) * float(h.max())
            if max(error, missed) <= CERTIFIED:
                return max(error, missed)
            switched, error = switch_exactly(equations, x, h, scale, policy)
            if error <= CERTIFIED:
                return error
            if switched == 0:
                break
        stuck = refuse_positive_mean(equations, policy)
        if len(stuck):
            policy[stuck] = before[stuck]
            least *= 16.0
            if least > COARSE:
                break
    raise UncertifiedError(UNCERTIFIED)


def scale_of(equations: Equations, policy: Ints, x: Floats) -> Floats:
    """(N,) the scale of gains: |x|, or the largest value of |r| of the policy if rewards may cancel."""
    scale = np.maximum(np.abs(x), SMALLEST)
    if equations.r.min(initial=0.0) < 0.0 < equations.r.max(initial=0.0):
        size = scale.copy()
        evaluate(equations._replace(r=np.abs(equations.r)), policy, size, np.zeros(len(x)), COARSE)
        scale[:] = max(scale.max(), size.max())
    return scale


def switch_exactly(equations: Equations, x: Floats, h: Floats, scale: Floats, policy: Ints) -> tuple[int, float]:
    """Run `switch` in extended precision, after an evaluation of the policy.

    Return how many states switched; if none did, the bound on the relative error of x, else inf.
    """
    error, exact = factorised(equations, policy, x, h)
    state = np.repeat(np.arange(len(x)), np.diff(equations.first_pair))
    pair = np.repeat(np.arange(len(state)), np.diff(equations.first))
    here = exact[state]
    flow = equations.w * (exact[equations.target] - here[pair])
    gain, size = equations.r - equations.leak * here, np.abs(equations.r) + equations.leak * np.abs(here)
    np.add.at(gain, pair, flow)
    np.add.at(size, pair, np.abs(flow))
    noise = size * np.finfo(np.longdouble).eps * (np.bincount(pair, minlength=len(state)) + 4)
    gain[policy[1:]] = -np.inf
    better = np.flatnonzero(gain > noise)
    if len(better):
        policy[state[better[np.argsort(gain[better])]]] = better[np.argsort(gain[better])]  # the largest gain is last
        return len(np.unique(state[better])), np.inf
    possible = np.where(gain > -noise, np.maximum(gain, 0.0) + noise, 0.0) / scale[state]
    return 0, max(error, 2.0 * float(possible.max(initial=0.0)) * float(h.max()))


@compiled
def switch(equations: Equations, x: Floats, scale: Floats, policy: Ints, least: float) -> tuple[int, float]:
    """Take the best pair if it gains more than `least` times the scale (N,), and more than rounding might.

    Return how many states switched, and the most that an untaken pair may gain, relative to the scale, as far as
    rounding lets us tell: 0 if all are worse.
    """
    switched, doubtful = 0, 0.0
    for i in range(1, len(x)):
        best, chosen = least * scale[i], policy[i]
        for k in range(equations.first_pair[i], equations.first_pair[i + 1]):
            if k == policy[i]:
                continue
            gain, noise = gain_of(equations, x, i, k)
            if gain > -noise:
                doubtful = max(doubtful, (max(gain, 0.0) + noise) / scale[i])
            if gain > best and gain > noise:
                best = gain
                chosen = k
        if chosen != policy[i]:
            policy[i] = chosen
            switched += 1
    return switched, doubtful


STANDSTILL = 1e-15  # relative change that rounding alone may cause
WINDOWED = 30_000  # number of states above which windows are faster
SHELLS = 48  # width of a window in square roots of the number of states
EVALUATIONS = 6  # sweeps that follow the policy, for each that improves it
PESSIMISM = 1.2  # factor on the guess beyond the window
ROUNDS = 150  # in which values must converge, before exact evaluations take over
LOOK_BACK = 10  # rounds
TOO_SLOW = -1  # result of `sweep_windows`


def sweep(equations: Equations, policy: Ints, x: Floats) -> tuple[float, int]:
    """Solve from the guess x (N,) and fill `policy` (N,).

    Returns:
        The bound on the relative error of x, or inf, with x not converged, if sweeps would take long. And the number of
        evaluations of states.
    """
    N, evaluated = len(x), 0
    if N == 1:
        return 0.0, 0
    # A policy that starts at s makes at most |v(s)| / least_cost steps and a last one, and so does the optimal policy.
    cost = least_cost(equations)
    steps = 1.0 + float(np.abs(x).max()) / cost
    tolerance = max(ACCURACY / (8.0 * steps), STANDSTILL)
    if N > WINDOWED:
        guess = x.copy()
        x *= PESSIMISM
        window = int(SHELLS * np.sqrt(N))
        evaluated = sweep_windows(equations, policy, x, guess, window, EVALUATIONS, tolerance, ROUNDS)
        if evaluated == TOO_SLOW:
            return np.inf, evaluated
    changes: list[float] = []
    while not changes or changes[-1] > tolerance:
        changes.append(improve(equations, x, policy, 1, N, tolerance)[1])
        if _rounds_left(changes, tolerance) > ROUNDS:
            return np.inf, evaluated
        for _ in range(EVALUATIONS):
            follow(equations, x, policy, 1, N)
        evaluated += (1 + EVALUATIONS) * (N - 1)
    return 2.0 * bellman_residual(equations, x) * (1.0 + float(np.abs(x).max()) / cost), evaluated


def _rounds_left(changes: list[float], tolerance: float) -> float:
    """Extrapolate from the last rounds how many more it takes to converge."""
    if len(changes) < 2 * LOOK_BACK or changes[-1] == 0.0:
        return 0.0
    rate = math.log(changes[-LOOK_BACK] / changes[-1]) / LOOK_BACK
    return math.log(changes[-1] / tolerance) / rate if rate > 0.0 else math.inf


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
) -> int:
    """Converge the states in order, a window at a time; TOO_SLOW if a window takes more rounds than `patience`.

    A state enters the window with its guess scaled by the error of the last converged one. Return how many were
    evaluated.
    """
    N, evaluated = len(x), 0
    lo, entered = 1, 1
    begin, rounds = lo, 0
    while lo < N:
        hi = min(N, lo + window)
        scale = x[lo - 1] / guess[lo - 1] if guess[lo - 1] < 0.0 else 1.0
        for i in range(entered, hi):
            x[i] = guess[i] * scale
        entered = max(entered, hi)
        lo, _ = improve(equations, x, policy, lo, hi, tolerance)
        for _ in range(evaluations):
            follow(equations, x, policy, lo, hi)
        evaluated += (1 + evaluations) * (hi - lo)
        rounds += 1
        if lo >= begin + window:
            begin, rounds = lo, 0
        elif rounds > patience:
            return TOO_SLOW
    return evaluated


@compiled
def bellman_residual(equations: Equations, x: Floats) -> float:
    """Return the largest |T x - x| relative to |x|, up to rounding."""
    residual = 0.0
    for i in range(1, len(x)):
        best, noise = -np.inf, 0.0
        for k in range(equations.first_pair[i], equations.first_pair[i + 1]):
            gain, rounding = gain_of(equations, x, i, k)
            best, noise = max(best, gain), max(noise, rounding)
        if best != 0.0 or noise > 0.0:
            residual = max(residual, (abs(best) + noise) / max(abs(x[i]), SMALLEST))
    return residual
