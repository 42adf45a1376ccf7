"""Small work is interpreted: one route on a small log takes less than loading or compiling the search for it."""

from __future__ import annotations

import sys
from pathlib import Path

SMALL = 20_000  # edges: up to here a route takes less than half a second interpreted


def interpret_if_small(file: Path) -> None:
    """Let this process compile nothing if `file` is a small planner; no effect once kernels were imported.

    A file that cannot be read is left to the command, which says so.
    """
    from fwrl.errors import FileError
    from fwrl.files import open_archive

    if "fwrl.kernels.jit" in sys.modules:
        return
    try:
        edges = open_archive(file).details["summary"]["edges"]
    except (FileError, LookupError, TypeError):
        return
    if isinstance(edges, int) and edges <= SMALL:
        import numba

        numba.config.DISABLE_JIT = 1  # type: ignore[attr-defined]
