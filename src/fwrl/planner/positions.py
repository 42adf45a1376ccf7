"""Positions of states, for pictures and for the nearest states where there is no route."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fwrl.arrays import Floats
from fwrl.errors import FwrlError, OptionError, unknown_name
from fwrl.planner.experience import Experience
from fwrl.planner.ingest.attempts import read_in_some_way
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.reader import reading
from fwrl.planner.ingest.scan import Source
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.ingest.sql import identifier
from fwrl.planner.labels import Labels
from fwrl.planner.route import Route

# The columns of positions, and other names that they are known by.
NAMES = {"state": (), "x": ("lon", "lng", "longitude"), "y": ("lat", "latitude")}
MEMORY = "256MB"


def read_positions(path: str | Path, states: Labels, columns: Mapping[str, str] | None = None) -> Floats:
    """Read the positions of states from a file.

    Args:
        path: A CSV, Parquet or JSON-lines file with the columns `state`, `x` and `y`; `lon`, `lng` or `longitude` are
            read as x, `lat` or `latitude` as y. States that the planner does not have are ignored.
        states: The labels of the planner's states, `planner.states`.
        columns: The file's own names for columns, as `{"state": "id"}`.

    Returns:
        (S, 2) x and y of each state, NaN where the file gives none.

    """
    return read_in_some_way(lambda options: _read(path, states, columns or {}, options), ReadOptions())


def route_positions(route: Route, experience: Experience, positions: Floats) -> Floats:
    """(n + 1, 2) the positions of the states of a route of n steps; an error where one is unknown."""
    stops = np.array([experience.states.find(state) for state in route.states])
    way: Floats = np.asarray(positions, np.float64)[stops]
    lost = np.flatnonzero(~np.isfinite(way).all(axis=1))
    if len(lost):
        raise FwrlError(f"{route.states[lost[0]]!r} is on the route but has no position; add it to the positions")
    return way


def _read(path: str | Path, states: Labels, columns: Mapping[str, str], options: ReadOptions) -> Floats:
    positions = np.full((len(states), 2), np.nan)
    codes = {str(label): code for code, label in enumerate(states)}
    with reading(MEMORY, None, "positions") as reader:
        for source in sources_of(reader.con, path, options):
            label, x, y = (identifier(_column(path, source, name, columns)) for name in NAMES)
            rows = reader.con.execute(
                f"SELECT {label}::VARCHAR, try_cast({x} AS DOUBLE), try_cast({y} AS DOUBLE) FROM {source.scan}"
            ).fetchall()
            for number, (state, east, north) in enumerate(rows, start=1):
                if state is None or east is None or north is None or not (math.isfinite(east) and math.isfinite(north)):
                    raise FwrlError(f"{path}, row {number}: expected a state and two finite numbers")
                code = codes.get(state)
                if code is not None:
                    positions[code] = east, north
    if np.isnan(positions).all():
        raise FwrlError(f"{path} has no position of any state that the planner knows")
    return positions


def _column(path: str | Path, source: Source, name: str, columns: Mapping[str, str]) -> str:
    """The source's column for `name`."""
    for chosen in columns:
        if chosen not in NAMES:
            raise OptionError(str(unknown_name("column of positions", chosen, NAMES)))
    folded = {column.casefold(): column for column in source.types}
    for wanted in (columns[name],) if name in columns else (name, *NAMES[name]):
        if wanted.casefold() in folded:
            return folded[wanted.casefold()]
    missing = unknown_name("column", columns.get(name, name), source.types)
    raise FwrlError(f"{path}: {missing}; expected state, x and y")
