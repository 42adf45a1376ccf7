"""Counts and ranges in words."""

from __future__ import annotations

from collections.abc import Callable


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "seed"), counted(1000, "seed")
    ('1 seed', '1,000 seeds')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def times(number: int) -> str:
    """How often.

    >>> times(1), times(2), times(3)
    ('once', 'twice', '3 times')
    """
    return {1: "once", 2: "twice"}.get(number, f"{number:,} times")


def between(bounds: tuple[float, float], shown: Callable[[float], str] = "{:.3g}".format) -> str:
    """A range, or one number if both ends are shown as the same.

    >>> between((0.105, 1.0)), between((0.99999, 1.0))
    ('0.105 to 1', '1')
    """
    return " to ".join(dict.fromkeys(map(shown, bounds)))
