"""The limit on the size of generated worlds: a name is short, and what it asks for may not fit into any memory."""

from __future__ import annotations

from fwrl.errors import OptionError

MOST_CELLS = 10_000_000  # a world of so many takes some gigabytes
MOST_DIGITS = 18  # of a number in a name or a file


def check_cells(cells: int, what: str) -> None:
    """Require at most `MOST_CELLS` cells; `what` would have `cells`."""
    if cells > MOST_CELLS:
        raise OptionError(
            f"expected a world of at most {MOST_CELLS:,} cells, {what} has {cells:,}; choose a smaller one"
        )
