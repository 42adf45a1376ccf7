"""Action labels: map the actions of a window to one of a few labels.

*Headings*, for coordinates that can be pushed in any direction. The label says where the mean action would go in open
space: its displacement, in units of the usual one, rounded to -1, 0 or 1 in each coordinate. That makes 3^d labels; the
middle one means that nothing much was intended.

*Raw actions*, for bodies that can't be pushed in any direction. The label is the nearest of a few actions: every
discrete action, or the corners and middles of the range of continuous ones.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats, Ints
from fwrl.errors import OptionError

MOST_LABELS = 3**6


class ActionLabels(Protocol):
    """L labels."""

    @property
    def n(self) -> int:
        """L."""

    @property
    def idle(self) -> int:
        """The label of windows that intend nothing; -1 if none does."""

    def opposite(self, labels: Ints) -> Ints:
        """Return the label that undoes each of (n,) labels; -1 if none does."""


@dataclass(frozen=True)
class Headings:
    """The 3^d headings of d coordinates.

    Attributes:
        dimensions: d.
    """

    dimensions: int

    def __post_init__(self) -> None:
        if self.dimensions < 1 or 3**self.dimensions > MOST_LABELS:
            raise OptionError(
                f"headings are for 1 to 6 coordinates, not {self.dimensions}; "
                "choose the coordinates that goals are given in"
            )

    @property
    def n(self) -> int:
        """L."""
        return int(3**self.dimensions)

    @property
    def idle(self) -> int:
        """The heading that goes nowhere."""
        return (self.n - 1) // 2

    def of(self, displacements: ArrayLike, unit: float) -> Ints:
        """Label (n, d) intended displacements, measured in `unit`."""
        moved = np.asarray(displacements, np.float64)
        labels = np.zeros(len(moved), np.int64)
        for column in moved.T:
            labels = labels * 3 + np.clip(np.rint(column / unit), -1.0, 1.0).astype(np.int64) + 1
        return labels

    def opposite(self, labels: Ints) -> Ints:
        """Return the headings back."""
        return self.n - 1 - labels

    @property
    def directions(self) -> Floats:
        """(L, d) -1, 0 or 1 in each coordinate."""
        return np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=self.dimensions)))


@dataclass(frozen=True, eq=False)
class RawActions:
    """A few actions.

    Attributes:
        actions: (L, m) the actions; m is 1 for discrete ones.
    """

    actions: Floats

    @classmethod
    def discrete(cls, n: int) -> RawActions:
        """The actions 0 to n - 1."""
        return cls(np.arange(n, dtype=np.float64)[:, None])

    @classmethod
    def between(cls, low: ArrayLike, high: ArrayLike) -> RawActions:
        """Combine low, middle and high of each of m actions."""
        a, b = np.atleast_1d(np.asarray(low, np.float64)), np.atleast_1d(np.asarray(high, np.float64))
        if not np.isfinite(a).all() or not np.isfinite(b).all() or 3 ** len(a) > MOST_LABELS:
            raise OptionError(f"raw actions need finite bounds and at most 6 dimensions, got {a} to {b}")
        return cls(np.array(list(itertools.product(*[(x, (x + y) / 2, y) for x, y in zip(a, b, strict=True)]))))

    @property
    def n(self) -> int:
        """L."""
        return len(self.actions)

    @property
    def idle(self) -> int:
        """None of them."""
        return -1

    def of(self, actions: ArrayLike) -> Ints:
        """(n,) the nearest label to each of (n, m) actions, in units of their range."""
        span = np.ptp(self.actions, axis=0)
        units = np.where(span > 0, span, 1.0)
        apart = (np.asarray(actions, np.float64)[:, None] - self.actions[None]) / units
        labels: Ints = np.square(apart).sum(axis=2).argmin(axis=1)
        return labels

    def opposite(self, labels: Ints) -> Ints:
        """Return -1: no action undoes another."""
        return np.full(len(labels), -1)
