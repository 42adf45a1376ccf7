"""Fifty pages for a minute: no error, and their memory comes back."""

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


def crowd(server, seconds):
    failures = []
    threads = [threading.Thread(target=use, args=(server, seconds, failures)) for _ in range(PAGES)]
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
