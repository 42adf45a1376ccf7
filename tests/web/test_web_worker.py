"""Turns: in order, failures to their callers, nothing done for those who have gone."""

import asyncio
import threading

import pytest

from fwrl.web.worker import Turns


@pytest.fixture
def turns():
    turns = Turns("test")
    yield turns
    turns.close()


def test_turns_are_taken_in_the_order_they_were_asked_for_and_one_at_a_time(turns):
    done = []

    async def ask():
        await asyncio.gather(*(turns.take(done.append, k) for k in range(50)))

    asyncio.run(ask())
    assert done == list(range(50))


def test_a_failure_is_its_callers_and_the_next_turn_is_taken(turns):
    async def ask():
        with pytest.raises(ZeroDivisionError):
            await turns.take(divmod, 1, 0)
        return await turns.take(divmod, 7, 2)

    assert asyncio.run(ask()) == (3, 1)


def test_nothing_is_done_for_a_caller_who_has_gone(turns):
    done, gate = [], threading.Event()

    async def ask():
        first = asyncio.create_task(turns.take(gate.wait))
        gone = asyncio.create_task(turns.take(done.append, "gone"))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        gate.set()
        await first
        await turns.take(done.append, "stays")

    asyncio.run(ask())
    assert done == ["stays"]
