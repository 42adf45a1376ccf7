"""The value of a policy, to known accuracy.

For a policy the equations are linear, x = r + W x, and if the policy arrives, W^n vanishes. Let h be any vector with

    h - W h >= 1/2 everywhere.

Then (I - W)^-1 1 <= 2 h, and a vector x whose residual |r + W x - x| is at most d everywhere differs from the solution
by at most 2 d h. We take residuals relative to |x|, which doesn't grow along a path on average, so the relative error
is at most 2 max(h) times the largest relative residual. h is, up to a constant, the expected number of steps. If
rewards have both signs, |x| may be small by cancellation, and errors are relative to the value of |r|.

Sweeps in order (Gauss-Seidel) find x and h together, unless the policy mixes slowly. Then we need one sparse
factorisation (SuperLU: Li 2005), refined with residuals in extended precision, for long diffusive chains and loops that
are rarely left. Its bound grows with the number of steps, and beyond about a billion steps it certifies nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Ints
from fwrl.errors import UncertifiedError
from fwrl.kernels.jit import compiled
from fwrl.kernels.mdp.equations import EPSILON, SMALLEST, Equations, gain_of

Exact = NDArray[np.longdouble]

ACCURACY = 1e-10  # relative, of an evaluation
CERTIFIED = 1e-9  # relative: an answer needs a smaller bound
SWEEPS = 24  # between two certificates
PATIENCE = 8  # certificates before factorising
REFINEMENTS = 40
UNCERTIFIED = (
    f"values can't be certified to {CERTIFIED:g}, because some loop is hardly ever left; let agents give up at a cost "
    "(give_up), or avoid the states of the loop"
)


def evaluate(equations: Equations, policy: Ints, x: Floats, h: Floats, accuracy: float = ACCURACY) -> float:
    """Set x (N,) to the value of `policy` (N,), and h (N,) to a certificate; return the bound on the relative error.

    Both may contain a guess. The policy must arrive from everywhere. The bound is at most `accuracy`, unless it takes a
    factorisation, after which only rounding is left.
    """
    for _ in range(PATIENCE):
        follow_both(equations, policy, x, h, SWEEPS)
        bound = certified(equations, policy, x, h)
        if bound <= accuracy:
            return bound
    return factorised(equations, policy, x, h)[0]


def certify(equations: Equations, policy: Ints, x: Floats) -> float:
    """Run `evaluate` without a guess of h; raise `UncertifiedError` if the bound is too large."""
    h = np.zeros(len(x))
    error = evaluate(equations, policy, x, h)
    if not error <= CERTIFIED:
        raise UncertifiedError(UNCERTIFIED)
    return error


def certified(equations: Equations, policy: Ints, x: Floats, h: Floats) -> float:
    """Return the bound on the relative error of x; inf if h isn't a certificate yet."""
    residual, decrease = check(equations, policy, x, h)
    return 2.0 * residual * float(h.max()) if decrease >= 0.5 else np.inf


class Chain(NamedTuple):
    """The outcomes of a policy's pairs, state by state from 1 on."""

    row: Ints  # (E,) the state, minus 1
    target: Ints  # (E,)
    w: Floats  # (E,)
    r: Floats  # (N - 1,)
    leak: Floats  # (N - 1,)


def chain_of(equations: Equations, policy: Ints) -> Chain:
    """Return the Markov chain of a policy."""
    k = policy[1:]
    begin, count = equations.first[k], equations.first[k + 1] - equations.first[k]
    row = np.repeat(np.arange(len(k)), count)
    e = np.repeat(begin - np.concatenate([[0], np.cumsum(count)[:-1]]), count) + np.arange(count.sum())
    return Chain(row, equations.target[e].astype(np.int64), equations.w[e], equations.r[k], equations.leak[k])


def factorised(equations: Equations, policy: Ints, x: Floats, h: Floats) -> tuple[float, Exact]:
    """Evaluate by one factorisation, with x also in extended precision; the bound is inf if rounding closes a loop."""
    from scipy.sparse import csc_array

    chain = chain_of(equations, policy)
    N = len(chain.r)
    inside = chain.target > 0
    diagonal = chain.leak + np.bincount(chain.row, chain.w, N)
    rows = np.concatenate([np.arange(N), chain.row[inside]])
    columns = np.concatenate([np.arange(N), chain.target[inside] - 1])
    solve = _solver(csc_array((np.concatenate([diagonal, -chain.w[inside]]), (rows, columns)), shape=(N, N)))
    if solve is None:
        return np.inf, x.astype(np.longdouble)
    exact_x, exact_h = refined(solve, chain, chain.r), refined(solve, chain, np.ones(N))
    x[:], h[:] = exact_x, exact_h
    scale = np.maximum(np.abs(exact_x[1:]), SMALLEST)
    if chain.r.min(initial=0.0) < 0.0 < chain.r.max(initial=0.0):
        scale = np.maximum(scale, refined(solve, chain, np.abs(chain.r))[1:])
    (left, noise), (steps, steps_noise) = residual_of(chain, chain.r, exact_x), residual_of(chain, np.zeros(N), exact_h)
    residual = float(((np.abs(left) + noise) / scale).max(initial=0.0))
    decrease = float(-(steps + steps_noise).max(initial=-1.0))
    return 2.0 * residual * float(h.max()) if decrease >= 0.5 else np.inf, exact_x


def _solver(matrix: Any) -> Callable[[Floats], Floats] | None:
    """Return a solver for a sparse matrix; None if it's singular."""
    from scipy.sparse.linalg import splu

    try:
        solve: Callable[[Floats], Floats] = splu(matrix).solve
    except RuntimeError:  # SciPy has no special error for a singular matrix
        return None
    return solve


def refined(solve: Callable[[Floats], Floats], chain: Chain, r: Floats) -> Exact:
    """Refine the solution in extended precision until residuals no longer fall."""
    x = np.zeros(len(r) + 1, np.longdouble)
    x[1:] = solve(r)
    last = np.inf
    for _ in range(REFINEMENTS):
        residual, _ = residual_of(chain, r, x)
        size = float(np.abs(residual / np.where(x[1:] == 0, 1, x[1:])).max(initial=0.0))
        if not size < last / 2:
            break
        last = size
        x[1:] += solve(residual.astype(np.float64))
    return x


def residual_of(chain: Chain, r: Floats, x: Exact) -> tuple[Exact, Exact]:
    """(N - 1,) r + W x - x in extended precision, by differences of x, and a bound on its rounding error."""
    here = x[1:]
    flow = chain.w * (x[chain.target] - here[chain.row])
    sums, sizes = np.zeros(len(r), np.longdouble), np.zeros(len(r), np.longdouble)
    np.add.at(sums, chain.row, flow)
    np.add.at(sizes, chain.row, np.abs(flow))
    residual: Exact = r - chain.leak * here + sums
    noise: Exact = (np.abs(r) + chain.leak * np.abs(here) + sizes) * np.finfo(np.longdouble).eps
    return residual, noise * (np.bincount(chain.row, minlength=len(r)) + 4)


@compiled
def follow_both(equations: Equations, policy: Ints, x: Floats, h: Floats, sweeps: int) -> None:
    """Back x and h up by the policy's pairs, in order, `sweeps` times."""
    for _ in range(sweeps):
        for i in range(1, len(policy)):
            k = policy[i]
            value, steps = equations.r[k], 1.0
            for e in range(equations.first[k], equations.first[k + 1]):
                y = equations.target[e]
                value += equations.w[e] * x[y]
                steps += equations.w[e] * h[y]
            x[i] = value
            h[i] = steps


@compiled
def check(equations: Equations, policy: Ints, x: Floats, h: Floats) -> tuple[float, float]:
    """Return the largest |r + W x - x| relative to |x|, and the smallest h - W h, up to rounding."""
    residual, decrease = 0.0, 1.0
    for i in range(1, len(policy)):
        gain, noise = gain_of(equations, x, i, policy[i])
        if gain != 0.0 or noise > 0.0:
            residual = max(residual, (abs(gain) + noise) / max(abs(x[i]), SMALLEST))
        left, noise = steps_left(equations, h, i, policy[i])
        decrease = min(decrease, left - noise)
    return residual, decrease


@compiled
def steps_left(equations: Equations, h: Floats, i: int, k: int) -> tuple[float, float]:
    """Return h - W h at the state i with the pair k, and a bound on its rounding error."""
    left = equations.leak[k] * h[i]
    size = left
    for e in range(equations.first[k], equations.first[k + 1]):
        term = equations.w[e] * (h[i] - h[equations.target[e]])
        left += term
        size += abs(term)
    return float(left), float(size * (equations.first[k + 1] - equations.first[k] + 4) * EPSILON)
