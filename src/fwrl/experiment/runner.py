"""Run experiments in parallel. You can stop and resume, and the order of runs doesn't change the result.

Every agent's first run goes first: it compiles the agent once, and the others load that from disk. Only this process
writes to the store, one batch at a time. Stored runs aren't repeated.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fwrl.arguments import MOST_SEEDS, check_whole
from fwrl.errors import FileError
from fwrl.experiment.batches import Batch, Batches, Run, run_batch
from fwrl.experiment.spec import Experiment
from fwrl.experiment.store import Store
from fwrl.pool import Pool, PoolError, finished, process_pool, task_seconds


class Progress(NamedTuple):
    """Progress of the runs.

    Attributes:
        done: Finished runs, including those stored earlier.
        total: All runs.
        latest: Experiment and agent of the run that finished last; "" before the first.
        workers: The current workers, such as "2 processes".
        left: Remaining runs by the experiment's title.
    """

    done: int
    total: int
    latest: str
    workers: str
    left: Mapping[str, int]


def run_experiments(
    store: Store,
    experiments: Sequence[Experiment],
    *,
    seeds: int = 100,
    workers: int = 1,
    pool: Pool | None = None,
    watch: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Run every agent of every experiment with each seed, except for runs in the store.

    Args:
        store: Receives runs as they finish.
        experiments: The experiments to run.
        seeds: Use the seeds 0 to `seeds` - 1.
        workers: Number of processes, where no pool is given; no more are started than there are runs to make.
        pool: Where to run; None runs in processes of this computer.
        watch: Called with the progress before the first batch and after each.

    Raises:
        OptionError: There's no seed or no worker.
        FileError: The store has runs of another map, protocol or options under the same names, or can't be written.
        PoolError: Workers were lost; finished runs are stored.
    """
    check_whole("seeds", seeds, 1, MOST_SEEDS)
    check_whole("workers", workers, 1)
    for experiment in experiments:
        check_provenance(store, experiment)
    total = seeds * sum(len(experiment.agents) for experiment in experiments)
    todo = list(missing(store, experiments, seeds))
    with contextlib.nullcontext(pool) if pool else process_pool(min(workers, max(1, len(todo)))) as chosen:
        watch(Progress(total - len(todo), total, "", _workers(chosen), Counter(run.experiment.title for run in todo)))
        try:
            _run(store, todo, chosen, total, watch)
        except PoolError as error:
            raise PoolError(f"{error}; finished runs are stored, and the same command continues") from error


def _run(store: Store, todo: list[Run], pool: Pool, total: int, watch: Callable[[Progress], None]) -> None:
    """Run and store `todo`."""
    if not todo:
        return
    by_id = {run.experiment.id: run.experiment for run in todo}
    left = Counter(run.experiment.title for run in todo)
    batches = Batches(todo, task_seconds(pool), pool.workers)
    for batch, runs in finished(pool, run_batch, batches.take, _singly, _named):
        store.write([run.trial for run in runs], by_id)
        batches.record(batch, [run.seconds for run in runs])
        left.subtract(run.experiment.title for run in batch)
        latest = f"{batch[-1].experiment.title}: {batch[-1].agent}"
        watch(Progress(total - left.total(), total, latest, _workers(pool), left))


def _workers(pool: Pool) -> str:
    return f"{pool.workers()} {pool.name}"


def check_provenance(store: Store, experiment: Experiment) -> None:
    """Raise if the store has runs of another map, protocol or options under the same names."""
    for agent in experiment.agents:
        if store.provenances(experiment.id, agent.label) - {experiment.provenance(agent.label)}:
            raise FileError(
                f"{str(store.path)!r} has runs of {agent.label!r} in {experiment.title!r} with another map or other "
                "settings; use another file, or delete this one"
            )


def missing(store: Store, experiments: Iterable[Experiment], seeds: int) -> Iterator[Run]:
    """The runs not stored yet: first one of each agent, then the rest."""
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
    """Split a batch into single runs."""
    return [(run,) for run in batch]


def _named(batch: Batch) -> str:
    run = batch[0]
    return f"{run.agent!r} in {run.experiment.title!r}, seed {run.seed}"
