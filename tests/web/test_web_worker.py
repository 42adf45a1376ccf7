"""The worker: calls run in order, exceptions go to their callers, cancelled calls are skipped."""

import asyncio
import threading

import pytest

from fwrl.web.shared import Worker


@pytest.fixture
def worker():
    worker = Worker("test")
    yield worker
    worker.close()


def test_calls_run_in_the_order_of_submission_and_one_at_a_time(worker):
    done: list[int] = []

    async def ask():
        await asyncio.gather(*(worker.run(done.append, k) for k in range(50)))

    asyncio.run(ask())
    assert done == list(range(50))


def test_an_exception_goes_to_its_caller_and_the_next_call_runs(worker):
    async def ask():
        with pytest.raises(ZeroDivisionError):
            await worker.run(divmod, 1, 0)
        return await worker.run(divmod, 7, 2)

    assert asyncio.run(ask()) == (3, 1)


def test_a_cancelled_call_is_skipped(worker):
    done: list[str] = []
    gate = threading.Event()

    async def ask():
        first = asyncio.create_task(worker.run(gate.wait))
        gone = asyncio.create_task(worker.run(done.append, "gone"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        gate.set()
        await first
        await worker.run(done.append, "stays")

    asyncio.run(ask())
    assert done == ["stays"]
