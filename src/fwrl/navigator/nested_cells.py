"""Cells that are fine near places of contact and widen with distance.

Within `near` of a place a cell is one unit wide in every coordinate (a unit is a length, an angle and an opening that
take the hand about the same time). Farther away cells are twice, four times ... as wide, each time the distance
doubles. A cell is a box that contains data. A point outside of all of them belongs to the cell with the nearest mean.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from fwrl.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class NestedCells:
    """S cells of points with D coordinates, of which the first p are a position.

    Attributes:
        units: (D,) width of the finest cells.
        places: (P, p) places of contact.
        near: distance up to which cells are finest.
        low: (D + 1,) smallest box number by coordinate; the last is of levels.
        extent: (D + 1,) number of boxes by coordinate.
        keys: (S,) numbers of the boxes that are cells, ascending.
        centres: (S, D) mean of the points of each cell.
    """

    units: Floats
    places: Floats
    near: float
    low: Ints
    extent: Ints
    keys: Ints
    centres: Floats

    def __len__(self) -> int:
        return len(self.keys)

    @functools.cached_property
    def _tree(self) -> cKDTree:
        return cKDTree(self.centres / self.units)

    def level(self, points: Floats) -> Ints:
        """(n,) how often the width has doubled at points (n, D)."""
        return level_of(points[:, : self.places.shape[1]], self.places, self.near)

    def of(self, points: Floats) -> Ints:
        """(n,) the cell of each of (n, D) points."""
        boxes = boxes_of(points, self.units, self.level(points)) - self.low
        inside = np.asarray(((boxes >= 0) & (boxes < self.extent)).all(axis=1))
        key = np.where(inside, keys_of(np.where(inside[:, None], boxes, 0), self.extent), -1)
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        lost = np.flatnonzero(np.not_equal(self.keys[at], key))
        if len(lost):
            at[lost] = self._tree.query(points[lost] / self.units)[1]
        return np.asarray(at, np.int64)

    def width(self, point: Floats) -> float:
        """Width of the cells at a point (D,), in units."""
        return float(2.0 ** self.level(point[None])[0])


def fit_nested(points: Floats, units: Floats, places: Floats, near: float) -> tuple[NestedCells, Ints]:
    """Make cells of the boxes that contain points (n, D); also return the cell of each point (n,)."""
    boxes = boxes_of(points, units, level_of(points[:, : places.shape[1]], places, near))
    low = boxes.min(axis=0)
    boxes -= low
    extent = boxes.max(axis=0) + 1
    keys, cell, count = np.unique(keys_of(boxes, extent), return_inverse=True, return_counts=True)
    sums = [np.bincount(cell, weights=column, minlength=len(keys)) for column in points.T]
    centres = np.stack(sums, axis=1) / count[:, None]
    return NestedCells(units, places, near, low, extent, keys, centres), cell


def level_of(positions: Floats, places: Floats, near: float) -> Ints:
    """(n,) how often the width of cells has doubled at positions (n, p)."""
    apart = np.full(len(positions), np.inf)
    for place in places:
        difference = positions - place
        np.minimum(apart, np.einsum("ij,ij->i", difference, difference), out=apart)
    return np.asarray(np.ceil(np.log2(np.maximum(np.sqrt(apart) / near, 1.0))), np.int64)


def boxes_of(points: Floats, units: Floats, level: Ints) -> Ints:
    """(n, D + 1) the number of each point's box by coordinate, and its level."""
    boxes = np.empty((len(points), points.shape[1] + 1), np.int64)
    for column, unit in enumerate(units):
        boxes[:, column] = np.floor(np.ldexp(points[:, column] / unit, -level))
    boxes[:, -1] = level
    return boxes


def keys_of(boxes: Ints, extent: Ints) -> Ints:
    """(n,) one number for each row of box numbers, from 0 to `extent`."""
    key = np.zeros(len(boxes), np.int64)
    for column, size in zip(boxes.T, extent, strict=True):
        key = key * size + column
    return key
