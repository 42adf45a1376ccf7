"""A linear model of motion: how actions move the coordinates in open space.

    x(t + k) - x(t) = B a + C v,      a: the mean action of the window,   v = x(t) - x(t - 1)

C v is the effect of momentum; it's 0 for bodies that stop when nothing pushes them. B and C are the least-squares
solution over windows. We keep the sums it follows from: of z z', of z x' and of |x|^2, where z is (a, v). Adding
windows to the sums is exact, so an updated model equals one fitted to everything in one go. The inverse model is the
pseudo-inverse of B: the smallest action for a wanted displacement, after momentum has done its part, clipped to the
range of actions.

A hand's actions are steered the same way, except that its own recipes fill what the model doesn't explain:

    a = B+ (wanted - C v) + (I - B+ B) a_recipe

so closing the fingers needs no rule. This B+ is a pseudo-inverse in units of how much each action was used, and of the
window's displacement in each coordinate: otherwise it would steer with actions that hardly varied in the data, which
say little about B.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats

DEPENDENT = 1e-13  # a column counts as dependent if its squared sine to the others is below this: rounding


def column_range(values: Floats) -> tuple[Floats, Floats]:
    """Return the smallest and largest value of each column of (n, m) values; inf and -inf without rows.

    Going column by column is several times as fast as reducing over rows.
    """
    low = [column.min(initial=np.inf) for column in values.T]
    high = [column.max(initial=-np.inf) for column in values.T]
    return np.array(low), np.array(high)


def _mapped(vectors: Floats, matrix: Floats) -> Floats:
    """Multiply (n, m) vectors by a small (m, d) matrix.

    We go column by column: a matrix product starts threads, which cost more than they save for so few columns.
    """
    images: Floats = np.zeros((len(vectors), matrix.shape[1]))
    for column, row in zip(vectors.T, matrix, strict=True):
        for image, weight in zip(images.T, row, strict=True):
            image += weight * column
    return images


@dataclass(frozen=True, eq=False)
class LinearMotion:
    """Sums over windows; m actions, d coordinates.

    Attributes:
        gram: (m + d, m + d) sum of z z'.
        cross: (m + d, d) sum of z x', where x is the displacement.
        squares: sum of |x|^2.
        low: (m,) smallest action seen.
        high: (m,) largest action seen.
    """

    gram: Floats
    cross: Floats
    squares: float
    low: Floats
    high: Floats

    @classmethod
    def of(cls, actions: ArrayLike, velocities: ArrayLike, displacements: ArrayLike) -> LinearMotion:
        """Fit the model to windows: (n, m) mean actions, (n, d) steps before the windows, (n, d) displacements."""
        a, x = np.asarray(actions, np.float64), np.asarray(displacements, np.float64)
        z = np.concatenate([a, np.asarray(velocities, np.float64)], axis=1)
        return cls(z.T @ z, z.T @ x, float(np.einsum("ij,ij->", x, x)), *column_range(a))

    def updated(self, other: LinearMotion) -> LinearMotion:
        """Return the model of the windows of both."""
        return LinearMotion(
            self.gram + other.gram,
            self.cross + other.cross,
            self.squares + other.squares,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    def within(self, low: ArrayLike, high: ArrayLike) -> LinearMotion:
        """Return the same model for actions from `low` to `high`, (m,) each."""
        return LinearMotion(
            self.gram, self.cross, self.squares, np.asarray(low, np.float64), np.asarray(high, np.float64)
        )

    @property
    def forward(self) -> Floats:
        """(m, d) displacement per unit of each action: B transposed."""
        return self._solution[: len(self.low)]

    @property
    def momentum(self) -> Floats:
        """(d, d) displacement per unit of each velocity: C transposed."""
        return self._solution[len(self.low) :]

    @property
    def inverse(self) -> Floats:
        """(d, m) action per unit of each displacement."""
        return np.asarray(np.linalg.pinv(self.forward), np.float64)

    def predict(self, actions: Floats, velocities: Floats) -> Floats:
        """(n, d) displacements in open space, of (n, m) mean actions and (n, d) velocities."""
        return _mapped(actions, self.forward) + _mapped(velocities, self.momentum)

    @property
    def explained(self) -> float:
        """Share of the squared displacement that the model explains: 1 minus residual over total sum of squares."""
        if self.squares <= 0.0:
            return 0.0
        solution = self._solution
        residual = self.squares - 2.0 * np.sum(solution * self.cross) + np.sum(solution * (self.gram @ solution))
        return float(np.clip(1.0 - residual / self.squares, 0.0, 1.0))

    @functools.cached_property
    def _solution(self) -> Floats:
        """(m + d, d) B and C, transposed: the least-norm solution with every column of z scaled to norm 1.

        Thanks to the scaling, linear dependence doesn't change with the units of actions and coordinates.
        """
        norm = np.sqrt(np.diag(self.gram))
        norm[norm == 0.0] = 1.0
        cosines = self.gram / np.outer(norm, norm)
        solution: Floats = np.linalg.pinv(cosines, rcond=DEPENDENT) @ (self.cross / norm[:, None]) / norm[:, None]
        return solution


WEAKEST = 0.1  # directions in which actions move less, compared with the strongest, aren't steered


class Steering:
    """Steers the first d coordinates of a motion model.

    Args:
        motion: from mean actions to displacements.
        units: (d,) usual displacement of each coordinate in a window.
        used: (m,) usual size of each action.
    """

    def __init__(self, motion: LinearMotion, units: Floats, used: Floats) -> None:
        d = self.dimensions = len(units)
        self.motion, self.units, self.used = motion, units, used
        forward = motion.forward[:, :d]
        scaled = np.linalg.pinv(used[:, None] * forward / units, rcond=WEAKEST)
        self._inverse: Floats = scaled / units[:, None] * used
        self._rest: Floats = np.eye(len(used)) - forward @ self._inverse
        self._momentum = motion.momentum[:d, :d]
        self._low, self._high = motion.low, motion.high

    @property
    def idle(self) -> Floats:
        """The (m,) action that does least."""
        return np.clip(np.zeros(len(self._low)), self._low, self._high)

    def action(self, wanted: Floats, velocity: Floats, recipe: Floats) -> Floats:
        """Return the (m,) action for a displacement (d,) in one window, at a velocity (d,) in displacement per step."""
        pushed = (wanted - velocity @ self._momentum) @ self._inverse + recipe @ self._rest
        action: Floats = np.minimum(np.maximum(pushed, self._low), self._high)
        return action
