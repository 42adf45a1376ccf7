"""Times of a log as integers: unchanged, in millionths, or in microseconds since 1970 (see `experience`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fwrl.errors import FwrlError
from fwrl.planner.experience import MILLION, TimeKind
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.number_terms import number_text
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.scan import INTEGERS, Source
from fwrl.planner.ingest.sql import identifier, listed, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LARGEST = (2**63 - 1) // MILLION  # absolute time that fits into 64 bits in millionths
DATES = {"day-first": "%d{0}%m{0}", "month-first": "%m{0}%d{0}"}
YEARS = ("%y", "%Y")  # two digits first: four would take them for a year of the first century
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
DATE_LIKE = r"^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b"


class TimeColumn(NamedTuple):
    """The column of times of a source.

    Attributes:
        source: The source.
        column: Its column.
        dates: Formats of dates in text; none where they are written as in ISO 8601.
        decimal: What stands before the decimals of numbers in text.

    """

    source: Source
    column: str
    dates: tuple[str, ...]
    decimal: str

    @property
    def type(self) -> str:
        """DuckDB's type of it."""
        return self.source.types[self.column]

    @property
    def value(self) -> str:
        """A term for what is written there; of a number in text, with a decimal point."""
        if self.dates or not self.source.is_text:
            return identifier(self.column)
        return number_text(self.source, self.column, self.decimal)

    def stamp(self, value: str) -> str:
        """A term for the moment that `value` is: with an offset, or else in UTC."""
        if self.type == "VARCHAR" and self.dates:
            return f"try_strptime({value}, [{listed(map(quoted, self.dates))}])::TIMESTAMPTZ"
        if self.type in ("VARCHAR", "DATE"):
            return f"try_cast({value} AS TIMESTAMPTZ)"
        return f"{value}::TIMESTAMPTZ" if self.type == "TIMESTAMPTZ_NS" else value  # which epoch_us() does not take


def time_column(source: Source, column: str, options: ReadOptions) -> TimeColumn:
    """The column of times of a source."""
    return TimeColumn(source, column, _formats(options.dates), options.decimal)


def _formats(dates: str | None) -> tuple[str, ...]:
    """The formats of dates that a word or a format stands for."""
    if dates is None:
        return ()
    if "%" in dates:
        return (dates,)
    if dates not in DATES:
        raise FwrlError(
            f"expected dates to be one of {', '.join(DATES)}, or a format such as '%d.%m.%y %H:%M', got {dates!r}"
        )
    return tuple(DATES[dates].format(by) + year + clock for year in YEARS for by in "/.-" for clock in CLOCKS)


def time_kind(con: DuckDBPyConnection, time: TimeColumn) -> TimeKind | None:
    """What the times of a source are; None where it has none."""
    type_, source = time.type, time.source
    if type_ in INTEGERS:
        return "integer"
    if type_ in ("FLOAT", "DOUBLE") or type_.startswith("DECIMAL"):
        return "number"
    if type_.startswith("TIMESTAMP") or type_ == "DATE":
        return "timestamp"
    if type_ == "VARCHAR":
        # Reads the whole column: one time that is not an integer makes all of them numbers. Integers are told by
        # their text, because DuckDB's cast would round other numbers.
        texts = f"(SELECT nullif({time.value}, '') AS t, {identifier(time.column)} AS written FROM {source.scan})"
        whole, number, stamp, date_like, n = con.execute(
            "SELECT count(*) FILTER (try_cast(t AS BIGINT)::VARCHAR = t), "
            "count(*) FILTER (isfinite(try_cast(t AS DOUBLE))), "
            f"count(*) FILTER (isfinite({time.stamp('written')})), "
            f"count(*) FILTER (regexp_matches(written, {quoted(DATE_LIKE)})), count(written) FROM {texts}"
        ).fetchall()[0]
        if n == 0:
            return None
        if 2 * max(number, stamp) > n:  # the others are bad rows
            return "timestamp" if stamp > number else "integer" if whole == number else "number"
        if date_like:
            column = f"column {str(time.column)!r} of {source.name}"
            raise LogError(f"the times in {column} may be dates with the day or the month first", "dates")
    raise FwrlError(
        f"expected numbers or dates as time, column {str(time.column)!r} of {source.name} holds neither ({type_})"
    )


def joint_times(several: list[TimeKind | None]) -> TimeKind:
    """What times are that may be integers in one source and not in another."""
    times = {kind for kind in several if kind is not None} or {"integer"}
    if len(times) == 1:
        return times.pop()
    if "timestamp" in times:
        raise FwrlError("some times of the log are dates and some are numbers; write them all alike")
    return "number"


def time_term(time: TimeColumn, own: TimeKind | None, whole: TimeKind) -> str:
    """A term for times that are `own` in this source and `whole` in the whole log."""
    value = time.value
    if own is None:
        return "NULL::BIGINT"
    if own == "timestamp":
        # Not the bare column of CSV: DuckDB would cast while it reads, and fail there.
        written = f"nullif({identifier(time.column)}, '')" if time.source.is_text else identifier(time.column)
        return f"epoch_us({time.stamp(written)})"
    if whole == "integer":
        return value if time.type == "BIGINT" else f"try_cast({value} AS BIGINT)"
    if own == "integer":
        return f"try_cast(try_cast({value} AS HUGEINT) * {MILLION} AS BIGINT)"
    rounded = f"try_cast(round(try_cast({value} AS DOUBLE) * {MILLION}) AS BIGINT)"
    if not time.source.is_text:
        return rounded
    # Decimal text is read exactly, as integers are; only other notations (1e3) are rounded.
    return f"coalesce(try_cast(try_cast({value} AS DECIMAL(24, 6)) * {MILLION}::DECIMAL(7) AS BIGINT), {rounded})"


def span_terms(time: TimeColumn, own: TimeKind | None, whole: TimeKind) -> tuple[str, str, str]:
    """Terms for bounds on the times of a source, and for the number of rows without a time.

    DuckDB reads the bounds of a bare column from the statistics of a Parquet file, without reading its rows.
    """
    if not time.type.startswith("TIMESTAMP"):
        value = time_term(time, own, whole)
        return f"min({value})", f"max({value})", f"count(*) - count({value})"
    bare = identifier(time.column)
    first, last = (time.stamp(f"{bound}({bare})") for bound in ("min", "max"))
    infinite = f"coalesce(isinf({first}) OR isinf({last}), false)::INTEGER"
    return f"epoch_us({first})", f"epoch_us({last})", f"count(*) - count({bare}) + {infinite}"
