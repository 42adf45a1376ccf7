"""Compiling: whether this computer is at it just now, which it is once for every agent and never again."""

from __future__ import annotations

from typing import Any

from numba.core import event

KIND = "numba:compile"
events: Any = event  # which has no types


class Compiling(event.Listener):
    """Counts what numba is compiling, one inside the other."""

    def __init__(self) -> None:
        self._depth = 0
        events.register(KIND, self)

    @property
    def now(self) -> bool:
        """Whether anything is being compiled."""
        return self._depth > 0

    def on_start(self, started: Any) -> None:
        """Numba begins."""
        self._depth += 1

    def on_end(self, ended: Any) -> None:
        """Numba is done."""
        self._depth -= 1

    def close(self) -> None:
        """Listen no more."""
        events.unregister(KIND, self)
