"""Counts in words."""

from __future__ import annotations


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
