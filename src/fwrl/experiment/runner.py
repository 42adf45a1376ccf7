"""Running experiments: parallel and resumable, with the same result in any order.

The unit of work is a batch of seeds of one agent. The first batch of every agent comes first, so that each agent is
compiled early, once, and shared through the disk. Only this process writes to the store, one batch at a time. Stored
runs are not run again.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context, parent_process
from typing import NamedTuple

from fwrl.errors import FileError, OptionError
from fwrl.experiment.spec import Experiment
from fwrl.experiment.store import Store
from fwrl.experiment.trial import Trial, run_trial

BATCH = 10  # seeds


class Batch(NamedTuple):
    """Some seeds of one agent of one experiment."""

    experiment: Experiment
    agent: str
    seeds: tuple[int, ...]


class Progress(NamedTuple):
    """The number of finished runs, the number of all runs, and what finished last."""

    done: int
    total: int
    latest: str


def run_experiments(
    store: Store,
    experiments: Sequence[Experiment],
    *,
    seeds: int = 100,
    workers: int = 1,
    watch: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Run every agent of every experiment with seeds 0 .. seeds - 1, except the runs that are stored already.

    `watch` is called before the first batch and after each.
    """
    if seeds < 1 or workers < 1:
        raise OptionError(f"expected at least one seed and one worker, got {seeds} and {workers}")
    for experiment in experiments:
        check_provenance(store, experiment)
    by_id = {experiment.id: experiment for experiment in experiments}
    total = seeds * sum(len(experiment.agents) for experiment in experiments)
    todo = list(missing(store, experiments, seeds))
    done = total - sum(len(batch.seeds) for batch in todo)
    watch(Progress(done, total, ""))
    for batch, trials in _run_batches(todo, workers):
        store.write(trials, by_id)
        done += len(trials)
        watch(Progress(done, total, f"{batch.experiment.title}: {batch.agent}"))


def check_provenance(store: Store, experiment: Experiment) -> None:
    """Raise an error if the store has runs of another map, protocol or options under the same names."""
    for agent in experiment.agents:
        if store.provenances(experiment.id, agent.label) - {experiment.provenance(agent.label)}:
            raise FileError(
                f"{str(store.path)!r} holds runs of {agent.label!r} in {experiment.title!r} made with another map or "
                "other settings; use another file, or delete this one"
            )


def missing(store: Store, experiments: Iterable[Experiment], seeds: int) -> Iterator[Batch]:
    """The batches that are not stored yet: the first one of each agent, then the second, and so on."""
    finished = store.finished()
    by_agent: list[list[Batch]] = []
    for experiment in experiments:
        for agent in experiment.agents:
            left = [n for n in range(seeds) if (experiment.id, agent.label, n) not in finished]
            parts = [tuple(left[n : n + BATCH]) for n in range(0, len(left), BATCH)]
            by_agent.append([Batch(experiment, agent.label, part) for part in parts])
    for rank in range(max((len(batches) for batches in by_agent), default=0)):
        yield from (batches[rank] for batches in by_agent if rank < len(batches))


def run_batch(batch: Batch) -> list[Trial]:
    """Run every seed of a batch."""
    return [run_trial(batch.experiment, batch.agent, seed) for seed in batch.seeds]


def _run_batches(todo: Sequence[Batch], workers: int) -> Iterator[tuple[Batch, list[Trial]]]:
    """The batches with their trials, in the order in which they finish."""
    if workers == 1 or len(todo) <= 1:
        yield from ((batch, run_batch(batch)) for batch in todo)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=initialise_worker)
    try:
        # No more batches are submitted than keep the workers busy, so that stopping is quick.
        pending: dict[Future[list[Trial]], Batch] = {}
        queue = iter(todo)
        for batch in queue:
            pending[pool.submit(run_batch, batch)] = batch
            if len(pending) < 2 * workers:
                continue
            yield from _finished(pending)
        while pending:
            yield from _finished(pending)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _finished(pending: dict[Future[list[Trial]], Batch]) -> Iterator[tuple[Batch, list[Trial]]]:
    for future in wait(pending, return_when=FIRST_COMPLETED).done:
        yield pending.pop(future), future.result()


def initialise_worker() -> None:
    """Ignore Ctrl-C, which the parent process handles, and exit when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
