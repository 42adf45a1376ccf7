"""Tasks of a pool: all are done once, whatever ends, and they are long enough."""

import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwrl.errors import OptionError
from fwrl.experiment import chosen
from fwrl.experiment.batches import Batches, Run
from fwrl.pool import LEAST_SECONDS, Pool, PoolError, finished, process_pool, task_seconds


class WorkerEndedError(Exception):
    """What the executor below says of a task whose worker ended."""


def doubled(task):
    return [2 * n for n in task]


class Failing(ThreadPoolExecutor):
    """Loses the worker of some tasks, by their first number, so many times."""

    def __init__(self, losses):
        super().__init__(2)
        self.losses = dict(losses)

    def submit(self, fn, /, *args, **kwargs):
        task = args[-1]
        if self.losses.get(task, 0) > 0:
            self.losses[task] -= 1
            lost: Future[list[int]] = Future()
            lost.set_exception(WorkerEndedError())
            return lost
        return super().submit(fn, *args, **kwargs)


def results(tasks, losses=()):
    queue = iter(tasks)
    with Failing(losses) as executor:
        pool = Pool(executor, lambda: 2, killed=(WorkerEndedError,))
        parts = finished(pool, doubled, lambda: next(queue, None), lambda task: [(n,) for n in task])
        return sorted(n for _, numbers in parts for n in numbers)


@given(st.lists(st.integers(0, 1000), unique=True, max_size=30), st.integers(1, 5))
def test_every_task_is_done_once(numbers, size):
    tasks = [tuple(numbers[k : k + size]) for k in range(0, len(numbers), size)]
    assert results(tasks) == sorted(2 * n for n in numbers)


def test_a_task_whose_workers_ended_is_split_and_tried_again():
    assert results([(1, 2), (3,)], {(1, 2): 1, (3,): 1}) == [2, 4, 6]


def test_a_part_whose_workers_end_again_is_named():
    with pytest.raises(PoolError, match=r"workers keep dying on \(2,\), most likely because they run out of memory"):
        results([(1, 2), (3,)], {(1, 2): 1, (2,): 1})


def test_no_more_tasks_are_taken_than_keep_workers_busy():
    taken: list[int] = []

    def next_task():
        taken.append(len(taken))
        return (taken[-1],)

    with ThreadPoolExecutor(2) as executor:
        tasks = finished(Pool(executor, lambda: 2), doubled, next_task)
        next(tasks)
        assert len(taken) == 4
        tasks.close()  # type: ignore[attr-defined]


def test_a_pool_without_workers_is_given_up_in_the_end(monkeypatch):
    monkeypatch.setattr("fwrl.pool.PATIENCE", 0.2)
    monkeypatch.setattr("fwrl.pool.POLL", 0.05)
    with ThreadPoolExecutor(1) as executor, pytest.raises(PoolError, match="there have been no lost ones"):
        list(finished(Pool(executor, lambda: 0, "lost ones"), time.sleep, lambda: 0.5))


def test_tasks_are_a_hundred_times_as_long_as_they_cost():
    class Slow(ThreadPoolExecutor):
        def submit(self, fn, /, *args, **kwargs):
            time.sleep(0.006)
            return super().submit(fn, *args, **kwargs)

    with Slow(1) as executor:
        assert task_seconds(Pool(executor, lambda: 1)) >= 0.6
        assert task_seconds(Pool(executor, lambda: 50)) >= 3.0  # one scheduler for all of them
    with process_pool(1) as pool:
        assert task_seconds(pool) == LEAST_SECONDS


def test_no_workers_are_refused():
    with pytest.raises(OptionError, match="at least one worker"), process_pool(0):
        pass


(EXPERIMENT,) = chosen(["four-rooms-50x400"])
FAST, SLOW = (agent.label for agent in EXPERIMENT.agents[:2])


def runs(agent, n):
    return [Run(EXPERIMENT, agent, seed) for seed in range(n)]


def test_runs_are_batches_of_their_own_until_one_is_finished():
    batches = Batches(runs(FAST, 10), 1.0, lambda: 2)
    assert batches.take() == (Run(EXPERIMENT, FAST, 0),)
    assert batches.take() == (Run(EXPERIMENT, FAST, 1),)


def test_batches_take_as_long_as_they_should_by_the_fastest_run_so_far():
    batches = Batches([*runs(FAST, 1000), *runs(SLOW, 3)], 1.0, lambda: 2)
    for seconds in (2.0, 0.01):  # the first run compiles
        batch = batches.take()
        assert batch is not None
        batches.record(batch, [seconds])
    batch = batches.take()
    assert batch is not None
    assert len(batch) == 100


def test_what_is_left_is_divided_among_all_workers():
    batches = Batches(runs(FAST, 41), 1.0, lambda: 4)
    first = batches.take()
    assert first is not None
    batches.record(first, [0.01])
    sizes = []
    while (batch := batches.take()) is not None:
        sizes.append(len(batch))
    assert sizes[0] in (10, 11)  # sums of times are rounded
    assert sizes == sorted(sizes, reverse=True)
    assert sum(sizes) == 40
