"""Gamma and so Dirichlet variates from uniform numbers, the same compiled and interpreted.

G. Marsaglia and W. W. Tsang (2000), "A Simple Method for Generating Gamma Variables", ACM TOMS 26: with a normal x and
v = (1 + x / sqrt(9 d))^3, d = shape - 1/3, the number d v has nearly the gamma distribution; rejection makes it exact.
The normal is Marsaglia's polar one. Independent gamma variates, divided by their sum, have the Dirichlet distribution
with their shapes as parameters.
"""

from __future__ import annotations

import math

import numpy as np

from fwrl.kernels.runtime.compiled import compiled


@compiled
def normal(rng: np.random.Generator) -> float:
    """A standard normal variate."""
    square = 0.0
    x = 0.0
    while square >= 1.0 or square == 0.0:
        x = 2.0 * rng.random() - 1.0
        y = 2.0 * rng.random() - 1.0
        square = x * x + y * y
    return x * math.sqrt(-2.0 * math.log(square) / square)


@compiled
def gamma(shape: float, rng: np.random.Generator) -> float:
    """A gamma variate with scale 1; `shape` is at least 1."""
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(rng)
        root = 1.0 + c * x
        u = 1.0 - rng.random()
        if root > 0.0:
            v = root * root * root
            if math.log(u) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v
