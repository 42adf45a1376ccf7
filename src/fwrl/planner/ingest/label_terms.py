"""Labels of a log in SQL: what they are, and the terms for them.

Labels are integers or text. A column of integers with gaps often arrives as floats: labels 1.0 and 2.0 are the integers
1 and 2, provided that all labels of the column are whole. Integers beyond 64 signed bits are kept as text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from fwrl.errors import FwrlError
from fwrl.planner.ingest.expressions import Column, Expression
from fwrl.planner.ingest.scan import INTEGERS, SIGNED, Source
from fwrl.planner.ingest.sql import identifier

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LabelKind = Literal["integer", "text", "undecided"]  # undecided: text that may turn out to be integers
TEXTS = ("VARCHAR", "UUID", "DATE", "JSON")
FLOATS = ("FLOAT", "DOUBLE")
LARGEST = 2**63 - 1
EXACT = 2**53  # integers up to which floats are exact
SAMPLED = 1000  # rows of a CSV file that tell whether labels look like floats
WHOLE = r"^-?\d+\.0$"


class LabelTerm(NamedTuple):
    """What the labels of a column are in one source, and the SQL term for them."""

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
        return LabelTerm("text" if largest is not None and largest > LARGEST else "integer", value)
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
    """What labels are that come partly from one column, partly from another."""
    if "text" in kinds:
        return "text"
    return kinds[0] if len(set(kinds)) == 1 else "undecided"
