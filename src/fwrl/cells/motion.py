"""A linear model of motion: what an action does to the coordinates, in open space.

    x(t + k) - x(t) = B a,      a: the mean action of the window

B is the least-squares solution over windows, kept as the sums it follows from: sum of a a', of a x', of |x|^2. Adding
windows to the sums is exact, so a model that is updated equals one that is fitted to everything at once. The inverse
model is the pseudo-inverse of B: the least action for a wanted displacement, clipped to the range of actions seen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearMotion:
    """Sums over windows; m actions, d coordinates.

    Attributes:
        gram: (m, m) sum of a a'.
        cross: (m, d) sum of a x', where x is the displacement.
        squares: Sum of |x|^2.
        low: (m,) smallest action seen.
        high: (m,) largest action seen.
    """

    gram: Floats
    cross: Floats
    squares: float
    low: Floats
    high: Floats

    @classmethod
    def of(cls, actions: ArrayLike, displacements: ArrayLike) -> LinearMotion:
        """The model of windows.

        Args:
            actions: (n, m) mean actions.
            displacements: (n, d).

        Returns:
            The model.
        """
        a, x = np.asarray(actions, np.float64), np.asarray(displacements, np.float64)
        empty = len(a) == 0
        return cls(
            a.T @ a,
            a.T @ x,
            float(np.square(x).sum()),
            np.full(a.shape[1], np.inf) if empty else a.min(axis=0),
            np.full(a.shape[1], -np.inf) if empty else a.max(axis=0),
        )

    def updated(self, other: LinearMotion) -> LinearMotion:
        """The model of the windows of both."""
        return LinearMotion(
            self.gram + other.gram,
            self.cross + other.cross,
            self.squares + other.squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def within(self, low: ArrayLike, high: ArrayLike) -> LinearMotion:
        """The same model for actions from `low` to `high`, (m,) each."""
        return LinearMotion(
            self.gram, self.cross, self.squares, np.asarray(low, np.float64), np.asarray(high, np.float64)
        )

    @property
    def forward(self) -> Floats:
        """(m, d) displacement per unit of each action: B transposed."""
        return np.linalg.pinv(self.gram) @ self.cross

    @property
    def inverse(self) -> Floats:
        """(d, m) action per unit of each displacement."""
        return np.linalg.pinv(self.forward)

    @property
    def explained(self) -> float:
        """Share of the squared displacement that the model explains: 1 less residual sum over total sum of squares."""
        if self.squares <= 0.0:
            return 0.0
        forward = self.forward
        residual = self.squares - 2.0 * np.sum(forward * self.cross) + np.sum(forward * (self.gram @ forward))
        return float(np.clip(1.0 - residual / self.squares, 0.0, 1.0))
