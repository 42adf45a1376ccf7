"""Group runs into batches, the tasks of a pool.

A run takes milliseconds or minutes, a batch about as long as a task should (see `fwrl.pool.task_seconds`). The estimate
is the shortest finished run of the same agent, because the first run includes compiling. Until an agent's first run has
finished, its batches have a single run.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from fwrl.experiment.spec import Experiment
from fwrl.experiment.trial import Trial, run_trial


class Run(NamedTuple):
    """One seed of one agent of one experiment."""

    experiment: Experiment
    agent: str
    seed: int

    @property
    def kind(self) -> tuple[str, str]:
        """Runs of the same kind take about the same time."""
        return self.experiment.id, self.agent


Batch = tuple[Run, ...]


class Finished(NamedTuple):
    """A finished run and the seconds it took."""

    trial: Trial
    seconds: float


def run_batch(batch: Batch) -> list[Finished]:
    """Run every run of a batch."""
    return [_timed(run) for run in batch]


def _timed(run: Run) -> Finished:
    began = time.perf_counter()
    trial = run_trial(run.experiment, run.agent, run.seed)
    return Finished(trial, time.perf_counter() - began)


class Batches:
    """A queue of runs that hands out batches.

    Args:
        runs: The runs in order.
        seconds: Target duration of a batch.
        workers: Returns the current number of workers, to leave work for each of them at the end.

    """

    def __init__(self, runs: Iterable[Run], seconds: float, workers: Callable[[], int]) -> None:
        self._queue = deque(runs)
        self._left = Counter(run.kind for run in self._queue)
        self._least: dict[tuple[str, str], float] = {}
        self._seconds, self._workers = seconds, workers

    def take(self) -> Batch | None:
        """The next batch; None if no run is left."""
        if not self._queue:
            return None
        left = sum(n * self._least.get(kind, 0.0) for kind, n in self._left.items())
        target = min(self._seconds, left / max(1, self._workers()))
        batch: list[Run] = []
        expected = 0.0
        while self._queue and (not batch or expected < target):
            run = self._queue.popleft()
            self._left[run.kind] -= 1
            batch.append(run)
            expected += self._least.get(run.kind, math.inf)
        return tuple(batch)

    def record(self, batch: Batch, seconds: Iterable[float]) -> None:
        """Remember how long the runs of a finished batch took."""
        for run, taken in zip(batch, seconds, strict=True):
            self._least[run.kind] = min(taken, self._least.get(run.kind, math.inf))
