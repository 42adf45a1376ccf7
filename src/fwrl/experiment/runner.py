"""Running experiments: parallel and resumable, with the same result in any order.

The first run of every agent comes first, so that each agent is compiled early, once, and shared through the disk. Only
this process writes to the store, one batch at a time. Stored runs are not run again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from fwrl.errors import FileError, OptionError
from fwrl.experiment.batches import Batch, Batches, Run, run_batch
from fwrl.experiment.spec import Experiment
from fwrl.experiment.store import Store
from fwrl.pool import Pool, PoolError, finished, process_pool, task_seconds


class Progress(NamedTuple):
    """How far the runs are.

    Attributes:
        done: Number of finished runs, those that were stored before included.
        total: Number of all runs.
        latest: Experiment and agent of the run that finished last; "" before the first.
        workers: Number of workers at the moment.
    """

    done: int
    total: int
    latest: str
    workers: int = 1


def run_experiments(
    store: Store,
    experiments: Sequence[Experiment],
    *,
    seeds: int = 100,
    workers: int = 1,
    pool: Pool | None = None,
    watch: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Run every agent of every experiment with each seed, except the runs that are stored already.

    Args:
        store: Where runs are stored as they finish.
        experiments: The experiments to run.
        seeds: Number of seeds; they are 0 to `seeds` - 1.
        workers: Number of processes, where no pool is given.
        pool: Where to run; None runs in processes of this computer.
        watch: Called with the progress before the first batch of runs and after each.

    Raises:
        OptionError: fewer than one seed or one worker.
        FileError: the store has runs of another map, protocol or options under the same names, or cannot be written.
        PoolError: workers are lost; finished runs are stored.
    """
    if seeds < 1 or workers < 1:
        raise OptionError(f"expected at least one seed and one worker, got {seeds} and {workers}")
    for experiment in experiments:
        check_provenance(store, experiment)
    total = seeds * sum(len(experiment.agents) for experiment in experiments)
    todo = list(missing(store, experiments, seeds))
    with contextlib.nullcontext(pool) if pool else process_pool(min(workers, max(1, len(todo)))) as chosen:
        watch(Progress(total - len(todo), total, "", chosen.workers()))
        try:
            _run(store, todo, chosen, total, watch)
        except PoolError as error:
            raise PoolError(f"{error}; finished runs are stored, and the same command continues") from error


def _run(store: Store, todo: list[Run], pool: Pool, total: int, watch: Callable[[Progress], None]) -> None:
    """Run what is to do and store it."""
    if not todo:
        return
    by_id = {run.experiment.id: run.experiment for run in todo}
    done = total - len(todo)
    batches = Batches(todo, task_seconds(pool), pool.workers)
    for batch, runs in finished(pool, run_batch, batches.take, _singly, _named):
        store.write([run.trial for run in runs], by_id)
        batches.record(batch, [run.seconds for run in runs])
        done += len(runs)
        watch(Progress(done, total, f"{batch[-1].experiment.title}: {batch[-1].agent}", pool.workers()))


def check_provenance(store: Store, experiment: Experiment) -> None:
    """Raise an error if the store has runs of another map, protocol or options under the same names."""
    for agent in experiment.agents:
        if store.provenances(experiment.id, agent.label) - {experiment.provenance(agent.label)}:
            raise FileError(
                f"{str(store.path)!r} holds runs of {agent.label!r} in {experiment.title!r} made with another map or "
                "other settings; use another file, or delete this one"
            )


def missing(store: Store, experiments: Iterable[Experiment], seeds: int) -> Iterator[Run]:
    """The runs that are not stored yet: one of each agent, then the others of each agent."""
    known = store.finished()
    by_agent = [
        [Run(experiment, agent.label, n) for n in range(seeds) if (experiment.id, agent.label, n) not in known]
        for experiment in experiments
        for agent in experiment.agents
    ]
    for runs in by_agent:
        yield from runs[:1]
    for runs in by_agent:
        yield from runs[1:]


def _singly(batch: Batch) -> list[Batch]:
    """The runs of a batch, each as one of its own."""
    return [(run,) for run in batch]


def _named(batch: Batch) -> str:
    run = batch[0]
    return f"{run.agent!r} in {run.experiment.title!r}, seed {run.seed}"
