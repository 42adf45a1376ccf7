"""Cells for logs: continuous coordinates as states.

A division into cells maps every point to a cell. Each cell has a name and a centre, and the division says how close to
the centre of a known cell a point must be to count as that cell. `SquareCells` divides a plane, `Hexagons` the globe.

Squares have one width w: the cell of a point is (floor(x / w), floor(y / w)). The grid starts at the origin, so the
width alone decides which cell a point is in, and logs divided by the same width fit together. A cell is named by its
column and row, as in `3:-7`. Without a given width we choose one from the data so that most steps end in a neighbouring
cell: the 0.9 quantile of the step lengths, rounded to two digits. (The median would be too small if most steps are
dithering.)

Hexagons are the cells of H3, at one resolution. Points are latitude and longitude in degrees, distances are metres. The
package h3 (extra `geo`) is imported when a point is looked up. Reading a saved file doesn't need it, because the file
has names and centres.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError

__all__ = ["Cells", "Hexagons", "SquareCells", "cells_of", "chosen_width"]

QUANTILE = 0.9
LARGEST = 2.0**53  # floor(x / w) is exact for columns and rows up to this
EARTH = 6_371_007.0  # metres, mean radius
EDGE_0 = 1_281_256.0  # metres, mean edge of a hexagon at resolution 0; each resolution is finer by sqrt(7)
FINEST = 15


class Cells(Protocol):
    """A division of a space into named cells."""

    @property
    def axes(self) -> tuple[str, str]:
        """Names of a point's two coordinates, in order."""

    @property
    def spacing(self) -> float:
        """Distance between the centres of neighbouring cells."""

    @property
    def unit(self) -> str:
        """Unit of distances; empty if the unit of the coordinates is unknown."""

    def name(self, point: tuple[float, float]) -> str | None:
        """Name the cell of a point, given in the order of `axes`; None if the point is outside every cell."""

    def centres(self, names: list[str]) -> Floats:
        """Return the (n, 2) centres of n cells, as x and y on a map."""

    def nearest(self, point: tuple[float, float], centres: Floats) -> tuple[int, float]:
        """Find the centre nearest to a point.

        Args:
            point: coordinates in the order of `axes`.
            centres: (n, 2) centres, as x and y on a map; at least one.

        Returns:
            Row of the nearest centre, and its distance in the unit of `spacing`.
        """

    def to_dict(self) -> dict[str, float | int | str]:
        """Return JSON values from which `cells_of` rebuilds the division."""


@dataclass(frozen=True)
class SquareCells:
    """Square cells of one width.

    Attributes:
        width: side of a cell, in the unit of the coordinates.

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
        """Names of a point's two coordinates."""
        return "x", "y"

    @property
    def spacing(self) -> float:
        """Distance between the centres of neighbouring cells."""
        return float(self.width)

    @property
    def unit(self) -> str:
        """An empty string, since we don't know the unit of the coordinates."""
        return ""

    def boxes(self, points: Floats) -> Ints:
        """Return the cells of (n, d) points, as (n, d) integers."""
        return np.floor(np.asarray(points, np.float64) / self.width).astype(np.int64)

    def box_centres(self, boxes: Ints) -> Floats:
        """Return the (n, d) centres of cells given as (n, d) integers."""
        centres: Floats = (np.asarray(boxes, np.float64) + 0.5) * self.width
        return centres

    def name(self, point: tuple[float, float]) -> str | None:
        """Name the cell of a point as column:row; None for a point too far away to have exact numbers."""
        scaled = np.asarray(point, np.float64) / self.width
        return self.names(np.floor(scaled).astype(np.int64)[None])[0] if (np.abs(scaled) <= LARGEST).all() else None

    @staticmethod
    def names(boxes: Ints) -> list[str]:
        """Name cells given as (n, d) integers."""
        return [":".join(map(str, box)) for box in np.asarray(boxes).tolist()]

    def centres(self, names: list[str]) -> Floats:
        """Return the (n, 2) centres of cells with names such as `3:-7`; ValueError for any other name."""
        boxes = np.array([[int(part) for part in name.split(":")] for name in names], np.int64)
        if boxes.ndim != 2 or boxes.shape[1] != 2:
            raise ValueError("expected names of cells such as 3:-7")
        return self.box_centres(boxes)

    def nearest(self, point: tuple[float, float], centres: Floats) -> tuple[int, float]:
        """Find the centre nearest to a point; return its row and distance."""
        distance = np.hypot(*(centres - np.array(point)).T)
        k = int(np.argmin(distance))
        return k, float(distance[k])

    def to_dict(self) -> dict[str, float | int | str]:
        """Return JSON values from which `cells_of` rebuilds the division."""
        return {"kind": "square", "width": self.width}


def chosen_width(length: float) -> float:
    """Choose a cell width from a step length, usually the 0.9 quantile; ValueError unless it's positive and finite.

    >>> chosen_width(0.93456), chosen_width(1234.0)
    (0.93, 1200.0)
    """
    if not 0 < length < math.inf:
        raise ValueError("expected steps of a positive length")
    return float(f"{length:.1e}")


@dataclass(frozen=True)
class Hexagons:
    """H3 cells at one resolution.

    Attributes:
        resolution: from 0 (largest) to 15.
    """

    resolution: int

    def __post_init__(self) -> None:
        if not (isinstance(self.resolution, int) and 0 <= self.resolution <= FINEST):
            raise ValueError(f"expected an H3 resolution from 0 to {FINEST}, got {self.resolution!r}")

    @property
    def axes(self) -> tuple[str, str]:
        """Names of a point's two coordinates."""
        return "latitude", "longitude"

    @property
    def spacing(self) -> float:
        """Mean distance between the centres of neighbouring cells, in metres."""
        return math.sqrt(3) * EDGE_0 / math.sqrt(7) ** self.resolution

    @property
    def unit(self) -> str:
        """Metres."""
        return " m"

    def namer(self) -> Callable[[float | None, float | None], str | None]:
        """Return a function from latitude and longitude to a cell's name; FwrlError if h3 isn't installed.

        The function returns None for a point off the globe or with a missing coordinate.
        """
        name_of, resolution = _h3().latlng_to_cell, self.resolution

        def name(latitude: float | None, longitude: float | None) -> str | None:
            if latitude is None or longitude is None:
                return None
            on_globe = -90 <= latitude <= 90 and -360 <= longitude <= 360
            return str(name_of(latitude, longitude, resolution)) if on_globe else None

        return name

    def name(self, point: tuple[float, float]) -> str | None:
        """Name the cell of a latitude and longitude; None for a point off the globe, or without h3."""
        try:
            return self.namer()(*point)
        except FwrlError:
            return None

    def centres(self, names: list[str]) -> Floats:
        """Return the (n, 2) centres of n cells, as longitude and latitude; FwrlError if h3 isn't installed."""
        centre_of = _h3().cell_to_latlng
        centres = np.array([centre_of(name) for name in names], np.float64).reshape(-1, 2)
        return np.ascontiguousarray(centres[:, ::-1])

    def nearest(self, point: tuple[float, float], centres: Floats) -> tuple[int, float]:
        """Find the centre nearest to a latitude and longitude.

        Returns:
            Row of the nearest of the (n, 2) centres, which are longitude and latitude, and its distance in metres.
        """
        distance = great_circle(np.array([point[::-1]]), centres)
        k = int(np.argmin(distance))
        return k, float(distance[k])

    def to_dict(self) -> dict[str, float | int | str]:
        """Return JSON values from which `cells_of` rebuilds the division."""
        return {"kind": "hexagon", "resolution": self.resolution}


def chosen_resolution(length: float) -> int:
    """Choose the resolution at which neighbouring centres are closest to `length` metres apart.

    >>> chosen_resolution(1000.0), chosen_resolution(1e9)
    (8, 0)
    """
    spacings = np.array([Hexagons(k).spacing for k in range(FINEST + 1)])
    return int(np.argmin(np.abs(np.log(spacings / length))))


def great_circle(one: Floats, other: Floats) -> Floats:
    """Return (n,) distances in metres between (n, 2) points given as longitude and latitude (haversine formula)."""
    (x, y), (u, v) = np.radians(one).T, np.radians(other).T
    half = np.sin((v - y) / 2) ** 2 + np.cos(y) * np.cos(v) * np.sin((u - x) / 2) ** 2
    distances: Floats = 2 * EARTH * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0)))
    return distances


def _h3() -> Any:
    try:
        import h3  # type: ignore[import-not-found, import-untyped, unused-ignore]
    except ImportError:
        raise FwrlError(
            "hexagons on the globe need the package h3; install it with: pip install 'fwrl[geo]', "
            "or choose square cells by giving a width in degrees"
        ) from None
    return h3


def cells_of(details: dict[str, float | int | str]) -> Cells:
    """Rebuild a division from what its `to_dict` returned; ValueError if it doesn't describe one.
    >>> cells_of({"kind": "square", "width": 0.5})
    SquareCells(width=0.5)
    """
    fields = dict(details)
    kinds: dict[object, type[SquareCells] | type[Hexagons]] = {"square": SquareCells, "hexagon": Hexagons}
    kind = kinds.get(fields.pop("kind", None))
    if kind is None:
        raise ValueError(f"unknown kind of cells in {details!r}")
    return kind(**fields)  # type: ignore[arg-type]
