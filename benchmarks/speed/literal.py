"""Algorithm 1 written literally in NumPy, the baseline for the compiled agents."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class LiteralFwrl:
    """F as one array, relaxed through s_t after every step."""

    def __init__(self, n_states: int, n_actions: int) -> None:
        self.F: NDArray[np.float64] = np.full((n_states, n_actions, n_states), -np.inf)

    def observe(self, s: int, a: int, r: float, next_s: int) -> None:
        """F(s, a, s') <- r, then F(k, b, l) <- max{F(k, b, l), F(k, b, s) + max_c F(s, c, l)}."""
        self.F[s, a, next_s] = r
        np.maximum(self.F, self.F[:, :, s, None] + self.F[s].max(axis=0), out=self.F)
