"""States by name or, where they are cells, by the coordinates of a point."""

from __future__ import annotations

import math

from fwrl.errors import UnknownNameError
from fwrl.planner.experience import Experience
from fwrl.planner.labels import Label

Place = Label | tuple[float, float]
NEAR = 2.0  # spacings of cells within which the nearest known cell stands for a point


def find_state(experience: Experience, place: Place, what: str = "state") -> int:
    """The code of a state.

    A point stands for the cell that it is in or, where no trip has been there, for the known cell whose centre is
    nearest, provided that it is near. The error for an unknown place carries close matches, or says how far the nearest
    cell is.
    """
    code = experience.states.code(place)
    if code is not None:
        return code
    point = None if experience.cells is None else _point(place)
    if point is None or experience.cells is None or experience.position is None:
        return experience.states.find(place, what)
    cells = experience.cells
    name = cells.name(point)
    code = None if name is None else experience.states.code(name)
    if code is not None:
        return code
    nearest, distance = cells.nearest(point, experience.position)
    if distance > NEAR * cells.spacing:
        axes = " and ".join(cells.axes)
        raise UnknownNameError(
            f"no known cell is near {point[0]:g},{point[1]:g} ({axes}); the nearest, {experience.states[nearest]!r}, "
            f"is {_shown(distance)}{cells.unit} away, cells are {_shown(cells.spacing)}{cells.unit} apart"
        )
    return nearest


def _shown(length: float) -> str:
    return f"{length:,.0f}" if length >= 1000 else f"{length:.3g}"


def _point(place: Place) -> tuple[float, float] | None:
    """The coordinates of a point, given as a pair or as text with a comma; None where it is none."""
    parts = place.split(",") if isinstance(place, str) else place
    try:
        one, other = (float(part) for part in parts)  # type: ignore[union-attr]
    except (TypeError, ValueError):
        return None
    return (one, other) if math.isfinite(one) and math.isfinite(other) else None
