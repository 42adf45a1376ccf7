"""Times of a log, as whole numbers: as they are, in millionths, or in microseconds (see `experience`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fwrl.errors import FwrlError
from fwrl.planner.experience import MILLION, TimeKind
from fwrl.planner.ingest.sources import INTEGERS, Source, named

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LARGEST = (2**63 - 1) // MILLION  # time in size that can be kept in millionths


def time_kind(con: DuckDBPyConnection, part: Source, choice: Mapping[str, str]) -> TimeKind | None:
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
        if 2 * max(number, stamp) > n or n == 0:  # the others are bad rows
            return "timestamp" if stamp > number else "integer" if whole == number else "number"
    raise FwrlError(f"expected numbers or dates as time, column {column!r} of {part.name} is neither ({type_})")


def mixed_times(times: list[TimeKind | None]) -> TimeKind:
    """What times are that are whole numbers in one part and not in another."""
    if "timestamp" in times:
        raise FwrlError("expected times that can be compared; some are dates and some are numbers")
    return "number"


def time_value(part: Source, column: str, own: TimeKind | None, time: TimeKind | None) -> str:
    """A term for the time in `column`, which is `own` in this part and `time` in all of the log."""
    type_, value = part.types[column], named(column)
    if part.is_text:
        value = f"nullif({value}, '')"  # not the bare column: DuckDB would cast while it reads, and fail there
    if own == "timestamp":
        return f"epoch_us({_stamp(value, type_)})"
    if time == "integer":
        return value if type_ == "BIGINT" else f"try_cast({value} AS BIGINT)"
    if own == "integer":
        return f"try_cast(try_cast({value} AS HUGEINT) * {MILLION} AS BIGINT)"
    rounded = f"try_cast(round(try_cast({value} AS DOUBLE) * {MILLION}) AS BIGINT)"
    if not part.is_text:
        return rounded
    # Digits are taken as they stand, as they would be where all times are whole; only what is written otherwise is not.
    return f"coalesce(try_cast(try_cast({value} AS DECIMAL(24, 6)) * {MILLION}::DECIMAL(7) AS BIGINT), {rounded})"


def _stamp(value: str, type_: str) -> str:
    """A term for a moment: with an offset, or else in UTC."""
    if type_ in ("VARCHAR", "DATE"):
        return f"try_cast({value} AS TIMESTAMPTZ)"
    return f"{value}::TIMESTAMPTZ" if type_ == "TIMESTAMPTZ_NS" else value  # of these epoch_us() knows nothing


def span_of(part: Source, column: str, own: TimeKind | None, time: TimeKind | None) -> str:
    """A query for the first and the last time of a part, and whether rows have none; `{scan}` as in `Log.selects`.

    Of a bare column DuckDB knows them from the statistics of a Parquet file without reading it.
    """
    value, type_, bare = time_value(part, column, own, time), part.types[column], named(column)
    low, high, untimed = f"min({value})", f"max({value})", f"count(*) - count({value})"
    if type_.startswith("TIMESTAMP"):
        first, last = (_stamp(f"{which}({bare})", type_) for which in ("min", "max"))
        low, high, endless = f"epoch_us({first})", f"epoch_us({last})", f"isinf({first}) OR isinf({last})"
        untimed = f"count(*) - count({bare}) + coalesce({endless}, false)::INTEGER"
    return f"SELECT {low} AS low, {high} AS high, {untimed} AS untimed FROM {{scan}}"
