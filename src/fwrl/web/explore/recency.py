"""Which steps were not seen for long, so that a page marks them.

A step is old if it was last seen longer ago than a limit, counted from the latest time of the log. Without a limit
given it is the half-life, where observations are weighted by age, and otherwise half of the time that the log covers.
"""

from __future__ import annotations

from typing import NamedTuple

from fwrl.planner.transition_counts import MILLION, TimeKind, TransitionCounts, time_unit

UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


class Recency(NamedTuple):
    """The rule that tells which steps are old.

    Attributes:
        newest: The latest time, as stored.
        limit: The age beyond which a step is old, as stored.
        kind: Kind of the times.

    """

    newest: int
    limit: float
    kind: TimeKind

    def is_old(self, last: int) -> bool:
        """Whether a step is old that was last seen at the stored time `last`."""
        return self.newest - last > self.limit

    @property
    def words(self) -> str:
        """The limit in words.

        >>> Recency(0, 36 * 3600e6, "timestamp").words
        '36 hours'
        """
        if self.kind != "timestamp":
            return f"{_rounded(self.limit / time_unit(self.kind)):,} units of time"
        seconds = self.limit / MILLION
        name, size = next((unit for unit in UNITS if seconds >= 2 * unit[1]), UNITS[-1])
        return f"{_rounded(seconds / size):,} {name}s"


def _rounded(number: float) -> float:
    """A number with three digits that count.

    >>> _rounded(1_999_980.0), _rounded(2.854), _rounded(36.0)
    (2000000, 2.85, 36)
    """
    rounded = float(f"{number:.3g}")
    return int(rounded) if rounded.is_integer() else rounded


def recency_of(experience: TransitionCounts, limit: float | None = None) -> Recency | None:
    """Find the rule for a log.

    Args:
        experience: counts from logs.
        limit: The age in the unit of stored times; None chooses one.

    Returns:
        The rule; None without times.

    """
    last, times = experience.evidence.last, experience.evidence.trip_time
    if last is None or experience.time is None or not len(last):
        return None
    newest, oldest = int(last.max()), int(last.min())
    if times is not None and experience.evidence.trip is not None:
        oldest = min(oldest, int(times[experience.evidence.trip >= 0].min(initial=oldest)))
    if limit is None:
        limit = (newest - oldest) / 2 if experience.aging is None else experience.aging.half_life
    return Recency(newest, limit, experience.time)
