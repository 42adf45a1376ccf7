"""Timing two ways of doing the same thing against each other."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple


class Measurement(NamedTuple):
    """Seconds per step of ours and of what it is held against; `note` says how it was measured."""

    name: str
    ours: float
    other: float
    note: str

    @property
    def ratio(self) -> float:
        """How many times as long the other takes."""
        return self.other / self.ours


def alternate(ours: Callable[[], None], other: Callable[[], None], rounds: int) -> tuple[float, float]:
    """Least seconds of each, taken in turn so that both see the same weather; the first turn is not counted.

    Whatever else the machine does can only add to a time, so the least is the nearest to the truth.
    """
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 1):
        for function, taken in zip((ours, other), times, strict=True):
            begin = time.perf_counter()
            function()
            if turn > 0:
                taken.append(time.perf_counter() - begin)
    return min(times[0]), min(times[1])


def seconds(function: Callable[[], None], rounds: int = 1) -> float:
    """Least seconds of `function`."""
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        taken.append(time.perf_counter() - begin)
    return min(taken)
