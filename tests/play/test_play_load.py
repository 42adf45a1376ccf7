"""Fifty pages for a minute: no error, and their memory comes back."""

import random
import threading
import time

import pytest
from play_server import running

PAGES = 50
ALLOWED = 24 * 2**20  # bytes that allocators may keep


def use(server, seconds, failures):
    """One page: plays at full speed, moves its goal, looks at cells."""
    try:
        with server.page() as page:
            page.hear("state")
            page.say("speed", value=1e6)
            page.say("play")
            until = time.monotonic() + seconds
            k = 0
            while time.monotonic() < until:
                page.frame()
                k += 1
                if k % 5 == 0:
                    page.say("goal", cell=(12, 20, 100, 108)[k // 5 % 4])
                    assert page.hear("state")["playing"]
                if k % 7 == 0:
                    page.say("inspect", cell=13)
                    assert page.hear("inspect")["cell"] == 13
            assert k > 10
    except Exception as error:
        failures.append(error)


def fidget(server, seconds, failures):
    """One page that changes its mind all the time, and leaves in the middle of something."""
    rng = random.Random(threading.get_ident())
    changes = [
        lambda: ("world", {"name": rng.choice(["four-rooms", "h-maze", "windy-four-rooms", "four-rooms-32"])}),
        lambda: ("agent", {"side": rng.randrange(2), "name": rng.choice(["fwrl", "qlcat", "ql", "random"])}),
        lambda: ("tour", {"step": rng.randrange(-1, 5)}),
        lambda: ("map", {"text": rng.choice(["v..\n.#9\n...", "....\n....", ".", "x"])}),
        lambda: ("reset", {"seed": rng.randrange(100)}),
        lambda: ("goal", {"cell": rng.randrange(121)}),
    ]
    try:
        with server.page() as page:
            page.hear("state")
            page.say("speed", value=1e6)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                kind, fields = rng.choice(changes)()
                page.say(kind, **fields)
                page.say("play")
                page.say("inspect", cell=10**6)
                while "expected a cell" not in page.hear("error")["message"]:  # its answer comes last
                    pass
    except Exception as error:
        failures.append(error)


def crowd(server, seconds, visit=use):
    failures = []
    threads = [threading.Thread(target=visit, args=(server, seconds, failures)) for _ in range(PAGES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    time.sleep(2)
    return server.memory


@pytest.mark.stress
def test_fifty_pages_for_a_minute_without_error_and_without_growth():
    with running("--port", "0") as server:
        before = crowd(server, 10)
        after = crowd(server, 60)
        assert after - before < ALLOWED
        with server.page() as page:
            page.hear("state")


@pytest.mark.stress
def test_fifty_restless_pages_leave_no_error_behind():
    with running("--port", "0") as server:
        crowd(server, 30, fidget)
        with server.page() as page:
            page.hear("state")
