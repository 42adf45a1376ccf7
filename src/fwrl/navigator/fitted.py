"""Cells fitted to data: the boxes that contain data, each with the mean of its points as centre.

We lay boxes of width w over the points, starting at their smallest coordinates. A box with points becomes a cell, and
the mean of its points the centre. Any point belongs to the cell with the nearest centre (found with a KD-tree), so
cells follow the data, and unvisited points have a cell too. Distances are Euclidean.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from fwrl.arrays import Floats, Ints
from fwrl.errors import OptionError

Mask = NDArray[np.bool_]

LARGEST_BOX = 2**62  # boxes are numbered by one integer
SPARSE = 4  # boxes per point


class FittedCells:
    """S cells in d dimensions.

    Args:
        centres: (S, d) one point in each cell.
        width: approximate distance between neighbouring centres.
    """

    def __init__(self, centres: ArrayLike, width: float) -> None:
        self.centres: Floats = np.ascontiguousarray(centres, np.float64)
        if self.centres.ndim != 2 or len(self.centres) == 0:
            raise OptionError(f"expected at least one centre, as rows of a matrix; got shape {self.centres.shape}")
        if not 0.0 < width < np.inf:
            raise OptionError(f"expected a positive width of cells, got {width}")
        self.width = float(width)
        self._tree = cKDTree(self.centres)

    def __len__(self) -> int:
        return len(self.centres)

    def of(self, points: ArrayLike) -> Ints:
        """(n,) the cell of each of (n, d) points."""
        found: Ints = np.asarray(self._tree.query(np.asarray(points, np.float64))[1], np.int64)
        return found

    def cell(self, point: Floats) -> int:
        """The cell of one point (d,)."""
        return int(self._tree.query(point)[1])

    def near(self, point: Floats) -> Ints:
        """Return the cells whose centres are within one width of a point, nearest first; at least one."""
        within = np.array(self._tree.query_ball_point(point, self.width), np.int64)
        if len(within) == 0:
            return np.array([self.cell(point)], np.int64)
        apart = self.centres[within] - point
        return within[np.argsort((apart**2).sum(axis=1), kind="stable")]

    def kept(self, keep: Mask) -> FittedCells:
        """Return only the cells marked by `keep` (S,)."""
        return FittedCells(self.centres[keep], self.width)

    def grown(self, points: ArrayLike) -> FittedCells:
        """Return these cells, in order, and new ones for the points (n, d) over one width away from all of them.

        The new centres are means of the boxes that contain those points.
        """
        new = np.asarray(points, np.float64)
        if len(new) == 0:
            return self
        away = np.asarray(self._tree.query(new)[0]) > self.width
        if not away.any():
            return self
        added = fit_cells(new[away], self.width).centres
        return FittedCells(np.concatenate([self.centres, added]), self.width)


def fit_cells(points: ArrayLike, width: float) -> FittedCells:
    """Make cells of the boxes that contain points, in the order of the boxes.

    Args:
        points: (n, d), n at least 1.
        width: of the boxes.

    >>> fit_cells([[0.0], [0.25], [3.5]], width=1.0).centres.tolist()
    [[0.125], [3.5]]
    """
    data = np.asarray(points, np.float64)
    first, inverse, count = _groups(*_box_numbers(data, width))
    # Average differences from one point of the box: exact if all points are the same.
    base = data[first]
    total = np.stack([np.bincount(inverse, weights=column) for column in (data - base[inverse]).T], axis=1)
    return FittedCells(base + total / count[:, None], width)


def _groups(code: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    """Group (n,) numbers below `size`: (G,) a first index, (n,) the group, (G,) its number of members."""
    if size > SPARSE * len(code):
        _, first, inverse, count = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
        return first, inverse, count
    counts = np.bincount(code, minlength=size)  # no sorting needed unless boxes far outnumber points
    present = counts > 0
    index = np.empty(size, np.int64)
    index[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    return index[present], (np.cumsum(present) - 1)[code], counts[present]


def _box_numbers(points: Floats, width: float) -> tuple[Ints, int]:
    """Number the box of each of (n,) points, and return how many boxes there could be."""
    code = np.zeros(len(points), np.int64)
    size = 1.0
    for column in points.T:
        boxes = np.floor((column - column.min()) / width)
        extent = float(boxes.max()) + 1.0
        size *= extent
        if not size < LARGEST_BOX:
            raise OptionError(f"cells of width {width:g} are too many for these coordinates; choose a larger width")
        code = code * int(extent) + boxes.astype(np.int64)
    return code, int(size)
