"""Windows: episodes as transitions of k steps.

A window begins at every row of an episode that's followed by k more rows of the same episode. One-step transitions
between cells would mostly stay put: a chain that diffuses instead of moving.

A step longer than a cell is wide is a *jump*: no continuous motion makes it (a portal, a reset by hand). A window ends
with its first jump. The actions after a jump respond to where it ended, so they mustn't decide which action the window
counts for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Ints

Mask = NDArray[np.bool_]


class Windows(NamedTuple):
    """M windows over the rows of all episodes."""

    start: Ints  # (M,) row of the first point
    stop: Ints  # (M,) row of the last point
    jump: Mask  # (M,) whether the last step is a jump

    @property
    def steps(self) -> Ints:
        """(M,) number of steps."""
        return self.stop - self.start


def windows_of(points: Floats, first: Ints, k: int, longest: float) -> Windows:
    """Return all windows of k steps inside episodes, cut at jumps, ordered by first row.

    Args:
        points: (n, d) rows of all episodes, concatenated.
        first: (N + 1,) first row of each episode, then n.
        longest: a longer step is a jump.
    """
    rows = len(points)
    stop = np.arange(k, rows + k)
    outside = np.ones(rows, np.bool_)
    for begin, end in _spans(first, k):
        outside[begin:end] = False
    jumps = _jumps(points, first, longest)
    ends = np.zeros(rows, np.bool_)
    for back in range(k - 1, -1, -1):  # the nearest jump is written last
        begins = jumps - back
        begins = begins[(begins >= 0)]
        same = np.searchsorted(first, begins, side="right") == np.searchsorted(first, begins + back, side="right")
        begins = begins[same]
        stop[begins], ends[begins], outside[begins] = begins + back + 1, True, False
    start = np.flatnonzero(~outside)
    return Windows(start, stop[start], ends[start])


def velocities_of(points: Floats, windows: Windows, first: Ints, longest: float) -> Floats:
    """(M, d) the step before each window; 0 at the beginning of an episode and after a jump."""
    steps = np.empty_like(points)
    np.subtract(points[1:], points[:-1], out=steps[1:])
    steps[first[:-1]] = 0.0
    steps[squared_lengths(steps) > longest * longest] = 0.0
    return steps[windows.start]


def displacement_quantile(points: Floats, first: Ints, k: int, quantile: float) -> float:
    """Return the `quantile` of the distance covered by k steps, over all windows; 0 without windows."""
    if len(points) <= k:
        return 0.0
    squares = squared_lengths(points[k:] - points[:-k])
    inside = np.zeros(len(squares), np.bool_)
    for begin, end in _spans(first, k):
        inside[begin:end] = True
    return float(np.sqrt(np.quantile(squares[inside], quantile))) if inside.any() else 0.0


def squared_lengths(vectors: Floats) -> Floats:
    """(n,) the squared length of each of (n, d) vectors."""
    lengths: Floats = np.einsum("ij,ij->i", vectors, vectors)
    return lengths


def _spans(first: Ints, k: int) -> list[tuple[int, int]]:
    """Return ranges of rows that are followed by k more rows of their episode."""
    return [
        (begin, end - k) for begin, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True) if end > begin + k
    ]


def _jumps(points: Floats, first: Ints, longest: float) -> Ints:
    """Return rows from which the step to the next row of the episode is a jump."""
    if len(points) < 2:
        return np.zeros(0, np.int64)
    far = squared_lengths(np.diff(points, axis=0)) > longest * longest
    far[first[1:-1] - 1] = False  # from one episode to the next
    return np.flatnonzero(far)
