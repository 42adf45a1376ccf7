"""Sums over the outcomes of one pair: how much of it arrives, and how much leaves its state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.model.outcomes import Outcomes
from fwrl.kernels.model.reachability import UNKNOWN
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Marks = NDArray[np.int8]


@compiled
def arriving_mass(
    outcomes: Outcomes, status: Marks, p: Floats, least: float, k: int
) -> tuple[float, float, float, float]:
    """Weigh the outcomes of the pair k by p.

    Returns:
        Their mass; the mass of those that lead elsewhere, 0 where the pair is of no use: it never leaves its state, or
        arrives with less than `least` times the best probability; their sum of rewards; and, relative, how much
        of the best probability is lost by the pair, repeated until it leads elsewhere.

    Where arriving is certain, a pair that may fail loses however small its chance of failing is; a `least` of 0 allows
    that.
    """
    s = outcomes.source[k]
    n, arriving, elsewhere, reward, certain = 0.0, 0.0, 0.0, 0.0, True
    for e in range(outcomes.first[k], outcomes.first[k + 1]):
        y = outcomes.target[e]
        if status[y] != UNKNOWN:
            mass = outcomes.times[e] * p[y]
            certain = certain and p[y] == 1.0
            arriving += mass
            reward += mass * outcomes.reward[e] if mass > 0.0 else 0.0
            if y != s:
                n += outcomes.times[e]
                elsewhere += mass
    if elsewhere == 0.0 or elsewhere < least * p[s] * n or (p[s] == 1.0 and not certain and least > 0.0):
        return arriving, 0.0, reward, 1.0
    return arriving, elsewhere, reward, max(1.0 - elsewhere / (p[s] * n), 0.0)


@compiled
def leaving_mass(outcomes: Outcomes, status: Marks, sure: Marks, k: int) -> tuple[float, float]:
    """How often the pair k led elsewhere, and how often of these to states that arrive surely."""
    elsewhere, arriving = 0.0, 0.0
    for e in range(outcomes.first[k], outcomes.first[k + 1]):
        y = outcomes.target[e]
        if y != outcomes.source[k] and status[y] != UNKNOWN:
            elsewhere += outcomes.times[e]
            arriving += outcomes.times[e] if sure[y] == 1 else 0.0
    return elsewhere, arriving
