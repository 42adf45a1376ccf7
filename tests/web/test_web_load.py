"""Fifty pages for a minute: no error, and their memory is freed."""

import contextlib
import random
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from web_server import TIMEOUT, running

PAGES = 50
ALLOWED = 24 * 2**20  # bytes that allocators may keep


def use(server, seconds, number, failures):
    """One page: plays at full speed, moves its goal, looks at cells; each of them once at least."""
    try:
        with server.page() as page:
            page.receive("state")
            page.send("speed", value=1e6)
            page.send("play")
            while not page.receive("state")["playing"]:
                pass
            until = time.monotonic() + seconds
            k = 0
            while time.monotonic() < until or k < 7:
                page.frame()
                k += 1
                if k % 5 == 0:
                    page.send("goal", cell=(12, 20, 100, 108)[(number + k // 5) % 4])
                    assert page.receive("state")["playing"]
                if k % 7 == 0:
                    page.send("inspect", cell=13)
                    assert page.receive("inspect")["cell"] == 13
    except Exception as error:
        failures.append(error)


def change_often(server, seconds, number, failures):
    """One page that keeps changing worlds, agents and goals, and is closed in the middle of it."""
    rng = random.Random(number)
    changes: list[Callable[[], tuple[str, dict[str, Any]]]] = [
        lambda: ("world", {"name": rng.choice(["four-rooms", "h-maze", "windy-four-rooms", "four-rooms-32"])}),
        lambda: (
            "agent",
            {"side": rng.randrange(2), "name": rng.choice(["fwrl", "qlcat", "ql", "random"]), "options": {}},
        ),
        lambda: ("tour", {"step": rng.randrange(-1, 5)}),
        lambda: (
            "map",
            {"text": rng.choice(["v..\n.#9\n...", "....\n....", ".", "x"]), "keep": rng.random() < 0.5, "edit": 1},
        ),
        lambda: ("undo", {}),
        lambda: ("forget", {"side": rng.randrange(2)}),
        lambda: ("lesson", {"name": rng.choice(["1-the-goal-moves", "5-block-the-corridor", ""])}),
        lambda: ("knowledge", {"shown": rng.random() < 0.5}),
        lambda: ("step", {}),
        lambda: ("reset", {"seed": rng.randrange(100)}),
        lambda: ("goal", {"cell": rng.randrange(121)}),
    ]
    try:
        with server.page() as page:
            page.receive("state")
            page.send("speed", value=1e6)
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                kind, fields = rng.choice(changes)()
                page.send(kind, **fields)
                page.send("play")
                page.send("inspect", cell=10**6)
                while "expected a cell" not in page.receive("error")["message"]:  # its answer comes last
                    pass
    except Exception as error:
        failures.append(error)


def crowd(server, seconds, visit=use):
    failures: list[Exception] = []
    threads = [threading.Thread(target=visit, args=(server, seconds, k, failures)) for k in range(PAGES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def settles(server, most):
    """Whether the server's memory comes down to `most` bytes; closed pages are freed one after the other."""
    until = time.monotonic() + TIMEOUT
    while server.memory > most and time.monotonic() < until:
        time.sleep(0.1)
    return server.memory <= most


def lan_address() -> str:
    """An address of this computer that is not its own alone; the test is skipped without one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing: it only chooses the address
        except OSError:
            pytest.skip("this computer has no network")
        return str(probe.getsockname()[0])


def test_a_class_of_thirty_pages_over_the_network_each_with_its_own_flag():
    with running("--host", "0.0.0.0", "--port", "0") as local, contextlib.ExitStack() as stack:
        server = local._replace(url=f"http://{lan_address()}:{local.host.rpartition(':')[2]}/")
        pages = [stack.enter_context(server.page()) for _ in range(30)]
        for page in pages:
            page.receive("state")
        for cell, page in enumerate(pages):
            page.send("goal", cell=(12, 13, 14, 15, 17)[cell % 5])
            page.send("play")
        for cell, page in enumerate(pages):
            while struct.unpack_from("<H", page.frame(), 12)[0] != (12, 13, 14, 15, 17)[cell % 5]:
                pass


@pytest.mark.stress
def test_fifty_pages_for_a_minute_without_error_and_without_growth():
    with running("--port", "0") as server:
        crowd(server, 10)
        time.sleep(2)  # pages not yet freed would raise the mark
        before = server.memory
        crowd(server, 60)
        assert settles(server, before + ALLOWED)
        with server.page() as page:
            page.receive("state")


@pytest.mark.stress
def test_fifty_pages_with_frequent_changes_leave_no_error_behind():
    with running("--port", "0") as server:
        crowd(server, 30, change_often)
        with server.page() as page:
            page.receive("state")
