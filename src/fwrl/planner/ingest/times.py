"""Times of a log as integers: unchanged, in millionths, or in microseconds since 1970; and which of them to keep.

Only transitions that begin in the period are kept. A trip that leaves the period and comes back is interrupted. Hours
and days are those of the written time; of times with an offset, those of UTC.
"""

from __future__ import annotations

import decimal
import math
import re
from typing import TYPE_CHECKING, NamedTuple

from fwrl.errors import FwrlError, OptionError
from fwrl.planner.ingest.column_sql import number_text
from fwrl.planner.ingest.read_options import AROUND, LogError, Moment, ReadOptions
from fwrl.planner.ingest.reader import INTEGERS, Source, all_of, any_of, identifier, listed, quoted
from fwrl.planner.transition_counts import MILLION, TimeKind, time_unit

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

LATEST = (2**63 - 1) // MILLION  # absolute time that fits into 64 bits in millionths
DATES = {"day-first": "%d{0}%m{0}", "month-first": "%m{0}%d{0}"}
YEARS = ("%y", "%Y")  # two digits first: four would take them for a year of the first century
CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
DATE_LIKE = r"^\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b"


class TimeColumn(NamedTuple):
    """The column of times of a source."""

    source: Source  # the source
    column: str  # its column
    dates: tuple[str, ...]  # formats of dates in text; none where they are written as in ISO 8601
    decimal: str  # separator in numbers that are text

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


def settled_dates(con: DuckDBPyConnection, times: list[TimeColumn]) -> list[TimeColumn]:
    """The columns of times, with the order of day and month where the dates of all of them allow only one."""
    asked = [time for time in times if time.type == "VARCHAR" and not time.dates and _begins_with_date(con, time)]
    if not asked:
        return times
    orders = [_formats(order) for order in DATES]
    n = 0
    read = [0] * len(orders)
    for time in asked:
        written = identifier(time.column)
        stamps = [f"count({time._replace(dates=dates).stamp(written)})" for dates in orders]
        found = con.execute(
            f"SELECT count(*), {listed(stamps)} FROM {time.source.scan} "
            f"WHERE regexp_matches({written}, {quoted(DATE_LIKE)})"
        ).fetchall()[0]
        n += found[0]
        read = [sum(pair) for pair in zip(read, found[1:], strict=True)]
    possible = [dates for dates, count in zip(orders, read, strict=True) if count == n]
    if len(possible) != 1:
        return times
    return [time._replace(dates=possible[0]) if time in asked else time for time in times]


def _begins_with_date(con: DuckDBPyConnection, time: TimeColumn) -> bool:
    """Whether the first time is a date that begins with its day or month."""
    written = identifier(time.column)
    first = f"SELECT {written} AS t FROM {time.source.scan} WHERE nullif({written}, '') IS NOT NULL LIMIT 1"
    found = con.execute(f"SELECT regexp_matches(t, {quoted(DATE_LIKE)}) FROM ({first})").fetchall()
    return bool(found and found[0][0])


def _formats(dates: str | None) -> tuple[str, ...]:
    """Return the date formats that a word or a format selects."""
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
    """Return the kind of times in a source, or None if it has none."""
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
    """Return the common kind of times from two sources."""
    times = {kind for kind in several if kind is not None} or {"integer"}
    if len(times) == 1:
        return times.pop()
    if "timestamp" in times:
        raise FwrlError("some times of the log are dates and some are numbers; write them all the same way")
    return "number"


def time_term(time: TimeColumn, own: TimeKind | None, whole: TimeKind) -> str:
    """A term for times that are `own` in this source and `whole` in the whole log."""
    value = time.value
    if own == "timestamp":
        # Not the bare column of CSV: DuckDB would cast while it reads, and fail there.
        written = f"nullif({identifier(time.column)}, '')" if time.source.is_text else identifier(time.column)
        return f"epoch_us({time.stamp(written)})"
    if whole == "integer":
        return value if time.type == "BIGINT" else f"try_cast({value} AS BIGINT)"
    if own == "integer":
        return f"try_cast(try_cast({value} AS HUGEINT) * {MILLION} AS BIGINT)"
    return f"try_cast(round(try_cast({value} AS DOUBLE) * {MILLION}) AS BIGINT)"


DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}  # seconds
DURATION = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([a-z]*)")
DAY = 24 * 60  # minutes
BEYOND = decimal.Decimal(2**63)  # no stored time, which has 64 bits, is that late


def period_condition(con: DuckDBPyConnection, options: ReadOptions, kind: TimeKind | None) -> str:
    """A condition for times to keep by the options; `kind` is what times are, None if the log has none."""
    hours, weekdays = kept_hours(options), options.weekdays
    given = [(sign, moment) for sign, moment in ((">=", options.since), ("<", options.until)) if moment is not None]
    if not given and hours is None and weekdays is None:
        return "true"
    if kind is None:
        raise OptionError("the log has no times, so it cannot be limited to a period; leave it out")
    if kind != "timestamp" and (hours is not None or weekdays is not None):
        raise OptionError("hours and weekdays need times that are dates, the log's are numbers")
    bounds = [f"time {sign} {_stored(con, moment, kind)}" for sign, moment in given]
    daily = [any_of(_within(span)) for span in (_hours(hours), _weekdays(weekdays)) if span is not None]
    return all_of([*bounds, *(f"({each})" for each in daily)])


def kept_hours(options: ReadOptions) -> str | None:
    """Which hours of the day to keep by the options; None for all."""
    return options.hours if options.at is None else hours_around(options.at, options.around)


def _stored(con: DuckDBPyConnection, moment: Moment, kind: TimeKind) -> int:
    """A moment in the unit in which times are kept."""
    import duckdb

    if kind != "timestamp":
        return _stored_number(moment, kind)
    try:
        stored = con.execute(f"SELECT epoch_us({quoted(str(moment))}::TIMESTAMPTZ)").fetchall()[0][0]
    except duckdb.Error:
        stored = None
    if stored is None:  # no moment, or an infinite one
        raise OptionError(f"expected a moment as 2024-03-31 or '2024-03-31 17:30', got {str(moment)!r}")
    return int(stored)


def _stored_number(moment: Moment, kind: TimeKind) -> int:
    """The least stored time that is not before a moment; fractions of millionths are rounded, as those of times are."""
    try:
        number = decimal.Decimal(str(moment))  # of a float, the decimal number that it is written as
    except decimal.InvalidOperation:
        raise OptionError(f"expected a number as a moment, since the log's times are, got {moment!r}") from None
    if not number.is_finite():
        raise OptionError(f"expected a finite number as a moment, got {moment!r}; leave it out to keep all times")
    rounding = decimal.ROUND_CEILING if kind == "integer" else decimal.ROUND_HALF_UP
    limited = max(-BEYOND, min(BEYOND, number)) * time_unit(kind)
    return int(limited.to_integral_value(rounding))


Span = tuple[
    str, list[tuple[int, int]]
]  # a term, and the ranges that it may be in: from the first to before the second


def _within(span: Span) -> list[str]:
    term, ranges = span
    return [f"({term} >= {low} AND {term} < {high})" for low, high in ranges]


def _hours(text: str | None) -> Span | None:
    if text is None:
        return None
    ranges = []
    for part in text.split(","):
        low, high = (_minutes(end) for end in [*part.split("-"), ""][:2])
        if part.count("-") != 1 or low is None or high is None or low >= DAY or low == high:
            raise OptionError(f"expected hours as 7-9 (from 7:00 to before 9:00), 8:30-9:15 or 22-6, got {text!r}")
        ranges += _wrapped(low, high, DAY)
    return f"(floor(time / {60 * MILLION}.0)::BIGINT % {DAY} + {DAY}) % {DAY}", ranges


def _minutes(text: str) -> int | None:
    """The minutes since midnight of a time of day up to 24:00; None if it is none."""
    found = re.fullmatch(r"(\d{1,2})(?::(\d{2}))?", text.strip())
    if found is None or int(found[2] or 0) > 59:
        return None
    minutes = 60 * int(found[1]) + int(found[2] or 0)
    return minutes if minutes <= DAY else None


def hours_around(at: str, around: str | float = AROUND) -> str:
    """The hours from `around` before a time of day to `around` after it.

    >>> hours_around("08:30"), hours_around("0:15", "1h")
    ('08:00-09:00', '23:15-01:15')
    """
    middle = _minutes(at)
    if middle is None or middle == DAY:
        raise OptionError(f"expected a time of day as 08:30, got {at!r}")
    aside = round(duration(around, "timestamp", "a time around the hour") / (60 * MILLION))
    if not 1 <= aside < DAY // 2:
        raise OptionError(f"expected a time around the hour from 1min to less than 12h, got {around!r}")
    ends = ((middle - aside) % DAY, (middle + aside) % DAY)
    return "-".join(f"{end // 60:02}:{end % 60:02}" for end in ends)


def includes(hours: str, at: str) -> bool:
    """Whether a time of day is in some hours.

    >>> includes("22-6", "23:30"), includes("08:00-09:00", "9:00")
    (True, False)
    """
    span, minute = _hours(hours), _minutes(at)
    if minute is None or minute == DAY:
        raise OptionError(f"expected a time of day as 08:30, got {at!r}")
    return span is not None and any(low <= minute < high for low, high in span[1])


def _weekdays(text: str | None) -> Span | None:
    if text is None:
        return None
    ranges = []
    for part in text.lower().split(","):
        first, dash, last = (name.strip()[:3] for name in part.partition("-"))
        if first not in DAYS or (dash and last not in DAYS):
            raise OptionError(f"expected weekdays as mon-fri or sat,sun, got {text!r}")
        ranges += _wrapped(DAYS.index(first), (DAYS.index(last if dash else first) + 1) % 7 or 7, 7)
    # The first of January 1970 was a Thursday, which is day 3.
    return f"((floor(time / {86_400 * MILLION}.0)::BIGINT + 3) % 7 + 7) % 7", ranges


def _wrapped(low: int, high: int, n: int) -> list[tuple[int, int]]:
    return [(low, high)] if low < high else [(low, n), (0, high)]


def duration(text: str | float, kind: TimeKind | None, what: str = "a half-life") -> float:
    """A half-life, or what else `what` says, in the unit in which times of that `kind` are kept.

    >>> duration("2h", "timestamp"), duration(10, "integer")
    (7200000000.0, 10.0)
    """
    if kind is None:
        raise OptionError(f"{what} needs times, the log has none")
    found = DURATION.fullmatch(str(text).strip().lower())
    number, unit = (float(found[1]), found[2]) if found is not None else (0.0, "?")
    if kind == "timestamp":
        stored = number * UNITS.get(unit, 0) * MILLION
        if not 0 < stored < math.inf:
            raise OptionError(f"expected {what} as 30d, with one of {', '.join(UNITS)}, got {text!r}")
        return stored
    stored = number * time_unit(kind)
    if unit or not 0 < stored < math.inf:
        raise OptionError(f"the log's times are numbers; expected {what} in their unit, as 30, got {text!r}")
    return stored
