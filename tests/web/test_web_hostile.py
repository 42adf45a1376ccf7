"""The server answers every malformed message with an error or closes the page, and goes on."""

import json
import random
from typing import Any

import pytest
from web_server import running
from websockets.exceptions import ConnectionClosed

from fwrl.web.play.controller import HANDLERS


@pytest.fixture(scope="module")
def server():
    with running("--port", "0") as server:
        yield server


HOSTILE = [
    "",
    "null",
    "[]",
    "{}",
    "{" * 5000,
    '{"type": "goal", "cell": 1e400}',
    '{"type": "goal", "cell": -1}',
    '{"type": "goal", "cell": 99999999999999999999999}',
    '{"type": "goal", "cell": 0}',
    '{"type": "world", "name": "../../etc/passwd"}',
    '{"type": "world", "name": "maze-99999x99999-1"}',
    '{"type": "map", "text": "", "keep": true, "edit": 1}',
    '{"type": "map", "text": "#", "keep": true, "edit": 1}',
    '{"type": "map", "text": ".", "keep": true, "edit": 1}',
    '{"type": "map", "text": "..\\n.", "keep": true, "edit": 1}',
    '{"type": "map", "text": "\\u0000\\ud800", "keep": true, "edit": 1}',
    '{"type": "map", "text": "' + "." * 33_000 + '", "keep": true, "edit": 1}',
    '{"type": "agent", "side": 0, "name": "__class__", "options": {}}',
    '{"type": "agent", "side": -1, "name": "ql", "options": {}}',
    '{"type": "tour", "step": 5}',
    '{"type": "tour", "step": -2}',
    '{"type": "speed", "value": -1}',
    '{"type": "reset", "seed": 4294967296}',
    '{"type": "inspect", "cell": 121}',
    '{"type": "begin", "session": "", "address": ""}',
    '{"type": "agent", "side": 0, "name": "fwrl", "options": {"backup": 1}}',
    '{"type": "agent", "side": 0, "name": "fwrl", "options": {"memory": -1}}',
    '{"type": "agent", "side": 0, "name": "ql", "options": {"learning_rate": "x", "__class__": []}}',
    '{"type": "open", "text": "world = 3"}',
    '{"type": "open", "text": "training = [1]"}',
    '{"type": "address", "address": "world=nowhere"}',
    '{"type": "address", "address": "%%%"}',
    '{"type": "address", "address": "steps=99999999999999"}',
    '{"type": "lesson", "name": "../x"}',
    '{"type": "triangle", "move": "back"}',
    '{"type": "forget", "side": 2}',
    '{"type": "ack", "frame": "1"}',
    b"\x00\xff",
    b"",
]


CHANGES: dict[str, dict[str, Any]] = {
    "world": {"name": "h-maze"},
    "agent": {"side": 0, "name": "ql", "options": {}},
    "goal": {"cell": 13},
    "tour": {"step": 2},
}


def hostile(rng):
    """One bad message: one of the list, a damaged good one, or noise."""
    kind = rng.randrange(3)
    if kind == 0:
        return rng.choice(HOSTILE)
    if kind == 1:
        return rng.randbytes(rng.randrange(200))
    name = rng.choice(sorted(HANDLERS))
    value = rng.choice([None, "x", -1, 1e300, [], {}, True, "\u202e" * 9, -(2**63), 2**64])
    field = rng.choice(["cell", "name", "text", "side", "seed", "step", "value", "__proto__"])
    return json.dumps({"type": name, field: value, rng.choice(["x", "type2"]): 1})


def bombard(server, messages, seed=0):
    """Send that many bad messages, many to a page; every one is answered by an error."""
    rng = random.Random(seed)
    sent = 0
    while sent < messages:
        with server.page() as page:
            page.receive("state")
            for _ in range(min(100, messages - sent)):
                page.socket.send(hostile(rng))
                assert page.receive("error")["message"]
                sent += 1
            page.send("step")
            page.receive("state")


def test_300_malformed_messages_are_all_answered_by_an_error(server):
    bombard(server, 300)
    assert server.process.poll() is None


@pytest.mark.stress
def test_10_000_malformed_messages_are_all_answered_by_an_error(server):
    bombard(server, 10_000, seed=1)
    assert server.process.poll() is None


def test_pages_that_leave_in_the_middle_of_something_leave_no_trace():
    with running("--port", "0") as server:
        for k in range(12):
            with server.page() as page:
                page.receive("state")
                page.send("speed", value=1e6)
                page.send("play")
                for kind in list(CHANGES)[k % 4 :]:
                    page.send(kind, **CHANGES[kind])
                if k % 2:
                    page.next()
                else:
                    page.socket.socket.close()
        with server.page() as page:
            page.receive("state")


def test_a_message_beyond_the_limit_closes_the_page_and_nothing_else(server):
    codes: list[int] = []
    for _ in range(20):
        with server.page() as page:
            page.receive("state")
            page.send("map", text="." * 70_000, keep=True, edit=1)
            with pytest.raises(ConnectionClosed) as closed:
                page.receive("never")
        # Closing a connection with unread bytes resets it, and the reset may overtake the word of why.
        if closed.value.rcvd is not None:
            codes.append(closed.value.rcvd.code)
            break
    assert codes == [1009]
    with server.page() as page:
        page.receive("state")
