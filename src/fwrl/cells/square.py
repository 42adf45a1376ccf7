"""Square cells of one width w: the cell of a point is (floor(x / w), floor(y / w)).

The grid begins at the origin, so that a width alone says which cell a point is in, and logs that are divided by the
same width fit together. The name of a cell is its column and row, as `3:-7`.

A width that is not given is chosen from the data: most moves should lead to a neighbouring cell. It is the 0.9 quantile
of the moves' lengths, rounded to two digits. A median would be too small where most moves are dithering.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fwrl.arrays import Floats, Ints

QUANTILE = 0.9
LARGEST = 2.0**53  # columns and rows up to which floor(x / w) is exact


@dataclass(frozen=True)
class SquareCells:
    """Square cells of one width.

    Attributes:
        width: Side of a cell.

    >>> cells = SquareCells(width=10.0)
    >>> cells.names(cells.boxes(np.array([[3.0, -1.0], [10.0, 0.0]])))
    ['0:-1', '1:0']
    """

    width: float

    def __post_init__(self) -> None:
        if not (isinstance(self.width, int | float) and 0 < self.width < math.inf):
            raise ValueError(f"expected a positive width of cells, got {self.width!r}")

    @property
    def axes(self) -> tuple[str, str]:
        """What the coordinates of a point are called."""
        return "x", "y"

    @property
    def spacing(self) -> float:
        """Distance between the centres of neighbouring cells."""
        return float(self.width)

    @property
    def unit(self) -> str:
        """Distances are in the unit of the coordinates, which is unknown."""
        return ""

    def boxes(self, points: Floats) -> Ints:
        """The cells that points are in.

        Args:
            points: (n, d) coordinates.

        Returns:
            (n, d) the cells, as one integer per dimension.

        """
        return np.floor(np.asarray(points, np.float64) / self.width).astype(np.int64)

    def box_centres(self, boxes: Ints) -> Floats:
        """The centres of cells that are given by numbers.

        Args:
            boxes: (n, d) cells, as one integer per dimension.

        Returns:
            (n, d) coordinates.

        """
        centres: Floats = (np.asarray(boxes, np.float64) + 0.5) * self.width
        return centres

    def name(self, point: tuple[float, float]) -> str | None:
        """The name of the cell that a point is in.

        Args:
            point: Its x and y.

        Returns:
            The name, made of column and row; None for a point too far away to have a number.

        """
        scaled = np.asarray(point, np.float64) / self.width
        return self.names(np.floor(scaled).astype(np.int64)[None])[0] if (np.abs(scaled) <= LARGEST).all() else None

    @staticmethod
    def names(boxes: Ints) -> list[str]:
        """The names of cells.

        Args:
            boxes: (n, d) cells, as one integer per dimension.

        Returns:
            The n names, made of the integers of each cell.

        """
        return [":".join(map(str, box)) for box in np.asarray(boxes).tolist()]

    def centres(self, names: list[str]) -> Floats:
        """The centres of cells that are given by names.

        Args:
            names: The names of n cells, as `3:-7`; at least one.

        Returns:
            (n, 2) x and y of the centres.

        Raises:
            ValueError: no cell has such a name.

        """
        boxes = np.array([[int(part) for part in name.split(":")] for name in names], np.int64)
        if boxes.ndim != 2 or boxes.shape[1] != 2:
            raise ValueError("expected names of cells, as 3:-7")
        return self.box_centres(boxes)

    def nearest(self, point: tuple[float, float], centres: Floats) -> tuple[int, float]:
        """The centre that is nearest to a point.

        Args:
            point: Its x and y.
            centres: (n, 2) x and y of centres; at least one.

        Returns:
            The row of the nearest centre, and its distance in the unit of the coordinates.

        """
        distance = np.hypot(*(centres - np.array(point)).T)
        k = int(np.argmin(distance))
        return k, float(distance[k])

    def to_dict(self) -> dict[str, float | int | str]:
        """The division as JSON values.

        Returns:
            What `cells_of` makes the division of again.

        """
        return {"kind": "square", "width": self.width}


def chosen_width(length: float) -> float:
    """The width of cells for data whose moves have a given length.

    Args:
        length: The 0.9 quantile of the lengths of moves.

    Returns:
        The same, rounded to two digits.

    Raises:
        ValueError: the length is not positive and finite.

    >>> chosen_width(0.93456), chosen_width(1234.0)
    (0.93, 1200.0)
    """
    if not 0 < length < math.inf:
        raise ValueError("expected moves of a positive length")
    return float(f"{length:.1e}")
