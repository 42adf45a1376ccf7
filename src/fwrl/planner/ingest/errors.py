"""Errors of reading logs."""

from __future__ import annotations

from typing import Literal

from fwrl.errors import FwrlError

FitOption = Literal["columns", "skip_bad", "memory", "again"]
REMEDIES: dict[FitOption, str] = {
    "columns": "say which is which with columns={'state': ..., 'next_state': ...}",
    "skip_bad": "correct it, or leave such rows out with skip_bad=True",
    "memory": "allow more with memory=...",
    "again": "leave it out, or count it again with again=True",
}


class LogError(FwrlError):
    """A log that cannot be read as it is, but could be with another option of `fit`.

    Attributes:
        problem: The message without the remedy.
        option: The option of `fit` that helps: `columns`, `skip_bad`, `memory` or `again`.

    """

    def __init__(self, problem: str, option: FitOption) -> None:
        super().__init__(f"{problem}; {REMEDIES[option]}")
        self.problem, self.option = problem, option


class BrokenLinesError(FwrlError):
    """A CSV file has line breaks inside quotes, which DuckDB reads with one thread only."""
