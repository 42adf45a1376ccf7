"""Skip compilation for small planners: finding one route takes less time than loading the compiled search."""

from __future__ import annotations

import sys
from pathlib import Path

SMALL = 20_000  # edges: up to here a route takes less than half a second interpreted


def interpret_if_small(file: Path, small: int = SMALL) -> None:
    """Turn off compilation in this process if `file` has at most `small` edges and kernels aren't imported yet.

    Ignore files that can't be read: the command reports those.
    """
    from fwrl.errors import FileError
    from fwrl.files import open_archive

    if "fwrl.kernels.jit" in sys.modules:
        return
    try:
        edges = open_archive(file).details["summary"]["edges"]
    except (FileError, LookupError, TypeError):
        return
    if isinstance(edges, int) and edges <= small:
        interpret()


def interpret() -> None:
    """Turn off compilation in this process."""
    if "fwrl.kernels.jit" not in sys.modules:
        import numba

        numba.config.DISABLE_JIT = 1  # type: ignore[attr-defined]
