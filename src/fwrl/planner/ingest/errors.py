"""Errors of reading logs."""

from __future__ import annotations

from typing import Literal

from fwrl.errors import FwrlError

FitOption = Literal[
    "columns", "skip_bad", "memory", "again", "shape", "visits", "header", "encoding", "decimal", "dates", "cost"
]
REMEDIES: dict[FitOption, str] = {
    "columns": "say which is which with columns={'state': ..., 'next_state': ...}, by number without a header",
    "skip_bad": "correct it, or leave such rows out with skip_bad=True",
    "memory": "allow more with memory=...",
    "again": "leave it out, or count it again with again=True",
    "shape": "say shape='trajectories' or shape='transitions'",
    "visits": "give four, or say shape='visits'",
    "header": "say header=True, or header=False with columns by number where there is none",
    "encoding": "say how it is encoded with encoding=..., as 'cp1252' or 'latin-1'",
    "decimal": "read decimal commas with decimal=','",
    "dates": "say how dates are written with dates='day-first', 'month-first' or a format such as '%d.%m.%y %H:%M'",
    "cost": "leave one out by an empty name, as columns={'reward': ''}",
}


class LogError(FwrlError):
    """A log that cannot be read as it is, but could be with another option of `fit`.

    Attributes:
        problem: The message without the remedy.
        option: The option of `fit` that helps.

    """

    def __init__(self, problem: str, option: FitOption) -> None:
        super().__init__(f"{problem}; {REMEDIES[option]}")
        self.problem, self.option = problem, option

    def __reduce__(self) -> tuple[type[LogError], tuple[str, FitOption]]:
        return type(self), (self.problem, self.option)


class NoTransitionsError(FwrlError):
    """A log without transitions.

    Attributes:
        has_rows: Whether it has rows that might matter beside another log: visits, or bad rows.

    """

    def __init__(self, message: str, has_rows: bool) -> None:
        super().__init__(message)
        self.has_rows = has_rows

    def __reduce__(self) -> tuple[type[NoTransitionsError], tuple[str, bool]]:
        return type(self), (str(self), self.has_rows)


class BrokenLinesError(FwrlError):
    """A CSV file has line breaks inside quotes, which DuckDB reads with one thread only."""


class MixedLinesError(FwrlError):
    """The lines of a CSV file end in different ways, which DuckDB does not read."""
