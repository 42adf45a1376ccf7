"""Checks of agents' options; each raises `OptionError`."""

from __future__ import annotations

import numpy as np

from fwrl.errors import OptionError

LARGEST_TABLE = 8 * 2**30  # bytes
LARGEST_WHOLE = 10**9


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Require `value` to be one of `choices`."""
    if value not in choices:
        raise OptionError(f"expected {name} to be one of {choices}, got {value!r}")


def check_number(name: str, value: object, least: float = -np.inf) -> None:
    """Require a finite number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value) or value < least:
        bound = "" if least == -np.inf else f" of at least {least:g}"
        raise OptionError(f"expected {name} to be a finite number{bound}, got {value!r}")


def check_learning_rate(value: object) -> None:
    """Require a number above 0 and of at most 1."""
    check_number("learning_rate", value)
    if not 0 < value <= 1:  # type: ignore[operator]
        raise OptionError(f"expected 0 < learning_rate <= 1, got {value}")


def check_give_up(value: object) -> None:
    """Require a positive cost, or None."""
    if value is not None:
        check_number("give_up", value)
        if not value > 0:  # type: ignore[operator]
            raise OptionError(f"expected give_up to be a positive cost or None, got {value!r}")


def check_whole(name: str, value: object, least: int) -> None:
    """Require an integer from `least` to `LARGEST_WHOLE`."""
    if type(value) is not int or not least <= value <= LARGEST_WHOLE:
        raise OptionError(f"expected {name} to be a whole number of at least {least}, got {value!r}")


def checked_rows(name: str, value: object) -> tuple[tuple[float, ...], ...] | None:
    """Rows of equally many finite numbers, as tuples; None stays None."""
    if value is None:
        return None
    try:
        rows = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise OptionError(f"expected {name} as one row of finite numbers for each state, got {str(value)[:80]}")
    return tuple(tuple(row) for row in rows.tolist())


def check_table_size(size: int, what: str, remedy: str) -> None:
    """Require that a table of `size` bytes fits into `LARGEST_TABLE`; `what` needs it, `remedy` avoids it."""
    if size > LARGEST_TABLE:
        need = f"{what} need {size / 2**30:,.1f} GiB"
        raise OptionError(f"expected a table of at most {LARGEST_TABLE / 2**30:.0f} GiB, {need}; {remedy}")
