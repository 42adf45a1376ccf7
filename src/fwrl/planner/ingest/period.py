"""Which times of a log to keep: a span, hours of the day, days of the week.

Only transitions that begin in the period are kept. A trip that leaves the period and comes back is interrupted.
Hours and days are those of the written time; of times with an offset, those of UTC.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fwrl.errors import OptionError
from fwrl.planner.experience import MILLION, TimeKind, time_unit
from fwrl.planner.ingest.sql import all_of, any_of, quoted

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Moment = str | float | datetime.datetime | datetime.date
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
UNITS = {"s": 1, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}  # seconds
DURATION = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([a-z]*)")
DAY = 24 * 60  # minutes
AROUND = "30min"  # on either side of a time of day
BEYOND = decimal.Decimal(2**63)  # no stored time, which has 64 bits, is that late


@dataclass(frozen=True)
class Period:
    """Which times to keep.

    Attributes:
        since: The first moment to keep.
        until: The first moment not to keep.
        hours: Hours of the day, as `7-9` (from 7:00 to before 9:00), `8:30-9:15` or `22-6,12-13`.
        weekdays: Days of the week, as `mon-fri` or `sat,sun`.

    """

    since: Moment | None = None
    until: Moment | None = None
    hours: str | None = None
    weekdays: str | None = None

    @property
    def is_all(self) -> bool:
        """Whether it keeps every time."""
        return self == Period()

    def condition(self, con: DuckDBPyConnection, kind: TimeKind | None) -> str:
        """A condition for times to keep; `kind` is what times are, None where the log has none."""
        if self.is_all:
            return "true"
        if kind is None:
            raise OptionError("the log has no times, so it cannot be limited to a period; leave it out")
        if kind != "timestamp" and (self.hours is not None or self.weekdays is not None):
            raise OptionError("hours and weekdays need times that are dates, the log's are numbers")
        given = ((">=", self.since), ("<", self.until))
        bounds = [f"time {sign} {_stored(con, moment, kind)}" for sign, moment in given if moment is not None]
        daily = [any_of(_within(span)) for span in (_hours(self.hours), _weekdays(self.weekdays)) if span is not None]
        return all_of([*bounds, *(f"({each})" for each in daily)])


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
    """The minutes since midnight of a time of day up to 24:00; None where it is none."""
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
