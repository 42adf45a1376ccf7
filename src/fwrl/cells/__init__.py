"""Cells: continuous coordinates as states.

A division into cells gives every point a cell, every cell a name and a centre, and says how far from the centre of a
known cell a point may be to count as there. `SquareCells` divides a plane, `Hexagons` the globe: they make states of
the coordinates in logs.

A navigator is a planner for continuous worlds. `fitted` divides the space that data have visited into cells, `windows`
cuts episodes into transitions of k steps, `motion` is a linear model from actions to displacements, `action_labels`
turns the actions of a window into one of a few, `transitions` counts them, and `navigator` plans on the counts and
acts; `confidence` says how far the data support a plan.
"""

from __future__ import annotations

from typing import Protocol

from fwrl.arrays import Floats
from fwrl.cells.hexagons import Hexagons
from fwrl.cells.square import SquareCells, chosen_width

__all__ = ["Cells", "Hexagons", "SquareCells", "cells_of", "chosen_width"]


class Cells(Protocol):
    """A division of a space into cells with names."""

    @property
    def axes(self) -> tuple[str, str]:
        """What the coordinates of a point are called, in the order in which points are given."""

    @property
    def spacing(self) -> float:
        """Distance between the centres of neighbouring cells."""

    @property
    def unit(self) -> str:
        """What distances are counted in; empty where the unit of the coordinates is unknown."""

    def name(self, point: tuple[float, float]) -> str | None:
        """The name of the cell that a point is in.

        Args:
            point: Its coordinates, in the order of `axes`.

        Returns:
            The name; None where no cell can be.
        """

    def centres(self, names: list[str]) -> Floats:
        """The centres of cells.

        Args:
            names: The names of n cells.

        Returns:
            (n, 2) the centres, as x and y of a map.
        """

    def nearest(self, point: tuple[float, float], centres: Floats) -> tuple[int, float]:
        """The centre that is nearest to a point.

        Args:
            point: Its coordinates, in the order of `axes`.
            centres: (n, 2) centres, as x and y of a map; at least one.

        Returns:
            The row of the nearest centre, and its distance in the unit of `spacing`.
        """

    def to_dict(self) -> dict[str, float | int | str]:
        """The division as JSON values.

        Returns:
            What `cells_of` makes the division of again.
        """


def cells_of(details: dict[str, float | int | str]) -> Cells:
    """The division that `to_dict` describes; ValueError if there is no such division.

    Args:
        details: What `to_dict` of a division gave.

    Returns:
        The division.

    >>> cells_of({"kind": "square", "width": 0.5})
    SquareCells(width=0.5)
    """
    fields = dict(details)
    kinds: dict[object, type[SquareCells] | type[Hexagons]] = {"square": SquareCells, "hexagon": Hexagons}
    kind = kinds.get(fields.pop("kind", None))
    if kind is None:
        raise ValueError(f"unknown kind of cells in {details!r}")
    return kind(**fields)  # type: ignore[arg-type]
