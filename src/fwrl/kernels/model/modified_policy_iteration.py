"""Modified policy iteration for negative rewards (Puterman and Shin 1978), in the order of a first guess.

Where every step that may not be the last has a negative reward, and no step a positive one, the optimality equations
have one solution and sweeps find it from any guess (Bertsekas and Tsitsiklis 1991). One sweep improves the policy, the
next ones only follow it, which costs less. Sweeps are in the order of the guess, so that most outcomes lead to states
that were swept just before.

Many states are swept in a window that moves away from the goal as the values behind it stand still: no state is swept
while what it depends on still changes, and a window fits into the processor's cache. Beyond the window the guess is
made pessimistic, because a value that is too good there would attract the policy.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.model.equations import SMALLEST, Equations, follow, gain_of, improve, least_cost
from fwrl.kernels.model.evaluation import ACCURACY
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STANDSTILL = 1e-15  # relative change that rounding alone may cause
WINDOWED = 30_000  # states from which on windows are faster
SHELLS = 48  # width of a window in square roots of the number of states
EVALUATIONS = 6  # sweeps that follow the policy, to one that improves it
PESSIMISM = 1.2  # factor on the guess beyond the window
ROUNDS = 150  # in which a value may settle, before exact evaluations take over
LOOK_BACK = 10  # rounds
UNSETTLED = -1


def sweep(equations: Equations, policy: Ints, x: Floats) -> tuple[float, int]:
    """Solve from the guess x (N,) and fill `policy` (N,).

    Returns:
        The bound on the relative error of x: inf, and x unsettled, where sweeps would take long. And the number of
        states evaluated, each as often as it was.
    """
    N, evaluated = len(x), 0
    if N == 1:
        return 0.0, 0
    # A policy that starts at s makes at most |v(s)| / least_cost steps and a last one, the optimal policy included.
    cost = least_cost(equations)
    steps = 1.0 + float(np.abs(x).max()) / cost
    tolerance = max(ACCURACY / (8.0 * steps), STANDSTILL)
    if N > WINDOWED:
        guess = x.copy()
        x *= PESSIMISM
        window = int(SHELLS * np.sqrt(N))
        evaluated = sweep_windows(equations, policy, x, guess, window, EVALUATIONS, tolerance, ROUNDS)
        if evaluated == UNSETTLED:
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
    """How many more rounds it takes to a standstill, going by the last ones."""
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
    """Settle the states in order, a window at a time; UNSETTLED where a window takes more rounds than `patience`.

    A state enters the window with its guess scaled as the last settled one was off. Returns how many were evaluated.
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
            return UNSETTLED
    return evaluated


@compiled
def bellman_residual(equations: Equations, x: Floats) -> float:
    """The largest |T x - x| relative to |x|, up to rounding."""
    residual = 0.0
    for i in range(1, len(x)):
        best, noise = -np.inf, 0.0
        for k in range(equations.first_pair[i], equations.first_pair[i + 1]):
            gain, rounding = gain_of(equations, x, i, k)
            best, noise = max(best, gain), max(noise, rounding)
        if best != 0.0 or noise > 0.0:
            residual = max(residual, (abs(best) + noise) / max(abs(x[i]), SMALLEST))
    return residual
