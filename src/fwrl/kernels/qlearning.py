"""Q-learning without discount: the paper's equation for its baselines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.jit import compiled
from fwrl.kernels.ties import largest


@compiled
def q_update(Q: NDArray[np.float64], s: int, a: int, r: float, next_s: int, arrived: bool, alpha: float) -> None:
    """Q(s, a) <- Q(s, a) + alpha (r + max_b Q(s', b) - Q(s, a)); on arriving, Q(s, a) <- r."""
    if arrived:
        Q[s, a] = r
    else:
        Q[s, a] += alpha * (r + largest(Q[next_s]) - Q[s, a])
