"""Timing two implementations of the same computation against each other."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Literal, NamedTuple


class Measurement(NamedTuple):
    """The cost of fwrl and of what it is compared with, in seconds or bytes; `note` describes the measurement."""

    name: str
    ours: float
    other: float
    note: str
    unit: Literal["s", "B"] = "s"

    @property
    def ratio(self) -> float:
        """Our cost over the other's: below 1, fwrl takes less."""
        return self.ours / self.other


def alternate(ours: Callable[[], None], other: Callable[[], None], rounds: int) -> tuple[float, float]:
    """Median seconds of each, measured alternately, so that load affects both alike; the first round is not counted."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for function, taken in zip((ours, other), times, strict=True):
            begin = time.perf_counter()
            function()
            if number > 0:
                taken.append(time.perf_counter() - begin)
    return median(times[0]), median(times[1])


def seconds(function: Callable[[], None], rounds: int = 1) -> float:
    """The least seconds of `function` over several rounds."""
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def peak_of(call: str) -> float:
    """The peak memory, in bytes, of a separate Python process that calls a function of `bench.memory`."""
    script = f"from fwrl.bench import memory; memory.{call}; print(memory.peak())"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    return float(done.stdout)


def discard(_: object) -> None:
    """Ignore a result."""
