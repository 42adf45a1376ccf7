"""A progress bar for loops, in the terminal and in notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Item = TypeVar("Item")


def tracked(items: Iterable[Item], total: int, what: str) -> Iterable[Item]:
    """Iterate with a progress bar on standard error; `what` names the loop."""
    from rich.console import Console
    from rich.progress import track

    return track(items, description=what, total=total, console=Console(stderr=True))
