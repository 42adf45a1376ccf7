"""Runs in batches: what one task of a pool is.

Runs take milliseconds or minutes. A batch takes about as long as a task should (see `fwrl.pool.task_seconds`), by the
times of the runs that are finished: of each agent the least, because the first run compiles. As long as no run of an
agent is finished, its runs are batches of their own.
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
        """Runs of a kind take about as long."""
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
    """A queue of runs, taken from in batches.

    Args:
        runs: The runs in order.
        seconds: What a batch should take.
        workers: The number of workers at the moment; what is left is divided among all of them.

    """

    def __init__(self, runs: Iterable[Run], seconds: float, workers: Callable[[], int]) -> None:
        self._queue = deque(runs)
        self._left = Counter(run.kind for run in self._queue)
        self._least: dict[tuple[str, str], float] = {}
        self._seconds, self._workers = seconds, workers

    def take(self) -> Batch | None:
        """The next batch; None where no run is left."""
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
