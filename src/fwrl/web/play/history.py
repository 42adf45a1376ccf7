"""Undo: matches as they were before each change, learning included, in bounded memory."""

from __future__ import annotations

from typing import NamedTuple

from fwrl.web.play.match import Match

MOST = 40  # changes that can be undone
MOST_BYTES = 64 * 2**20  # of the tables of all matches kept


class Past(NamedTuple):
    """A match as it was before a change."""

    match: Match
    change: str  # what was changed, for people
    size: int

    @classmethod
    def of(cls, match: Match, change: str) -> Past | None:
        """A copy of a match before a change; None if it is too large to be kept."""
        size = match.table_bytes
        return None if size > MOST_BYTES else cls(match.copy(), change, size)


class History:
    """The changes that can be undone, the latest last."""

    def __init__(self) -> None:
        self._past: list[Past] = []

    @property
    def change(self) -> str | None:
        """What undo would undo; None if there is nothing."""
        return self._past[-1].change if self._past else None

    @property
    def size(self) -> int:
        """The bytes of all matches kept."""
        return sum(past.size for past in self._past)

    def push(self, past: Past | None) -> None:
        """Keep what was before a change; the oldest are dropped if there are too many, all if it was too large."""
        if past is None:
            self._past.clear()
            return
        self._past.append(past)
        while len(self._past) > MOST or self.size > MOST_BYTES:
            self._past.pop(0)

    def pop(self) -> Match:
        """The match before the last change."""
        return self._past.pop().match

    def clear(self) -> None:
        """Forget all changes."""
        self._past.clear()
