"""Limits on what one page, and all pages together, may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fwrl.errors import FwrlError

MIB = 2**20


class LimitError(FwrlError):
    """A page asked for more than the limits allow."""


@dataclass(frozen=True)
class Limits:
    """The limits of a server.

    Attributes:
        pages: The number of pages that may be open at the same time.
        message_bytes: The largest message that a page may send.
        page_bytes: The memory for the tables of one page.
        total_bytes: The memory for the tables of all pages.
        idle: Seconds without any message from its user after which a page is closed.
        parked: The number of closed pages whose sessions are kept, so that a reload goes on.
        parked_seconds: How long they are kept.

    """

    pages: int = 64
    message_bytes: int = 64 * 1024
    page_bytes: int = 512 * MIB
    total_bytes: int = 2048 * MIB
    idle: float = 3600.0
    parked: int = 16
    parked_seconds: float = 3600.0


class Memory:
    """The memory that each page holds.

    >>> memory = Memory(Limits(page_bytes=10 * MIB, total_bytes=15 * MIB))
    >>> memory.claim("first", 8 * MIB)
    >>> memory.claim("second", 8 * MIB)
    Traceback (most recent call last):
    ...
    fwrl.web.limits.LimitError: this world needs 8 MiB, and the other open pages leave 7 MiB; close another page or \
use a smaller world
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held: dict[object, int] = {}
        self._parked: dict[object, Callable[[], None]] = {}  # the oldest first

    def claim(self, holder: object, size: int) -> None:
        """Set what `holder` holds to `size` bytes, or raise `LimitError`."""
        page = self._limits.page_bytes
        needed = f"this world needs {-(-size // MIB):,} MiB"
        if size > page:
            raise LimitError(f"{needed}, and a page may use {page // MIB:,} MiB; use a smaller world or other agents")
        while size > (left := self._left(holder)) and self._parked:
            next(iter(self._parked.values()))()
        if size > left:
            raise LimitError(
                f"{needed}, and the other open pages leave {left // MIB:,} MiB; "
                "close another page or use a smaller world"
            )
        self._held[holder] = size

    def park(self, holder: object, drop: Callable[[], None]) -> None:
        """Let others have what `holder` holds if they need it: `drop` is called then, and must release it."""
        self._parked[holder] = drop

    def release(self, holder: object) -> None:
        """Free what `holder` holds."""
        self._held.pop(holder, None)
        self._parked.pop(holder, None)

    def _left(self, holder: object) -> int:
        return self._limits.total_bytes - sum(held for other, held in self._held.items() if other is not holder)
