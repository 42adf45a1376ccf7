"""SplitMix64 (Steele, Lea and Flood 2014): random numbers from a state of one integer.

    z <- z + 0x9E3779B97F4A7C15,    u = mix(z) / 2^64

in arithmetic modulo 2^64. The state is part of an agent's tables and is saved with them. It serves replay: `observe`
gets no Generator, because learning otherwise draws no random numbers.
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
    """A uniform number in [0, 1) of 53 bits; advances the state."""
    z = np.uint64(splitmix64[0]) + GAMMA
    splitmix64[0] = np.int64(z)
    z = (z ^ (z >> S30)) * FIRST
    z = (z ^ (z >> S27)) * SECOND
    z = z ^ (z >> S31)
    return float((z >> S11) * 2.0**-53)
