"""The limit on the size of generated worlds: a short name can ask for more than any memory holds."""

from __future__ import annotations

from fwrl.errors import OptionError

MOST_CELLS = 10_000_000  # such a world takes several gigabytes
MOST_DIGITS = 18  # of a number in a name or a file


def check_cells(cells: int, what: str) -> None:
    """Require at most `MOST_CELLS` cells; `what` would have `cells`."""
    if cells > MOST_CELLS:
        raise OptionError(
            f"{what} has {cells:,} cells, more than the {MOST_CELLS:,} a world may have; choose a smaller one"
        )
