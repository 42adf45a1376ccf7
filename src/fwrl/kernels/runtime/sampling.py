"""Sampling from single uniform numbers, so that compiled and interpreted code draw the same stream."""

from __future__ import annotations

import numpy as np

from fwrl.kernels.runtime.compiled import compiled


@compiled
def one_of(n: int, rng: np.random.Generator) -> int:
    """An integer from 0 to n - 1, uniform to within n / 2^53. (Generator.integers would allocate memory.)"""
    return int(rng.random() * n)


@compiled
def fresh_digits(u: float) -> float:
    """The last 33 of the 53 bits of a uniform number, as another uniform number.

    The outcome of a comparison with `u` depends on the result by less than one part in a million.
    """
    shifted = u * 1048576.0
    return shifted - int(shifted)
