"""A progress bar for loops, in the terminal and in notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def tracked(items: Iterable[Item], total: int, what: str) -> Iterable[Item]:
    """The same items, with a bar on standard error that says how far the loop is and what it does."""
    from rich.console import Console
    from rich.progress import track

    return track(items, description=what, total=total, console=Console(stderr=True), transient=True)
