"""Policy iteration with exact evaluations (Howard 1960), for rewards of any sign, from a policy that arrives.

A switch must improve strictly. So every policy arrives, and each is better than the one before, unless there is a
positive cycle (see `positive_means`).

A switch is one only if it gains more than the evaluation may be off, or equal pairs would be exchanged for ever. What
is missed that way is at most that gain at each step. So at the end the evaluation is repeated to an accuracy at which
that is negligible, also after as many steps as the policy takes. Where floating point does not suffice for that,
`elimination` takes over.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.model.elimination import iterate_exactly
from fwrl.kernels.model.equations import EPSILON, Equations, backed_up
from fwrl.kernels.model.evaluation import ACCURACY, CERTIFIED, evaluate
from fwrl.kernels.model.positive_means import refuse_positive_mean
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDING = 64 * EPSILON  # relative: a switch that gains less is none
COARSE = 1e-3  # relative error up to which switches can be told from noise


def iterate(equations: Equations, policy: Ints, x: Floats) -> float:
    """Policy iteration with exact evaluations, from a policy that arrives; the bound on the relative error of x.

    Raises:
        PositiveMeanError: There is a positive cycle.
    """
    error = _iterate_in_floats(equations, policy, x)
    return error if error <= CERTIFIED else iterate_exactly(equations, policy, x)


def _iterate_in_floats(equations: Equations, policy: Ints, x: Floats) -> float:
    """The same, with a bound that may be too large where a loop is hardly ever left."""
    h = np.zeros(len(x))
    least, accuracy = ROUNDING, ACCURACY
    while True:
        error = evaluate(equations, policy, x, h, accuracy)
        if not error <= COARSE:
            return np.inf
        before = policy.copy()
        # After a factorisation the bound is larger than what rounding leaves.
        gain = max(least, 4.0 * error) if error <= accuracy else least
        switched, doubtful = switch(equations, x, policy, gain)
        if switched == 0:
            missed = 2.0 * (gain if gain > ROUNDING else doubtful) * float(h.max())
            if missed <= CERTIFIED or accuracy < ACCURACY:
                return max(error, missed)
            accuracy = ACCURACY / (8.0 * float(h.max()))
            continue
        stuck = refuse_positive_mean(equations, policy)
        if len(stuck):
            policy[stuck] = before[stuck]
            least *= 16.0


@compiled
def switch(equations: Equations, x: Floats, policy: Ints, least: float) -> tuple[int, float]:
    """Let the policy take the best pair where that gains more than `least` |x|.

    Returns how many states switched, and the most that a pair not taken may gain, relative to |x|, as far as rounding
    lets it be told: 0 where all are worse.
    """
    switched, doubtful = 0, 0.0
    for i in range(1, len(x)):
        best, chosen = x[i], policy[i]
        for k in range(equations.first_pair[i], equations.first_pair[i + 1]):
            value = backed_up(equations, x, k)
            if k != policy[i]:
                size = max(abs(value), abs(x[i]))
                noise = (equations.first[k + 1] - equations.first[k] + 4) * EPSILON * size
                if value - x[i] > -noise and noise > 0.0:
                    doubtful = max(doubtful, (max(value - x[i], 0.0) + noise) / size)
            if value > best:
                best = value
                chosen = k
        if chosen != policy[i] and best - x[i] > least * max(abs(best), abs(x[i])):
            policy[i] = chosen
            switched += 1
    return switched, doubtful
