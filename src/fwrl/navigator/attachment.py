"""How a thing hangs on the hand while the hand has it, and when it does.

We regress the displacement of the hand on that of the thing over windows in which the thing moves, so X = b + J y is
where the hand is when it has a thing at y: a line for a drawer, the thing's own place for a cube. Nothing about the
kind of the thing is told. Then R = H - X is the hand as the thing sees it.

In a window the thing *follows* if the attachment explains at least half of the hand's displacement. If several things
follow, the hand has the one it's nearest to, in spreads; the others are passengers, such as a cube in a drawer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError

Mask = NDArray[np.bool_]

QUANTILE = 0.9
ROUNDS = 20  # of the regression and of the middle; they settle in a few
MOVING = 0.25  # of the usual displacement: a hand that moves


class Attachment(NamedTuple):
    """X = b + J y.

    Attributes:
        matrix: (p, q) J.
        offset: (p,) b.
        spread: distance from X within which the hand had the thing in 0.9 of the windows, but for outliers.
    """

    matrix: Floats
    offset: Floats
    spread: float

    def place(self, thing: Floats) -> Floats:
        """Return X, (p,) or (n, p), of a thing at (q,) or (n, q)."""
        where: Floats = self.offset + thing @ self.matrix.T
        return where

    def distance(self, hand: Floats, thing: Floats) -> Floats:
        """(n,) how far the hand, at (n, p), is from where it has the thing, at (n, q), in spreads."""
        away: Floats = np.linalg.norm(hand - self.place(thing), axis=1) / self.spread
        return away

    def ridden(self, thing: Floats, by: Floats) -> Floats:
        """Return where a thing at (q,) is once a carrier took it along by (p,)."""
        place: Floats = thing + np.linalg.pinv(self.matrix) @ by
        return place


def fit_attachments(
    names: Sequence[str], things: Sequence[Floats], hand: Floats, start: Ints, stop: Ints
) -> tuple[list[Attachment], Mask]:
    """Fit all attachments; also return (T, M) which thing the hand has in each window.

    A passenger would tell where the hand is on its carrier, so windows in which two things follow don't count for b,
    unless there are no others.

    Args:
        names: of the things, for messages.
        things: (n, q) positions of each.
        hand: (n, p) positions.
        start: (M,) first row of each window.
        stop: (M,) last row.
    """
    fitted = [_fit_matrix(*each, hand, start, stop) for each in zip(names, things, strict=True)]
    follows = np.stack([along for _, along in fitted])
    alone = follows & (follows.sum(axis=0) == 1)
    found = []
    for (matrix, along), thing, only in zip(fitted, things, alone, strict=True):
        at = start[only] if only.any() else start[along]
        away = hand[at] - thing[at] @ matrix.T
        found.append(Attachment(matrix, *middle_of(away)))
    return found, in_hand(follows, [one.distance(hand[start], y[start]) for one, y in zip(found, things, strict=True)])


def middle_of(points: Floats) -> tuple[Floats, float]:
    """Return the middle of points (n, d), and the distance from it within which 0.9 of them are, but for outliers.

    The middle is the mean of the half that's nearest to it. The distance is that of a normal distribution with the same
    median. So pushes in passing don't count among grasps.
    """
    middle = points.mean(axis=0)
    for _ in range(ROUNDS):
        apart = np.linalg.norm(points - middle, axis=1)
        middle = points[apart <= np.median(apart)].mean(axis=0)
    half, most = gammaincinv(points.shape[1] / 2, [0.5, QUANTILE])  # of half the squared distance
    return middle, float(np.median(np.linalg.norm(points - middle, axis=1)) * np.sqrt(most / half))


def _fit_matrix(name: str, thing: Floats, hand: Floats, start: Ints, stop: Ints) -> tuple[Floats, Mask]:
    """Fit J of one thing; also return in which windows the thing follows."""
    moved, pushed = thing[stop] - thing[start], hand[stop] - hand[start]
    size, push = np.linalg.norm(moved, axis=1), np.linalg.norm(pushed, axis=1)
    rows = np.flatnonzero(size > np.sqrt(np.mean(size**2)))  # a thing rests most of the time
    matrix: Floats = np.zeros((pushed.shape[1], moved.shape[1]))
    used = rows
    for _ in range(ROUNDS):
        if len(used) == 0:
            break
        matrix = np.asarray(np.linalg.lstsq(moved[used], pushed[used], rcond=None)[0].T, np.float64)
        apart = np.linalg.norm(pushed[rows] - moved[rows] @ matrix.T, axis=1)
        kept = rows[apart <= push[rows] / 2]
        if np.array_equal(kept, used):
            break
        used = kept
    follows = following(pushed, moved @ matrix.T)[1]
    if not follows.any():
        raise FwrlError(
            f"{name!r} never moves with the hand in these data; check its coordinates, or add episodes that move it"
        )
    return matrix, follows


def in_hand(follows: Mask, distance: Sequence[Floats]) -> Mask:
    """(T, M) which of the things that follow the hand has: the nearest, with distances (M,) of each in spreads."""
    apart = np.where(follows, np.stack(distance), np.inf)
    nearest: Mask = apart.argmin(axis=0) == np.arange(len(follows))[:, None]
    return nearest & follows


def following(pushed: Floats, moved: Floats) -> tuple[Mask, Mask]:
    """Return where the hand moves, and where a thing follows, of displacements (n, p) of hand and attachment."""
    push = np.linalg.norm(pushed, axis=1)
    moving = push > MOVING * np.quantile(push, QUANTILE)
    return moving, moving & (np.linalg.norm(pushed - moved, axis=1) <= push / 2)
