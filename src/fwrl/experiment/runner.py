"""Running experiments: in parallel, resumable, in any order with the same result.

Work is handed out in batches of seeds of one agent, so that every process meets every agent early and compiled code is
made once and shared through the disk. Only this process writes to the store, a batch at a time; what is in the store is
not run again.
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

BATCH = 10  # seeds handed out at a time


class Batch(NamedTuple):
    """Some seeds of one agent of one experiment."""

    experiment: Experiment
    agent: str
    seeds: tuple[int, ...]


class Progress(NamedTuple):
    """How far things are, in runs."""

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
    """Run what the store does not have yet: every agent of every experiment with seeds 0 .. seeds - 1."""
    if seeds < 1 or workers < 1:
        raise OptionError(f"expected at least one seed and one worker, got {seeds} and {workers}")
    for experiment in experiments:
        refuse_others(store, experiment)
    by_id = {experiment.id: experiment for experiment in experiments}
    total = seeds * sum(len(experiment.agents) for experiment in experiments)
    todo = list(missing(store, experiments, seeds))
    done = total - sum(len(batch.seeds) for batch in todo)
    watch(Progress(done, total, ""))
    for batch, trials in _carried_out(todo, workers):
        store.write(trials, by_id)
        done += len(trials)
        watch(Progress(done, total, f"{batch.experiment.title}: {batch.agent}"))


def refuse_others(store: Store, experiment: Experiment) -> None:
    """Runs of another map, protocol or option under the same name cannot stand beside new ones."""
    for agent in experiment.agents:
        if store.provenances(experiment.id, agent.label) - {experiment.provenance(agent.label)}:
            raise FileError(
                f"expected runs of {agent.label!r} in {experiment.title!r} as they would be made now, "
                f"{str(store.path)!r} has some from another map or other settings; use another folder, or remove it"
            )


def missing(store: Store, experiments: Iterable[Experiment], seeds: int) -> Iterator[Batch]:
    """The batches that are still to run: first one of each agent, then the rest."""
    finished = store.finished()
    waiting: list[list[Batch]] = []
    for experiment in experiments:
        for agent in experiment.agents:
            left = [n for n in range(seeds) if (experiment.id, agent.label, n) not in finished]
            parts = [tuple(left[n : n + BATCH]) for n in range(0, len(left), BATCH)]
            waiting.append([Batch(experiment, agent.label, part) for part in parts])
    for rank in range(max((len(batches) for batches in waiting), default=0)):
        yield from (batches[rank] for batches in waiting if rank < len(batches))


def carry_out(batch: Batch) -> list[Trial]:
    """Run every seed of a batch."""
    return [run_trial(batch.experiment, batch.agent, seed) for seed in batch.seeds]


def _carried_out(todo: Sequence[Batch], workers: int) -> Iterator[tuple[Batch, list[Trial]]]:
    """Batches with their trials, as they finish."""
    if workers == 1 or len(todo) <= 1:
        yield from ((batch, carry_out(batch)) for batch in todo)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=begin_work)
    try:
        # No more are under way than the processes need to stay busy, so that stopping is quick.
        pending: dict[Future[list[Trial]], Batch] = {}
        queue = iter(todo)
        for batch in queue:
            pending[pool.submit(carry_out, batch)] = batch
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


def begin_work() -> None:
    """Ctrl-C is for the process that owns the store; when that one is gone, so is the work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
