"""Limits on pages, memory and idle time: what exceeds them is refused with an error, and the page goes on."""

import time
from typing import Any

import pytest
from web_server import TIMEOUT, Running, running
from websockets.exceptions import ConnectionClosed


def test_a_board_too_large_is_refused_and_the_page_goes_on():
    with running("--port", "0") as server, server.page() as page:
        page.receive("state")
        page.send("map", text="\n".join(["." * 65] * 65), keep=True, edit=1)
        assert "4,225 cells, and 4,096 is the most" in page.receive("error")["message"]
        page.send("step")
        assert page.receive("update")


def test_what_a_closed_page_held_is_free_for_others():
    with running(pairs=34**4 + 2 * 121**2) as server, server.page() as second:
        with server.page() as first:
            first.send("world", name="four-rooms-32")
            while first.receive("world")["name"] != "four-rooms-32":
                pass
            second.send("world", name="four-rooms-32")
            assert "leave no room" in second.receive("error")["message"]
        until = time.monotonic() + TIMEOUT
        message: dict[str, Any] | bytes = {"type": "error"}
        while _is_error(message) and time.monotonic() < until:  # a closed page is noticed after a moment
            second.send("world", name="four-rooms-32")
            while isinstance(message := second.next(), bytes) or message["type"] not in ("world", "error"):
                pass
        assert isinstance(message, dict)
        assert message.get("name") == "four-rooms-32"


ENDLESS = """
from threading import Event

from fwrl import PythonAgent, register_agent


@register_agent
class Endless(PythonAgent):
    name, description = "endless", "an agent that never decides"

    def act(self, state, explore=True):
        Event().wait()

    def observe(self, state, action, reward, next_state, arrived=False):
        pass
"""


def test_work_without_end_is_cut_off_and_other_pages_go_on():
    with running(before=ENDLESS, seconds=10) as server, server.page() as other:
        other.receive("state")
        with server.page(address="world=h-maze&agents=fwrl;endless") as page:
            with pytest.raises(ConnectionClosed) as closed:
                page.receive("state")
            assert closed.value.rcvd is not None
            assert (closed.value.rcvd.code, "was cut off" in closed.value.rcvd.reason) == (4002, True)
        other.send("step")
        other.receive("update")
        with server.page() as third:
            third.receive("state")


def assert_opens_soon(server: Running) -> None:
    """A page opens, if not at once: the server learns in its own time that another was closed."""
    until = time.monotonic() + TIMEOUT
    while True:
        try:
            with server.page() as page:
                page.receive("hello")
                return
        except ConnectionClosed:
            assert time.monotonic() < until


def test_pages_beyond_the_limit_are_refused_until_another_is_closed():
    with running(pages=2) as server:
        with server.page() as first, server.page() as second:
            first.receive("hello")
            second.receive("hello")
            with server.page(begin=False) as third:
                assert "at most 2 open pages" in third.receive("error")["message"]
                with pytest.raises(ConnectionClosed):
                    third.receive("hello")
        assert_opens_soon(server)


def test_an_unused_page_is_closed_and_another_may_open():
    with running(pages=1, idle=0.5) as server:
        with server.page() as page:
            page.receive("state")
            with pytest.raises(ConnectionClosed) as closed:
                page.receive("never")
            assert closed.value.rcvd is not None
            assert (closed.value.rcvd.code, "reload" in closed.value.rcvd.reason) == (4001, True)
        with server.page() as again:
            again.receive("hello")


def _is_error(message: dict[str, Any] | bytes) -> bool:
    return isinstance(message, dict) and message["type"] == "error"
