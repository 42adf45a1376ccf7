"""Sessions of closed pages, kept for a while so that a reload or a lost connection goes on where it was."""

from __future__ import annotations

import secrets
from time import monotonic
from typing import Any, NamedTuple

from fwrl.web.limits import LimitError, Limits, Memory


class Parked(NamedTuple):
    """A session, its memory, and when it was parked."""

    session: Any
    size: int
    since: float


class Parking:
    """The parked sessions, the oldest first. What they hold is given up when open pages need the memory.

    >>> limits = Limits()
    >>> parking = Parking(limits, Memory(limits))
    >>> key = new_key()
    >>> parking.park(key, "a session", size=100)
    >>> parking.take(key), parking.take(key)
    ('a session', None)
    """

    def __init__(self, limits: Limits, memory: Memory) -> None:
        self._limits, self._memory = limits, memory
        self._parked: dict[str, Parked] = {}
        self.open: set[str] = set()  # keys of open pages

    def park(self, key: str, session: Any, size: int) -> None:
        """Keep the session of a closed page, of `size` bytes, by the key that the page knows."""
        self._drop(key)
        self._drop_old()
        try:
            self._memory.claim(key, size)
        except LimitError:  # open pages need the memory
            return
        self._parked[key] = Parked(session, size, monotonic())
        self._memory.park(key, lambda: self._drop(key))
        while len(self._parked) > self._limits.parked:
            self._drop(next(iter(self._parked)))

    def take(self, key: str) -> Any:
        """The session parked by this key, None if there is none (any longer)."""
        self._drop_old()
        found = self._parked.get(key)
        self._drop(key)
        return None if found is None else found.session

    def _drop_old(self) -> None:
        oldest = monotonic() - self._limits.parked_seconds
        for key in [key for key, parked in self._parked.items() if parked.since < oldest]:
            self._drop(key)

    def _drop(self, key: str) -> None:
        if self._parked.pop(key, None) is not None:
            self._memory.release(key)


def new_key() -> str:
    """A random key, too long to guess."""
    return secrets.token_urlsafe(24)
