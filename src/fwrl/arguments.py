"""Argument checks that public functions run before doing anything else.

Each raises an `OptionError` that names the argument and says what to pass instead.
"""

from __future__ import annotations

import errno
import numbers
import operator
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fwrl.display import visible
from fwrl.errors import FileError, OptionError

MOST_SEEDS = 100_000  # of one experiment: its runs are listed before the first one begins
SHOWN = 60  # characters of a wrong value to show in a message


def shown(value: object) -> str:
    """A wrong value as a message shows it: on one line, without control characters, and not too long.

    >>> shown(10**5000), shown("a")
    ('a value of type int', "'a'")
    """
    try:
        text = visible(repr(value).replace("\n", " "))
    except Exception:  # such as an integer of thousands of digits, which Python refuses to write
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def check_whole(name: str, value: object, least: int = 0, most: int | None = None) -> int:
    """Return `value` as an int between `least` and `most`; fractions and booleans are refused.

    >>> check_whole("episodes", 5)
    5
    """
    try:
        whole = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        whole = least - 1
    if isinstance(value, bool) or whole < least or (most is not None and whole > most):
        bounds = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise OptionError(f"expected {name} as a whole number {bounds}, got {shown(value)}")
    return whole


def check_real(name: str, value: object) -> float:
    """Return `value` as a float. The caller checks its range."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise OptionError(f"expected {name} as a number, got {shown(value)}")
    try:
        return float(value)
    except OverflowError:
        raise OptionError(f"expected {name} as a number of at most 300 digits, got {shown(value)}") from None


def check_seed(value: Any) -> None:
    """Require a seed: a whole number, a SeedSequence, or None for a fresh seed each time."""
    if value is not None and not hasattr(value, "spawn_key"):
        check_whole("seed", value)


def check_run_seed(value: Any) -> None:
    """Require the seed of a run: a whole number, or None for a fresh seed each time."""
    if value is not None:
        check_whole("seed", value)


def check_function(name: str, value: object) -> None:
    """Require a callable or None."""
    if value is not None and not callable(value):
        raise OptionError(f"expected {name} as a function, got {shown(value)}")


def check_path(value: object, what: str = "a file") -> Path:
    """Return a path given as str or Path."""
    if not isinstance(value, str | os.PathLike) or isinstance(value, bytes):
        raise OptionError(f"expected the path of {what}, got {shown(value)}")
    path = os.fspath(value)
    if not isinstance(path, str) or "\0" in path:
        raise OptionError(f"expected the path of {what}, got {shown(value)}")
    try:
        os.lstat(path)
    except UnicodeEncodeError:
        raise FileError(f"cannot use {shown(path)}: no file can have such a name; choose another") from None
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise FileError(f"cannot use {shown(path)}: the name is too long; choose a shorter one") from None
    return Path(path)


def check_list(name: str, value: Any, of: str = "states") -> tuple[Any, ...]:
    """Return the items of a list. A single string is refused, because it would be read letter by letter."""
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise OptionError(f"expected {name} as a list of {of}, got {shown(value)}; put it in brackets: {name}=[...]")
    return tuple(value)


def check_kind(name: str, value: object, kind: type | tuple[type, ...], call: str) -> None:
    """Require an instance of `kind`; `call` shows a correct call."""
    if not isinstance(value, kind):
        raise OptionError(f"expected {name}, got {shown(value)}; {call}")
