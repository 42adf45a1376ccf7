"""Algorithm 1 of the paper, to the letter.

After every ordinary step s_t, a_t -> s_{t+1} with reward r_t:

    F(s_t, a_t, s_{t+1}) <- r_t
    for all k, a, l:   F(k, a, l) <- max{ F(k, a, l), F(k, a, s_t) + max_b F(s_t, b, l) }
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwrl.kernels.jit import compiled


@compiled
def relax_through(F: NDArray[np.float64], k: int, onward: NDArray[np.float64]) -> bool:
    """Enforce the triangle inequality through the waypoint `k`; return whether any F rose.

    `onward` (S,) is scratch for max_b F(k, b, .). Without a positive cycle the result doesn't depend on the order of
    the loops, and a second call changes nothing.
    """
    S, A = F.shape[0], F.shape[1]
    for j in range(S):
        onward[j] = F[k, 0, j]
        for b in range(1, A):
            onward[j] = max(onward[j], F[k, b, j])
    rose = False
    for i in range(S):
        for a in range(A):
            to_k = F[i, a, k]
            if to_k == -np.inf:
                continue
            row = F[i, a]
            for j in range(S):
                through = to_k + onward[j]
                if through > row[j]:
                    row[j] = through
                    rose = True
    return rose
