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

    def push(self, match: Match, change: str) -> None:
        """Keep a copy of a match; the oldest are dropped if there are too many."""
        if match.table_bytes > MOST_BYTES:
            self._past.clear()
            return
        self._past.append(Past(match.copy(), change, match.table_bytes))
        while len(self._past) > MOST or self.size > MOST_BYTES:
            self._past.pop(0)

    def pop(self) -> Match:
        """The match before the last change."""
        return self._past.pop().match

    def drop_last(self) -> None:
        """Forget the last change, because it was refused."""
        self._past.pop()

    def clear(self) -> None:
        """Forget all changes."""
        self._past.clear()
