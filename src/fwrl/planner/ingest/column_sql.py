"""The columns of a log in SQL: numbers, flags, labels and cells.

Labels are integers or text. A column of integers with gaps often arrives as floats: labels 1.0 and 2.0 are the integers
1 and 2, provided that all labels of the column are whole. Integers beyond 64 signed bits are kept as text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from fwrl.cells import EARTH, QUANTILE, Cells, Hexagons, SquareCells, chosen_resolution, chosen_width
from fwrl.cells import LARGEST as LARGEST_CELL
from fwrl.errors import FwrlError, OptionError
from fwrl.planner.ingest.columns import Choice, Column, Expression
from fwrl.planner.ingest.read_options import ReadOptions
from fwrl.planner.ingest.reader import INTEGERS, SIGNED, Source, identifier, listed, quoted, union_all, when

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


NUMBERS = ("reward", "count", "best")


@dataclass(frozen=True)
class Selection:
    """The columns of a log from one source."""

    source: Source
    choice: Choice
    terms: Mapping[str, str]  # the SQL term for each column of the log

    def rows(self, part: bool = False) -> str:
        """A query for all rows; with the column `part` (see `Source.part`) if that is asked for."""
        columns = [f"{term} AS {name}" for name, term in self.terms.items()]
        return f"SELECT {listed([*columns, *when(part, f'{self.source.part} AS part')])} FROM {self.source.scan}"

    def written_rows(self, files: Iterable[str] | None) -> str:
        """A query for the rows of some files, or all, with what is written in them as `written_` columns."""
        scan = self.source.scan if files is None else self.source.scan_of(files)
        columns = [f"{term} AS {name}" for name, term in self.terms.items()]
        of_names = {name: expression.columns for name, expression in self.choice.columns.items()}
        of_names |= {name: list(point) for name, point in self.choice.points.items()}
        for name, of_name in of_names.items():
            written = f"nullif(concat_ws(' ', {listed(f'{identifier(column)}::VARCHAR' for column in of_name)}), '')"
            text = self.choice.columns[name].text if name in self.choice.columns else ""
            if name in NUMBERS and "/" in text:  # numbers may give none when they are divided: show the expression, too
                written = f"{quoted(f'{text} of ')} || {written}"
            columns.append(f"{written} AS written_{name}")
        return f"SELECT {listed(columns)} FROM {scan}"


def number_term(source: Source, expression: Expression, name: str, decimal: str) -> str:
    """A term for the number that an expression gives as `name`; NULL if it is none."""
    return expression.sql(lambda column: _number(source, column, name, decimal))


def _number(source: Source, column: Column, name: str, decimal: str) -> str:
    type_ = source.types[column]
    if type_ not in ("VARCHAR", "FLOAT", "DOUBLE", *INTEGERS) and not type_.startswith("DECIMAL"):
        raise FwrlError(f"expected numbers as {name}, column {column!r} of {source.name} is {type_}")
    return f"try_cast({number_text(source, column, decimal)} AS DOUBLE)"


def number_text(source: Source, column: str, decimal: str) -> str:
    """A term for a column that holds numbers, with a decimal point where it is text."""
    if source.types[column] != "VARCHAR":
        return identifier(column)
    # Not the bare column of CSV: DuckDB would cast while it reads, and fail there.
    value = f"nullif({identifier(column)}, '')"
    # A point could separate thousands there, or be a typo, so don't read such text as a number.
    return f"CASE WHEN NOT contains({value}, '.') THEN replace({value}, ',', '.') END" if decimal == "," else value


TRUE, FALSE = ("1", "1.0", "true"), ("0", "0.0", "false")  # text; integers with gaps may arrive as 1.0
FLAG_WANTED = "0 or 1, or false or true,"


def flag_term(source: Source, column: Column, name: str) -> str:
    """A term for the flag in a column; NULL if it is none."""
    type_, value = source.types[column], identifier(column)
    if type_ == "BOOLEAN":
        return value
    if type_ == "VARCHAR":
        text = f"lower(trim({value}))"
        return f"CASE WHEN {text} IN {TRUE} THEN true WHEN {text} IN {FALSE} THEN false END"
    if type_ in ("FLOAT", "DOUBLE", *INTEGERS) or type_.startswith("DECIMAL"):
        return f"CASE {value} WHEN 1 THEN true WHEN 0 THEN false END"
    raise FwrlError(f"expected {FLAG_WANTED} as {name}, column {column!r} of {source.name} is {type_}")


LabelKind = Literal["integer", "text", "undecided"]  # undecided: text that may turn out to be integers
TEXTS = ("VARCHAR", "UUID", "DATE", "JSON")
FLOATS = ("FLOAT", "DOUBLE")
LARGEST_LABEL = 2**63 - 1
EXACT = 2**53  # integers up to which floats are exact
SAMPLED = 1000  # rows of a CSV file that tell whether labels look like floats
WHOLE = r"^-?\d+\.0$"


class LabelTerm(NamedTuple):
    """Return the kind of labels of a column in one source, and the SQL term for them."""

    kind: LabelKind
    sql: str

    def of_kind(self, kind: LabelKind) -> str:
        """The term for labels that are of `kind` in the whole log."""
        return f"try_cast({self.sql} AS BIGINT)" if kind == "integer" else f"{self.sql}::VARCHAR"


def label_term(
    con: DuckDBPyConnection, source: Source, expression: Expression, name: str, whole_floats: bool
) -> LabelTerm:
    """The labels that an expression gives as column `name` of the log; see `are_whole_floats`."""
    columns = expression.columns
    if len(columns) == 1:
        return _column_term(con, source, columns[0], name, whole_floats)
    parts = (_escaped(_column_term(con, source, column, name, False).sql) for column in columns)
    return LabelTerm("text", f"({' || chr(43) || '.join(parts)})")  # 43 is the plus sign


def _escaped(value: str) -> str:
    """A part of a composite label: plus signs in it are marked, so that different parts give different labels."""
    return f"replace(replace(nullif({value}::VARCHAR, ''), '\\', '\\\\'), '+', '\\+')"


def _column_term(con: DuckDBPyConnection, source: Source, column: Column, name: str, whole_floats: bool) -> LabelTerm:
    type_, value = source.types[column], identifier(column)
    if source.is_text:
        return LabelTerm("undecided", f"regexp_replace({value}, '\\.0$', '')" if whole_floats else value)
    if type_ in SIGNED:
        return LabelTerm("integer", value)
    if type_ in INTEGERS:
        largest = con.execute(f"SELECT max({value}) FROM {source.scan}").fetchall()[0][0]
        return LabelTerm("text" if largest is not None and largest > LARGEST_LABEL else "integer", value)
    if type_ in FLOATS:
        _check_whole(con, source, column, name)
        return LabelTerm("integer", f"try_cast({value} AS BIGINT)")
    if type_ in TEXTS or type_.startswith(("ENUM", "TIMESTAMP")):
        return LabelTerm("text", value)
    raise FwrlError(f"expected strings or integers as {name}, column {column!r} of {source.name} is {type_}")


def are_whole_floats(con: DuckDBPyConnection, columns: list[tuple[Source, Expression]]) -> bool:
    """Whether labels in text are whole numbers, of which some are written as floats: 1.0 is the integer 1 then."""
    texts = [(source, found.columns[0]) for source, found in columns if source.is_text and len(found.columns) == 1]
    if len(texts) < len(columns):
        return False
    some = False
    for source, column in texts:
        head = f"(SELECT {identifier(column)} AS label FROM {source.scan} LIMIT {SAMPLED})"
        some |= bool(con.execute(f"SELECT bool_or(regexp_matches(label, '{WHOLE}')) FROM {head}").fetchall()[0][0])
    return some and all(_all_whole(con, source, identifier(column)) for source, column in texts)


def _all_whole(con: DuckDBPyConnection, source: Source, value: str) -> bool:
    whole = f"regexp_matches({value}, '{WHOLE}') OR try_cast({value} AS BIGINT)::VARCHAR = {value}"
    return con.execute(f"SELECT bool_and({whole}) FROM {source.scan}").fetchall()[0][0] is not False


def _check_whole(con: DuckDBPyConnection, source: Source, column: Column, name: str) -> None:
    """Refuse floats as labels unless all are whole; the message names the first that is not."""
    value = identifier(column)
    con.execute("SET preserve_insertion_order=true")
    rows = con.execute(
        f"SELECT number, value FROM (SELECT row_number() OVER () AS number, {value} AS value FROM {source.scan}) "
        f"WHERE NOT isnan(value) AND (value <> floor(value) OR abs(value) > {EXACT}) ORDER BY number LIMIT 1"
    ).fetchall()
    con.execute("SET preserve_insertion_order=false")
    if rows:
        number, wrong = rows[0]
        raise FwrlError(
            f"expected strings or integers as {name}, column {column!r} of {source.name} has {wrong:g} in row "
            f"{number:,}"
        )


def joint_kind(kinds: list[LabelKind]) -> LabelKind:
    """Return the common kind of labels from two columns."""
    if "text" in kinds:
        return "text"
    return kinds[0] if len(set(kinds)) == 1 else "undecided"


LATITUDE, LONGITUDE = ("lat",), ("lon", "lng", "long")  # what names of such columns begin or end with
NAME_OF = "fwrl_hexagon"  # what DuckDB calls the function from a point to the name of its cell


def division(
    con: DuckDBPyConnection, sources: Sequence[Selection], options: ReadOptions, old: Cells | None
) -> Cells | None:
    """The division into cells that was asked for, or that of an older log; None if states are names."""
    if options.cells is None:
        if old is not None:
            raise OptionError("the states of the older logs are cells; say which columns are coordinates")
        return None
    cells = _given(options)
    named = sources[0].choice.points["state"]
    if isinstance(cells, Hexagons) and not any(_is_longitude(column) or _named(column, LATITUDE) for column in named):
        raise OptionError(
            f"a resolution is for latitude and longitude, but {named[0]!r} and {named[1]!r} don't look like them; "
            "give a width of cells instead, or call the columns lat and lon"
        )
    if old is not None:
        if cells is not None and cells != old:
            raise OptionError(f"the older logs were divided into {old}, so divide these the same way")
        return old
    return cells or _chosen(con, sources, options.decimal)


def register_names(con: DuckDBPyConnection, cells: Cells | None) -> None:
    """Let DuckDB call what `cell_term` needs."""
    if isinstance(cells, Hexagons):
        con.create_function(NAME_OF, cells.namer(), ["DOUBLE", "DOUBLE"], "VARCHAR", null_handling="special")  # type: ignore[call-overload]


def cell_term(source: Source, point: tuple[Column, Column], cells: Cells, decimal: str) -> str:
    """A term for the name of the cell of a point; NULL if a coordinate is missing."""
    one, other = (_coordinate(source, column, decimal) for column in point)
    if isinstance(cells, SquareCells):
        scaled = [f"({value} / {cells.width!r}::DOUBLE)" for value in (one, other)]
        column, row = (f"CASE WHEN abs({x}) <= {LARGEST_CELL:.0f} THEN floor({x})::BIGINT END" for x in scaled)
        return f"({column})::VARCHAR || ':' || ({row})::VARCHAR"
    if _is_longitude(point[0]):
        one, other = other, one
    return f"{NAME_OF}({one}, {other})"


def _given(options: ReadOptions) -> Cells | None:
    """The division that options fix; None if it is to be chosen from the data."""
    if options.cell_width is not None:
        return SquareCells(float(options.cell_width))
    return None if options.resolution is None else Hexagons(options.resolution)


def _chosen(con: DuckDBPyConnection, sources: Sequence[Selection], decimal: str) -> Cells:
    """Cells about as wide as moves are long (see `fwrl.cells`)."""
    on_globe = _is_on_globe(sources[0].choice.points["state"])
    lengths = union_all(_lengths(source, decimal, on_globe) for source in sources)
    length = con.execute(f"SELECT quantile_cont(length, {QUANTILE}) FROM ({lengths}) WHERE length > 0").fetchall()[0][0]
    if length is None:
        raise FwrlError("no width of cells can be chosen from the data, since no move has a length; give one")
    if not math.isfinite(length):
        raise FwrlError("coordinates are too large for a width of cells to be chosen; scale them, or give a width")
    return Hexagons(chosen_resolution(length)) if on_globe else SquareCells(chosen_width(length))


def _lengths(source: Selection, decimal: str, on_globe: bool) -> str:
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
    """A term for a coordinate; NULL if it is missing or not finite."""
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
