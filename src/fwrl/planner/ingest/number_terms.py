"""Numbers of a log in SQL: rewards, costs, counts and coordinates."""

from __future__ import annotations

from fwrl.errors import FwrlError
from fwrl.planner.ingest.expressions import Column, Expression
from fwrl.planner.ingest.scan import INTEGERS, Source
from fwrl.planner.ingest.sql import identifier


def number_term(source: Source, expression: Expression, name: str, decimal: str) -> str:
    """A term for the number that an expression gives as `name`; NULL where it is none."""
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
    # A point would separate thousands there, or be a slip: such text is no number.
    return f"CASE WHEN NOT contains({value}, '.') THEN replace({value}, ',', '.') END" if decimal == "," else value
