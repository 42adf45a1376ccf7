"""Flags of a log in SQL: 0 or 1, or true or false in upper or lower case."""

from __future__ import annotations

from fwrl.errors import FwrlError
from fwrl.planner.ingest.expressions import Column
from fwrl.planner.ingest.scan import INTEGERS, Source
from fwrl.planner.ingest.sql import identifier

TRUE, FALSE = ("1", "1.0", "true"), ("0", "0.0", "false")  # text; integers with gaps may arrive as 1.0
WANTED = "0 or 1, or false or true,"


def flag_term(source: Source, column: Column, name: str) -> str:
    """A term for the flag in a column; NULL where it is none."""
    type_, value = source.types[column], identifier(column)
    if type_ == "BOOLEAN":
        return value
    if type_ == "VARCHAR":
        text = f"lower(trim({value}))"
        return f"CASE WHEN {text} IN {TRUE} THEN true WHEN {text} IN {FALSE} THEN false END"
    if type_ in ("FLOAT", "DOUBLE", *INTEGERS) or type_.startswith("DECIMAL"):
        return f"CASE {value} WHEN 1 THEN true WHEN 0 THEN false END"
    raise FwrlError(f"expected {WANTED} as {name}, column {column!r} of {source.name} is {type_}")
