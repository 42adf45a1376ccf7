"""Limits on pages, memory and idle time: what exceeds them is refused with an error, and the page goes on."""

import time
from typing import Any

import pytest
from web_server import PATIENCE, running
from websockets.exceptions import ConnectionClosed


def test_a_large_world_that_fits_is_taken_and_one_too_large_for_its_agents_refused():
    with running("--port", "0") as server, server.page() as page:
        page.hear("state")
        page.say("map", text="\n".join(["." * 100] * 100))  # where FWRL keeps columns of the goals in use
        while len(page.hear("world")["cells"]) != 10_000:
            pass
        page.say("agent", side=1, name="dg")  # which keeps all pairs, 3,052 MiB
        assert "a page may use 512 MiB" in page.hear("error")["message"]
        page.say("step")
        while len(page.frame()) < 10_000:
            pass
        page.say("world", name="four-rooms-60")  # where DG-learning has some 370 MiB of tables
        page.say("agent", side=0, name="dg")
        page.say("agent", side=1, name="dg")
        assert "a page may use 512 MiB" in page.hear("error")["message"]
        page.say("step")
        assert page.hear("state")["agents"] == ["dg", "qlcat"]


def test_a_world_in_use_stays_accounted_for_when_the_next_one_cannot_be_made():
    mib = 2**20  # the world below needs some 11 MiB
    with running(page_bytes=20 * mib, total_bytes=20 * mib) as server, server.page() as first, server.page() as second:
        first.say("world", name="four-rooms-32")
        while first.hear("world")["name"] != "four-rooms-32":
            pass
        first.say("map", text=".")
        first.hear("error")
        second.say("world", name="four-rooms-32")
        assert "the other open pages leave" in second.hear("error")["message"]
        first.say("world", name="h-maze")
        while first.hear("world")["name"] != "h-maze":
            pass
        second.say("world", name="four-rooms-32")
        while second.hear("world")["name"] != "four-rooms-32":
            pass


def test_what_a_closed_page_held_is_free_for_others():
    mib = 2**20
    with running(page_bytes=20 * mib, total_bytes=20 * mib) as server, server.page() as second:
        with server.page() as first:
            first.say("world", name="four-rooms-32")
            while first.hear("world")["name"] != "four-rooms-32":
                pass
            second.say("world", name="four-rooms-32")
            second.hear("error")
        until = time.monotonic() + PATIENCE
        told: dict[str, Any] | bytes = {"type": "error"}
        while _is_error(told) and time.monotonic() < until:  # that the page has gone is noticed in a moment
            second.say("world", name="four-rooms-32")
            while (told := second.next()) and (isinstance(told, bytes) or told["type"] not in ("world", "error")):
                pass
        assert isinstance(told, dict)
        assert told.get("name") == "four-rooms-32"


def test_pages_beyond_the_limit_are_told_so_until_another_is_closed():
    with running(pages=2) as server:
        with server.page() as first, server.page() as second:
            first.hear("hello")
            second.hear("hello")
            with server.page() as third:
                assert "at most 2 open pages" in third.hear("error")["message"]
                with pytest.raises(ConnectionClosed):
                    third.hear("hello")
        with server.page() as again:
            again.hear("hello")


def test_a_page_that_nobody_touches_is_closed_and_another_may_come_in():
    with running(pages=1, idle=0.5) as server:
        with server.page() as page:
            page.hear("state")
            with pytest.raises(ConnectionClosed) as closed:
                page.hear("never")
            assert closed.value.rcvd is not None
            assert (closed.value.rcvd.code, "reload" in closed.value.rcvd.reason) == (4001, True)
        with server.page() as again:
            again.hear("hello")


def _is_error(told: dict[str, Any] | bytes) -> bool:
    return isinstance(told, dict) and told["type"] == "error"
