"""A measured number with its interval, and both as text."""

from __future__ import annotations

import math
from typing import NamedTuple


class Estimate(NamedTuple):
    """A number and the ends of its 95 % interval."""

    value: float
    low: float
    high: float

    def text(self, digits: int = 2) -> str:
        """The number, then its interval in brackets.

        >>> Estimate(440.0, 430.04, 450.0).text(1)
        '440.0 [430.0, 450.0]'

        You can't get an interval from a single run:

        >>> Estimate(440.0, -math.inf, math.inf).text(0)
        '440'
        """
        if math.isinf(self.low) and self.low < 0:
            return number(self.value, digits)
        return f"{number(self.value, digits)} [{number(self.low, digits)}, {number(self.high, digits)}]"

    def brief(self, digits: int = 2) -> str:
        """The number and half the length of its interval.

        >>> Estimate(0.9937, 0.9934, 0.994).brief(4), Estimate(math.inf, 3.0, math.inf).brief(0)
        ('0.9937 ±0.0003', 'never')
        """
        half = (self.high - self.low) / 2
        return (
            f"{number(self.value, digits)} ±{number(half, digits)}"
            if math.isfinite(half)
            else number(self.value, digits)
        )


def number(value: float, digits: int = 2) -> str:
    """A number as text: "never" for infinity, which is the time or cost of what does not happen, "-" for NaN.

    >>> number(1234.5, 1), number(-0.01, 1), number(float("inf"))
    ('1,234.5', '0.0', 'never')
    """
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "never" if value > 0 else "unbounded"
    return f"{round(value, digits) + 0.0:,.{digits}f}"
