"""Times of a log, as whole numbers: as they are, in millionths, or in microseconds (see `experience`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fwrl.errors import FwrlError
from fwrl.planner.experience import MILLION, TimeKind
from fwrl.planner.parts import INTEGERS, Part, named

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LARGEST = (2**63 - 1) // MILLION  # time in size that can be kept in millionths


def time_kind(con: DuckDBPyConnection, part: Part, choice: Mapping[str, str]) -> TimeKind | None:
    """What the times of a part are; None where it has none."""
    if "time" not in choice:
        return None
    column = choice["time"]
    type_ = part.types[column]
    if type_ in INTEGERS:
        return "integer"
    if type_ in ("FLOAT", "DOUBLE") or type_.startswith("DECIMAL"):
        return "number"
    if type_.startswith("TIMESTAMP") or type_ == "DATE":
        return "timestamp"
    if type_ == "VARCHAR":
        # All of them: one time that is no whole number, however late, makes the others numbers as well. What reads
        # back as itself is whole; DuckDB would round what is not.
        some = f"(SELECT nullif({named(column)}, '') AS t FROM {part.scan})"
        whole, number, stamp, n = con.execute(
            "SELECT count(*) FILTER (try_cast(t AS BIGINT)::VARCHAR = t), "
            "count(*) FILTER (isfinite(try_cast(t AS DOUBLE))), "
            f"count(*) FILTER (isfinite(try_cast(t AS TIMESTAMPTZ))), count(t) FROM {some}"
        ).fetchall()[0]
        if 2 * max(number, stamp) > n:  # the others are bad rows
            return "timestamp" if stamp > number else "integer" if whole == number else "number"
    raise FwrlError(f"expected numbers or dates as time, column {column!r} of {part.name} is neither ({type_})")


def mixed_times(times: list[TimeKind | None]) -> TimeKind:
    """What times are that are whole numbers in one part and not in another."""
    if "timestamp" in times:
        raise FwrlError("expected times that can be compared; some are dates and some are numbers")
    return "number"


def time_value(part: Part, column: str, own: TimeKind | None, time: TimeKind | None) -> str:
    """A term for the time in `column`, which is `own` in this part and `time` in all of the log."""
    type_, value = part.types[column], named(column)
    if part.is_text:
        value = f"nullif({value}, '')"  # not the bare column: DuckDB would cast while it reads, and fail there
    if own == "timestamp":  # with an offset, or else in UTC
        return f"epoch_us(try_cast({value} AS TIMESTAMPTZ))" if type_ in ("VARCHAR", "DATE") else f"epoch_us({value})"
    if time == "integer":
        return value if type_ == "BIGINT" else f"try_cast({value} AS BIGINT)"
    if own == "integer":
        return f"try_cast(try_cast({value} AS HUGEINT) * {MILLION} AS BIGINT)"
    return f"try_cast(round(try_cast({value} AS DOUBLE) * {MILLION}) AS BIGINT)"


def span_of(part: Part, column: str, own: TimeKind | None, time: TimeKind | None) -> str:
    """A query for the first and the last time of a part, and how many rows have none; `{scan}` as in `Log.selects`.

    Of a bare column DuckDB knows them from the statistics of a Parquet file without reading it.
    """
    value = time_value(part, column, own, time)
    low, high, timed = f"min({value})", f"max({value})", value
    if part.types[column].startswith("TIMESTAMP"):
        low, high, timed = (f"epoch_us(min({named(column)}))", f"epoch_us(max({named(column)}))", named(column))
    return f"SELECT {low} AS low, {high} AS high, count(*) - count({timed}) AS untimed FROM {{scan}}"
