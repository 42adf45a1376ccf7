"""Hall: what all open pages share.

Everything that touches a page's agents runs on one thread, a few milliseconds at a time and first come, first
served: pages take turns, and none starves another. What takes longer and touches nobody's agents (making worlds and
tables, which may have to be compiled, asking the oracle) runs on a second one.
"""

from __future__ import annotations

from fwrl.web.compiling import Compiling
from fwrl.web.limits import LimitError, Limits, Memory
from fwrl.web.worker import Turns


class Hall:
    """The limits, the memory and the two threads."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.memory = Memory(self.limits)
        self.pages: set[object] = set()
        self.compiling = Compiling()
        self._worker, self._builder = Turns("fwrl-play-worker"), Turns("fwrl-play-builder")
        self.work = self._worker.take  # something short that touches agents
        self.build = self._builder.take  # something long that touches no agent in use

    def admit(self, page: object) -> None:
        """Let a page in, or refuse it."""
        if len(self.pages) >= self.limits.pages:
            raise LimitError(f"expected at most {self.limits.pages} open pages; close another one and reload")
        self.pages.add(page)

    def dismiss(self, page: object) -> None:
        """A page is closed: another may come in."""
        self.pages.discard(page)

    def close(self) -> None:
        """Start nothing more."""
        for part in (self._worker, self._builder, self.compiling):
            part.close()
