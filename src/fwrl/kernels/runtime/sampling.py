"""Chance: one uniform number at a time, so that compiled and interpreted code draw the same stream."""

from __future__ import annotations

import numpy as np

from fwrl.kernels.runtime.compiled import compiled


@compiled
def one_of(n: int, rng: np.random.Generator) -> int:
    """An integer from 0 to n - 1; uniform to within n / 2^53. (Generator.integers would allocate.)"""
    return int(rng.random() * n)


@compiled
def fresh_digits(u: float) -> float:
    """The digits of a uniform number that a comparison with it has not used: uniform again.

    The first 20 of 53 bits are dropped, so the two depend on each other by less than one part in a million.
    """
    shifted = u * 1048576.0
    return shifted - int(shifted)
