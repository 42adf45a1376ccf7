"""Limits: what one page, and all of them together, may ask of this computer."""

from __future__ import annotations

from dataclasses import dataclass

from fwrl.errors import FwrlError

MIB = 2**20


class LimitError(FwrlError):
    """More than a page may ask for."""


@dataclass(frozen=True)
class Limits:
    """`idle` is the time in seconds after which a page that nobody touches is closed."""

    pages: int = 64
    message_bytes: int = 64 * 1024
    page_bytes: int = 512 * MIB
    total_bytes: int = 2048 * MIB
    idle: float = 3600.0


class Memory:
    """Who holds how much of the memory that all pages share.

    >>> memory = Memory(Limits(page_bytes=10 * MIB, total_bytes=15 * MIB))
    >>> memory.claim("first", 8 * MIB)
    >>> memory.claim("second", 8 * MIB)
    Traceback (most recent call last):
    ...
    fwrl.web.limits.LimitError: expected a world that fits beside the other open pages (7 MiB left), this one \
needs 8 MiB; close another page or use a smaller world
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held: dict[object, int] = {}

    def claim(self, holder: object, size: int) -> None:
        """Let `holder` have `size` bytes in place of what it had, or refuse."""
        page, total = self._limits.page_bytes, self._limits.total_bytes
        if size > page:
            raise LimitError(
                f"expected a world that fits into the page's {page // MIB:,} MiB, this one needs "
                f"{-(-size // MIB):,} MiB; use a smaller world or other agents"
            )
        left = total - sum(held for other, held in self._held.items() if other is not holder)
        if size > left:
            raise LimitError(
                f"expected a world that fits beside the other open pages ({left // MIB:,} MiB left), this one "
                f"needs {-(-size // MIB):,} MiB; close another page or use a smaller world"
            )
        self._held[holder] = size

    def release(self, holder: object) -> None:
        """Give back what `holder` has."""
        self._held.pop(holder, None)
