"""States by name or coordinates, and their positions on a map."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fwrl.arguments import check_kind, shown
from fwrl.arrays import Floats
from fwrl.display import visible
from fwrl.errors import FwrlError, OptionError, UnknownNameError, unknown_name
from fwrl.planner.labels import Label, Labels
from fwrl.planner.transition_counts import TransitionCounts

if TYPE_CHECKING:
    from fwrl.planner.ingest.reader import Source
    from fwrl.planner.route import Route

Place = Label | tuple[float, float]
PLACES = (str, numbers.Real, tuple, list, np.ndarray)
NEAR = 2.0  # spacings of cells within which a point counts as the nearest known cell


def find_state(experience: TransitionCounts, place: Place, what: str = "state") -> int:
    """The code of a state.

    A point means the cell that it is in or, if no trip has been there, the known cell whose centre is
    nearest, provided that it is near. The error for an unknown place carries close matches, or says how far the nearest
    cell is.
    """
    check_kind(f"a {what} as text, a number or a point", place, PLACES, "planner.states has all names")
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


def shown_place(experience: TransitionCounts, label: Label) -> str:
    """A state as people read it: its name, and the centre of its cell, in the order in which points are given.

    >>> import fwrl
    >>> trips = {"trip": [1, 1], "time": [1, 2], "x": [4.0, 12.0], "y": [7.0, 7.0]}
    >>> planner = fwrl.fit(trips, cells=("x", "y"), cell_width=10.0)
    >>> [shown_place(planner.experience, name) for name in planner.states]
    ['0:0 (5,5)', '1:0 (15,5)']
    """
    name = visible(label)
    if experience.cells is None or experience.position is None or (code := experience.states.code(label)) is None:
        return name
    x, y = experience.position[code].tolist()
    if experience.cells.axes[0] != "x":
        return f"{name} ({y:.5f},{x:.5f})"
    decimals = max(0, 1 - math.floor(math.log10(experience.cells.spacing)))
    return f"{name} ({_coordinate(x, decimals)},{_coordinate(y, decimals)})"


def _coordinate(number: float, decimals: int) -> str:
    text = f"{number:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _shown(length: float) -> str:
    return f"{length:,.0f}" if length >= 1000 else f"{length:.3g}"


def _point(place: Place) -> tuple[float, float] | None:
    """The coordinates of a point, given as a pair or as text with a comma; None if it is none."""
    parts = place.split(",") if isinstance(place, str) else place
    try:
        one, other = (float(part) for part in parts)  # type: ignore[union-attr]
    except (TypeError, ValueError):
        return None
    return (one, other) if math.isfinite(one) and math.isfinite(other) else None


# The columns of positions, and other names that they are known by.
NAMES = {"state": (), "x": ("lon", "lng", "longitude"), "y": ("lat", "latitude")}
MEMORY = "256MB"
DECIMAL_COMMA = re.compile(r"-?\d+,(\d{1,2}|\d{4,})")  # with three digits it may be thousands


def read_positions(path: str | Path, states: Labels, columns: Mapping[str, str] | None = None) -> Floats:
    """Read (S, 2) positions of states, x and y, from a CSV, Parquet or JSON-lines file; NaN where it gives none.

    The file has the columns `state`, `x` and `y`; `lon`, `lng` or `longitude` are read as x, `lat` or `latitude` as y.
    `columns` gives other names, as `{"state": "id"}`. Decimal commas are read, too. States that the planner does not
    have are ignored.
    """
    from fwrl.planner.ingest.read_options import LogError

    try:
        return _read(path, states, columns or {})
    except LogError as error:  # names an option of logs, which positions don't have
        remedy = "save it as UTF-8" if error.option == "encoding" else "correct the file"
        raise FwrlError(f"{error.problem}; {remedy}") from error


def check_positions(positions: object, states: Labels) -> Floats:
    """(S, 2) positions that a caller gives; an error for what isn't two numbers for each state."""
    try:
        array = np.asarray(positions, np.float64)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.shape != (len(states), 2):
        raise OptionError(
            f"expected positions as an array of shape ({len(states)}, 2), got {shown(positions)}; read them with "
            "fwrl.planner.read_positions(file, planner.states)"
        )
    return array


def route_positions(route: Route, experience: TransitionCounts, positions: Floats) -> Floats:
    """(n + 1, 2) the positions of the states of a route of n steps; an error where one is unknown."""
    stops = np.array([experience.states.find(state) for state in route.states])
    way: Floats = np.asarray(positions, np.float64)[stops]
    lost = np.flatnonzero(~np.isfinite(way).all(axis=1))
    if len(lost):
        raise FwrlError(f"{route.states[lost[0]]!r} is on the route but has no position; add it to the positions")
    return way


def _read(path: str | Path, states: Labels, columns: Mapping[str, str]) -> Floats:
    from fwrl.planner.ingest.read_options import ReadOptions
    from fwrl.planner.ingest.reader import identifier, reading
    from fwrl.planner.ingest.sources import sources_of

    positions = np.full((len(states), 2), np.nan)
    codes = {str(label): code for code, label in enumerate(states)}
    with reading(MEMORY, None, "positions") as reader:
        for source in sources_of(reader.con, path, ReadOptions()):
            texts = ", ".join(f"{identifier(_column(path, source, name, columns))}::VARCHAR" for name in NAMES)
            rows = reader.con.execute(f"SELECT {texts} FROM {source.scan}").fetchall()
            point = _decimal_point(text for row in rows for text in row[1:])
            for number, (state, *texts_of_point) in enumerate(rows, start=1):
                east, north = (_number(text, point) for text in texts_of_point)
                if state is None or not (math.isfinite(east) and math.isfinite(north)):
                    got = ", ".join("nothing" if text is None else shown(text) for text in (state, *texts_of_point))
                    raise FwrlError(f"{path}, row {number}: expected a state and two finite numbers, got {got}")
                code = codes.get(state)
                if code is not None:
                    positions[code] = east, north
    if np.isnan(positions).all():
        raise FwrlError(f"{path} has no position of any state that the planner knows")
    return positions


def _decimal_point(numbers: Iterable[str | None]) -> str:
    """What stands before decimals: a comma if some number can't be read otherwise and none has a point."""
    written = [text for text in numbers if text is not None]
    commas = any(DECIMAL_COMMA.fullmatch(text.strip()) for text in written)
    return "," if commas and not any("." in text for text in written) else "."


def _number(text: str | None, point: str) -> float:
    """The number that a text writes; NaN if it writes none."""
    try:
        return math.nan if text is None else float(text.replace(point, "."))
    except ValueError:
        return math.nan


def _column(path: str | Path, source: Source, name: str, columns: Mapping[str, str]) -> str:
    """The source's column for `name`."""
    columns = {_ours(chosen): theirs for chosen, theirs in columns.items()}
    folded = {column.casefold(): column for column in source.types}
    for wanted in (columns[name],) if name in columns else (name, *NAMES[name]):
        if wanted.casefold() in folded:
            return folded[wanted.casefold()]
    missing = unknown_name("column", columns.get(name, name), source.types)
    raise FwrlError(
        f"{path}: {missing}; expected state, x and y: name them with --position-columns state=...,x=...,y=..., "
        "in Python columns={'state': ...}"
    )


def _ours(name: str) -> str:
    """Return the column for a name: `lon` is x, `lat` is y."""
    for ours, others in NAMES.items():
        if name in (ours, *others):
            return ours
    raise OptionError(str(unknown_name("column of positions", name, [*NAMES, "lon", "lat"])))
