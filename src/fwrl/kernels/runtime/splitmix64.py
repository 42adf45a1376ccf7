"""Chance that belongs to an agent's tables: for verbs that are given no generator.

`observe` gets no generator, for learning draws nothing; replay is the exception. Its draws come from a state of
one integer that lies with the tables and is saved with them: SplitMix64 (Steele, Lea and Flood, 2014),

    x <- x + 0x9E3779B97F4A7C15,    u = mix(x) / 2^64

in arithmetic modulo 2^64.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import compiled

Ints = NDArray[np.int64]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


def new_splitmix64(rng: np.random.Generator) -> Ints:
    """(1,) a state drawn from `rng`."""
    return rng.integers(-(2**63), 2**63 - 1, 1, dtype=np.int64)


@compiled
def next_uniform(splitmix64: Ints) -> float:
    """A uniform number in [0, 1), of 53 bits; moves the dice on."""
    x = np.uint64(splitmix64[0]) + GAMMA
    splitmix64[0] = np.int64(x)
    x = (x ^ (x >> S30)) * FIRST
    x = (x ^ (x >> S27)) * SECOND
    x = x ^ (x >> S31)
    return float((x >> S11) * 2.0**-53)
