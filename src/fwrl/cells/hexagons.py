"""Hexagons on the globe: the cells of H3, at one resolution.

Points are latitude and longitude in degrees, distances are metres. The package h3 (extra `geo`) is imported when a
point is looked up, and not to read a file that was made with it: names and centres are kept there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fwrl.arrays import Floats
from fwrl.errors import FwrlError

EARTH = 6_371_007.0  # metres, mean radius
EDGE_0 = 1_281_256.0  # metres, mean edge of a hexagon at resolution 0; each further resolution is sqrt(7) finer
FINEST = 15


@dataclass(frozen=True)
class Hexagons:
    """H3 cells at one resolution.

    Attributes:
        resolution: From 0 (largest) to 15.

    """

    resolution: int

    def __post_init__(self) -> None:
        if not (isinstance(self.resolution, int) and 0 <= self.resolution <= FINEST):
            raise ValueError(f"expected an H3 resolution from 0 to {FINEST}, got {self.resolution!r}")

    @property
    def axes(self) -> tuple[str, str]:
        """What the coordinates of a point are called."""
        return "latitude", "longitude"

    @property
    def spacing(self) -> float:
        """Mean distance between the centres of neighbouring cells, in metres."""
        return math.sqrt(3) * EDGE_0 / math.sqrt(7) ** self.resolution

    @property
    def unit(self) -> str:
        """Distances are in metres."""
        return " m"

    def namer(self) -> Callable[[float | None, float | None], str | None]:
        """A function that names the cells of points.

        Returns:
            A function from latitude and longitude to the name of the cell; it gives None for a point that is not on the
            globe, or that lacks a coordinate.

        Raises:
            FwrlError: h3 is not installed.

        """
        name_of, resolution = _h3().latlng_to_cell, self.resolution

        def name(latitude: float | None, longitude: float | None) -> str | None:
            if latitude is None or longitude is None:
                return None
            on_globe = -90 <= latitude <= 90 and -360 <= longitude <= 360
            return str(name_of(latitude, longitude, resolution)) if on_globe else None

        return name

    def name(self, point: tuple[float, float]) -> str | None:
        """The name of the cell that a point is in.

        Args:
            point: Its latitude and longitude in degrees.

        Returns:
            The name; None for a point that is not on the globe, and where h3 is not installed.

        """
        try:
            return self.namer()(*point)
        except FwrlError:
            return None

    def centres(self, names: list[str]) -> Floats:
        """The centres of cells.

        Args:
            names: The names of n cells.

        Returns:
            (n, 2) longitude and latitude of the centres, in degrees.

        Raises:
            FwrlError: h3 is not installed.

        """
        centre_of = _h3().cell_to_latlng
        centres = np.array([centre_of(name) for name in names], np.float64).reshape(-1, 2)
        return np.ascontiguousarray(centres[:, ::-1])

    def nearest(self, point: tuple[float, float], centres: Floats) -> tuple[int, float]:
        """The centre that is nearest to a point.

        Args:
            point: Its latitude and longitude in degrees.
            centres: (n, 2) longitude and latitude of centres, in degrees; at least one.

        Returns:
            The row of the nearest centre, and its distance in metres.

        """
        distance = great_circle(np.array([point[::-1]]), centres)
        k = int(np.argmin(distance))
        return k, float(distance[k])

    def to_dict(self) -> dict[str, float | int | str]:
        """The division as JSON values.

        Returns:
            What `cells_of` makes the division of again.

        """
        return {"kind": "hexagon", "resolution": self.resolution}


def chosen_resolution(length: float) -> int:
    """The resolution whose neighbouring centres are nearest to `length` metres apart.

    >>> chosen_resolution(1000.0), chosen_resolution(1e9)
    (8, 0)
    """
    spacings = np.array([Hexagons(k).spacing for k in range(FINEST + 1)])
    return int(np.argmin(np.abs(np.log(spacings / length))))


def great_circle(one: Floats, other: Floats) -> Floats:
    """(n,) distances in metres between (n, 2) points given as longitude and latitude (haversine formula)."""
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
