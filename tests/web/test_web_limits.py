"""Limits on pages, memory and idle time: what exceeds them is refused with an error, and the page goes on."""

import time
from typing import Any

import pytest
from web_server import TIMEOUT, Running, running
from websockets.exceptions import ConnectionClosed


def test_a_large_world_that_fits_is_taken_and_one_too_large_for_its_agents_refused():
    with running("--port", "0") as server, server.page() as page:
        page.receive("state")
        page.send(
            "map", text="\n".join(["." * 100] * 100), keep=True, edit=1
        )  # where FWRL keeps columns of the goals in use
        while len(page.receive("world")["rows"]) != 100:
            pass
        page.send("agent", side=1, name="dg", options={})  # which keeps all pairs, 3,052 MiB
        assert "a page may use 512 MiB" in page.receive("error")["message"]
        page.send("step")
        while len(page.frame()) < 10_000:
            pass
        page.send("world", name="four-rooms-60")  # where DG-learning has some 370 MiB of tables
        page.send("agent", side=0, name="dg", options={})
        page.send("agent", side=1, name="dg", options={})
        assert "a page may use 512 MiB" in page.receive("error")["message"]
        page.send("step")
        assert [agent["name"] for agent in page.receive("state")["agents"]] == ["dg", "qlcat"]


def test_a_world_in_use_stays_counted_when_the_next_one_cannot_be_made():
    mib = 2**20  # the world below needs some 11 MiB
    with running(page_bytes=20 * mib, total_bytes=20 * mib) as server, server.page() as first, server.page() as second:
        first.send("world", name="four-rooms-32")
        while first.receive("world")["name"] != "four-rooms-32":
            pass
        first.send("map", text=".", keep=True, edit=1)
        first.receive("error")
        second.send("world", name="four-rooms-32")
        assert "the other open pages leave" in second.receive("error")["message"]
        first.send("world", name="h-maze")
        while first.receive("world")["name"] != "h-maze":
            pass
        second.send("world", name="four-rooms-32")
        while second.receive("world")["name"] != "four-rooms-32":
            pass


def test_what_a_closed_page_held_is_free_for_others():
    mib = 2**20
    with running(page_bytes=20 * mib, total_bytes=20 * mib) as server, server.page() as second:
        with server.page() as first:
            first.send("world", name="four-rooms-32")
            while first.receive("world")["name"] != "four-rooms-32":
                pass
            second.send("world", name="four-rooms-32")
            second.receive("error")
        until = time.monotonic() + TIMEOUT
        message: dict[str, Any] | bytes = {"type": "error"}
        while _is_error(message) and time.monotonic() < until:  # a closed page is noticed after a moment
            second.send("world", name="four-rooms-32")
            while isinstance(message := second.next(), bytes) or message["type"] not in ("world", "error"):
                pass
        assert isinstance(message, dict)
        assert message.get("name") == "four-rooms-32"


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
