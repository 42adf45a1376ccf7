"""Timing two ways of doing the same thing against each other."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Literal, NamedTuple


class Measurement(NamedTuple):
    """What ours takes and what it is held against takes, seconds or bytes; `note` says how it was measured."""

    name: str
    ours: float
    other: float
    note: str
    unit: Literal["s", "B"] = "s"

    @property
    def ratio(self) -> float:
        """How many times as much the other takes."""
        return self.other / self.ours


def alternate(ours: Callable[[], None], other: Callable[[], None], rounds: int) -> tuple[float, float]:
    """Median seconds of each, taken in turn so that both see the same weather; the first turn is not counted."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 1):
        for function, taken in zip((ours, other), times, strict=True):
            begin = time.perf_counter()
            function()
            if turn > 0:
                taken.append(time.perf_counter() - begin)
    return median(times[0]), median(times[1])


def seconds(function: Callable[[], None], rounds: int = 1) -> float:
    """Least seconds of `function`."""
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def peak_of(call: str) -> float:
    """Bytes that a Python process of its own takes at most for one of the functions of `bench.memory`."""
    script = f"from fwrl.bench import memory; memory.{call}; print(memory.peak())"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return float(done.stdout)


def discard(_: object) -> None:
    """Make nothing of a result."""
