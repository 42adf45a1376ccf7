"""Comparison of values up to rounding.

The last bit of a sum of rewards depends on the order of addition, so the values of equal paths may differ. Two values
tie within 1e-9 x max(1e-3, |value|); a value improves on another only by more than that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.jit import compiled, inner

RELATIVE = 1e-9
SMALLEST_SCALE = 1e-3
LEAST_GAIN = 1e-9  # a cycle with a larger reward is a positive cycle


@compiled
def improves(new: float, old: float) -> bool:
    """Whether `new` is better than `old` by more than a tie. -inf improves on nothing."""
    return new - old > RELATIVE * max(SMALLEST_SCALE, abs(new))


@inner
def largest(values: NDArray[np.float64]) -> float:
    """The largest of the values."""
    best = values[0]
    for a in range(1, len(values)):
        best = max(best, values[a])
    return float(best)


@compiled
def least_tie(best: float) -> float:
    """Return the smallest value that still ties with `best`."""
    return best - RELATIVE * max(SMALLEST_SCALE, abs(best))


@compiled
def pick_best(values: NDArray[np.float64], u: float) -> int:
    """Return the arg max; the uniform number `u` picks among ties. If all are -inf, all tie.

    No branch depends on `u`, so none is mispredicted.
    """
    least = least_tie(largest(values))
    ties = 0
    for a in range(len(values)):
        ties += values[a] >= least
    chosen = int(u * ties)
    best = 0
    seen = 0
    for a in range(len(values)):
        tied = values[a] >= least
        best = a if tied and seen == chosen else best
        seen += tied
    return best
