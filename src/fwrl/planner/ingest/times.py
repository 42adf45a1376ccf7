"""Times of a log as integers: unchanged, in millionths, or in microseconds since 1970 (see `experience`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fwrl.errors import FwrlError
from fwrl.planner.experience import MILLION, TimeKind
from fwrl.planner.ingest.scan import INTEGERS, Source
from fwrl.planner.ingest.sql import identifier

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LARGEST = (2**63 - 1) // MILLION  # absolute time that fits into 64 bits in millionths


def time_kind(con: DuckDBPyConnection, source: Source, choice: Mapping[str, str]) -> TimeKind | None:
    """What the times of a source are; None where it has none."""
    if "time" not in choice:
        return None
    column = choice["time"]
    type_ = source.types[column]
    if type_ in INTEGERS:
        return "integer"
    if type_ in ("FLOAT", "DOUBLE") or type_.startswith("DECIMAL"):
        return "number"
    if type_.startswith("TIMESTAMP") or type_ == "DATE":
        return "timestamp"
    if type_ == "VARCHAR":
        # Reads the whole column: one time that is not an integer makes all of them numbers. Integers are told by
        # their text, because DuckDB's cast would round other numbers.
        texts = f"(SELECT nullif({identifier(column)}, '') AS t FROM {source.scan})"
        whole, number, stamp, n = con.execute(
            "SELECT count(*) FILTER (try_cast(t AS BIGINT)::VARCHAR = t), "
            "count(*) FILTER (isfinite(try_cast(t AS DOUBLE))), "
            f"count(*) FILTER (isfinite(try_cast(t AS TIMESTAMPTZ))), count(t) FROM {texts}"
        ).fetchall()[0]
        if 2 * max(number, stamp) > n or n == 0:  # the others are bad rows
            return "timestamp" if stamp > number else "integer" if whole == number else "number"
    raise FwrlError(f"expected numbers or dates as time, column {column!r} of {source.name} holds neither ({type_})")


def mixed_times(times: list[TimeKind | None]) -> TimeKind:
    """What times are that are integers in one source and not in another."""
    if "timestamp" in times:
        raise FwrlError("some times of the log are dates and some are numbers; write them all alike")
    return "number"


def time_term(source: Source, column: str, own: TimeKind | None, time: TimeKind | None) -> str:
    """A term for the time in `column`, which is `own` in this source and `time` in the whole log."""
    type_, value = source.types[column], identifier(column)
    if source.is_text:
        value = f"nullif({value}, '')"  # not the bare column: DuckDB would cast while it reads, and fail there
    if own == "timestamp":
        return f"epoch_us({_stamp(value, type_)})"
    if time == "integer":
        return value if type_ == "BIGINT" else f"try_cast({value} AS BIGINT)"
    if own == "integer":
        return f"try_cast(try_cast({value} AS HUGEINT) * {MILLION} AS BIGINT)"
    rounded = f"try_cast(round(try_cast({value} AS DOUBLE) * {MILLION}) AS BIGINT)"
    if not source.is_text:
        return rounded
    # Decimal text is read exactly, as integers are; only other notations (1e3) are rounded.
    return f"coalesce(try_cast(try_cast({value} AS DECIMAL(24, 6)) * {MILLION}::DECIMAL(7) AS BIGINT), {rounded})"


def _stamp(value: str, type_: str) -> str:
    """A term for a moment: with an offset, or else in UTC."""
    if type_ in ("VARCHAR", "DATE"):
        return f"try_cast({value} AS TIMESTAMPTZ)"
    return f"{value}::TIMESTAMPTZ" if type_ == "TIMESTAMPTZ_NS" else value  # which epoch_us() does not take


def span_terms(source: Source, column: str, own: TimeKind | None, time: TimeKind | None) -> tuple[str, str, str]:
    """Terms for bounds on the times of a source, and for the number of rows without a time.

    DuckDB reads the bounds of a bare column from the statistics of a Parquet file, without reading its rows.
    """
    type_ = source.types[column]
    if not type_.startswith("TIMESTAMP"):
        value = time_term(source, column, own, time)
        return f"min({value})", f"max({value})", f"count(*) - count({value})"
    bare = identifier(column)
    first, last = (_stamp(f"{bound}({bare})", type_) for bound in ("min", "max"))
    infinite = f"coalesce(isinf({first}) OR isinf({last}), false)::INTEGER"
    return f"epoch_us({first})", f"epoch_us({last})", f"count(*) - count({bare}) + {infinite}"
