"""Random numbers: drawn from a Generator or from the kernels' own generator, and gamma variates.

`splitmix64` is a generator whose state is one integer in the agent's tables, for agents that replay. Gamma and hence
Dirichlet variates are computed from uniform numbers, the same compiled and interpreted: G. Marsaglia and W. W. Tsang
(2000), "A Simple Method for Generating Gamma Variables", ACM TOMS 26. With a normal x and v = (1 + x / sqrt(9 d))^3,
d = shape - 1/3, the number d v has nearly the gamma distribution; rejection makes it exact. The normal comes from
Marsaglia's polar method. Independent gamma variates, divided by their sum, have the Dirichlet distribution with their
shapes as parameters.
"""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np

from fwrl.arrays import Field, Ints
from fwrl.kernels.jit import compiled, inner


@compiled
def one_of(n: int, rng: np.random.Generator) -> int:
    """Draw an integer from 0 to n - 1, uniform to within n / 2^53. (Generator.integers would allocate memory.)"""
    return int(rng.random() * n)


@inner
def fresh_digits(u: float) -> float:
    """Return the last 33 of the 53 bits of a uniform number, as another uniform number.

    Knowing the outcome of a comparison with `u` changes the result's distribution by less than one part in a million.
    """
    shifted = u * 1048576.0
    return shifted - int(shifted)


SplitMix64 = Annotated[Ints, Field("1", np.int64)]  # the state of a generator

GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


def new_splitmix64(rng: np.random.Generator) -> Ints:
    """Draw a state (1,) from `rng`."""
    return rng.integers(-(2**63), 2**63 - 1, 1, dtype=np.int64)


@compiled
def next_uniform(splitmix64: Ints) -> float:
    """Draw a uniform number in [0, 1) of 53 bits; advances the state."""
    z = np.uint64(splitmix64[0]) + GAMMA
    splitmix64[0] = np.int64(z)
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    z = z ^ (z >> S31)
    return float((z >> S11) * 2.0**-53)


@compiled
def normal(rng: np.random.Generator) -> float:
    """Draw a standard normal variate."""
    square = 0.0
    x = 0.0
    while square >= 1.0 or square == 0.0:
        x = 2.0 * rng.random() - 1.0
        y = 2.0 * rng.random() - 1.0
        square = x * x + y * y
    return x * math.sqrt(-2.0 * math.log(square) / square)


@compiled
def gamma(shape: float, rng: np.random.Generator) -> float:
    """Draw a gamma variate with scale 1; `shape` is at least 1."""
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
