"""Coordinates of a log as cells, in SQL: the division into cells, and the names of the cells of rows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fwrl.cells import Cells, Hexagons, SquareCells, chosen_width
from fwrl.cells.hexagons import EARTH, chosen_resolution
from fwrl.cells.square import LARGEST, QUANTILE
from fwrl.errors import FwrlError, OptionError
from fwrl.planner.ingest.columns import Choice
from fwrl.planner.ingest.expressions import Column, Expression
from fwrl.planner.ingest.number_terms import number_term
from fwrl.planner.ingest.options import CellOptions, ReadOptions
from fwrl.planner.ingest.scan import Source
from fwrl.planner.ingest.sql import listed, union_all

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LATITUDE, LONGITUDE = ("lat",), ("lon", "lng", "long")  # what names of such columns begin or end with
NAME_OF = "fwrl_hexagon"  # what DuckDB calls the function from a point to the name of its cell


class PointSource(NamedTuple):
    """A source of points, with its choice of columns and the terms for `trip` and `time` where it has visits."""

    source: Source
    choice: Choice
    terms: Mapping[str, str]


def division(
    con: DuckDBPyConnection, sources: Sequence[PointSource], options: ReadOptions, old: Cells | None
) -> Cells | None:
    """The division into cells that was asked for, or that of an older log; None where states are names."""
    if options.coordinates is None:
        if old is not None:
            raise OptionError("the states of the older logs are cells; say which columns are coordinates")
        return None
    cells = _given(options.coordinates)
    named = sources[0].choice.points["state"]
    if isinstance(cells, Hexagons) and not any(_is_longitude(column) or _named(column, LATITUDE) for column in named):
        raise OptionError(
            f"a resolution is for latitude and longitude, {named[0]!r} and {named[1]!r} are not named so; give a width "
            "of cells instead, or call the columns lat and lon"
        )
    if old is not None:
        if cells is not None and cells != old:
            raise OptionError(f"the older logs were divided into {old}, and all must be divided alike")
        return old
    return cells or _chosen(con, sources, options.decimal)


def register_names(con: DuckDBPyConnection, cells: Cells | None) -> None:
    """Let DuckDB call what `cell_term` needs."""
    if isinstance(cells, Hexagons):
        con.create_function(NAME_OF, cells.namer(), ["DOUBLE", "DOUBLE"], "VARCHAR", null_handling="special")  # type: ignore[call-overload]


def cell_term(source: Source, point: tuple[Column, Column], cells: Cells, decimal: str) -> str:
    """A term for the name of the cell of a point; NULL where a coordinate is missing."""
    one, other = (_coordinate(source, column, decimal) for column in point)
    if isinstance(cells, SquareCells):
        scaled = [f"({value} / {cells.width!r}::DOUBLE)" for value in (one, other)]
        column, row = (f"CASE WHEN abs({x}) <= {LARGEST:.0f} THEN floor({x})::BIGINT END" for x in scaled)
        return f"({column})::VARCHAR || ':' || ({row})::VARCHAR"
    if _is_longitude(point[0]):
        one, other = other, one
    return f"{NAME_OF}({one}, {other})"


def _given(given: CellOptions) -> Cells | None:
    """The division that options fix; None where it is to be chosen from the data."""
    if given.width is not None:
        return SquareCells(float(given.width))
    return None if given.resolution is None else Hexagons(given.resolution)


def _chosen(con: DuckDBPyConnection, sources: Sequence[PointSource], decimal: str) -> Cells:
    """Cells about as wide as moves are long (see `fwrl.cells.square`)."""
    on_globe = _is_on_globe(sources[0].choice.points["state"])
    lengths = union_all(_lengths(source, decimal, on_globe) for source in sources)
    length = con.execute(f"SELECT quantile_cont(length, {QUANTILE}) FROM ({lengths}) WHERE length > 0").fetchall()[0][0]
    if length is None:
        raise FwrlError("no width of cells can be chosen from the data, since no move has a length; give one")
    if not math.isfinite(length):
        raise FwrlError("coordinates are too large for a width of cells to be chosen; scale them, or give a width")
    return Hexagons(chosen_resolution(length)) if on_globe else SquareCells(chosen_width(length))


def _lengths(source: PointSource, decimal: str, on_globe: bool) -> str:
    """A query for the lengths of moves: between the points of a transition, or successive points of a trip."""
    points = source.choice.points
    columns = [*points["state"], *points.get("next_state", ())]
    coordinates = [_coordinate(source.source, column, decimal) for column in columns]
    names = [f"{coordinate} AS {name}" for name, coordinate in zip("xyuv", coordinates, strict=False)]
    if "next_state" in points:
        pairs = f"SELECT {listed(names)} FROM {source.source.scan}"
    else:
        names += [f"{source.terms[name]} AS {name}" for name in ("trip", "time")]
        pairs = (
            f"SELECT x, y, lead(x) OVER w AS u, lead(y) OVER w AS v FROM (SELECT {listed(names)} FROM "
            f"{source.source.scan}) WINDOW w AS (PARTITION BY trip ORDER BY time, x, y)"
        )
    if not on_globe:
        return f"SELECT sqrt((u - x) * (u - x) + (v - y) * (v - y)) AS length FROM ({pairs})"
    lat, lon, to_lat, to_lon = ("y", "x", "v", "u") if _is_longitude(points["state"][0]) else ("x", "y", "u", "v")
    half = (
        f"pow(sin(radians({to_lat} - {lat}) / 2), 2) + cos(radians({lat})) * cos(radians({to_lat})) * "
        f"pow(sin(radians({to_lon} - {lon}) / 2), 2)"
    )
    # Of a trip's last point the half is NULL, which least() alone would take for 1.
    return f"SELECT {2 * EARTH} * asin(sqrt(CASE WHEN {half} > 1 THEN 1 ELSE {half} END)) AS length FROM ({pairs})"


def _coordinate(source: Source, column: Column, decimal: str) -> str:
    """A term for a coordinate; NULL where it is missing or not finite."""
    number = number_term(source, Expression((column,), column), "a coordinate", decimal)
    return f"CASE WHEN isfinite({number}) THEN {number} END"


def _is_on_globe(point: tuple[Column, Column]) -> bool:
    """Whether columns are named as latitude and longitude."""
    return any(_is_longitude(column) for column in point) and any(_named(column, LATITUDE) for column in point)


def _is_longitude(column: str) -> bool:
    return _named(column, LONGITUDE)


def _named(column: str, words: tuple[str, ...]) -> bool:
    """Whether a column's name, or a part of it, begins with one of the words."""
    parts = column.casefold().replace("-", "_").replace(".", "_").replace(" ", "_").split("_")
    return any(part.startswith(words) for part in parts)
