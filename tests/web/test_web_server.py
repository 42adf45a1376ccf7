"""The server: what a page is sent, and that pages do not disturb each other."""

import asyncio
import json
from collections.abc import MutableMapping
from typing import Any

import pytest
from web_server import TIMEOUT, running

from fwrl.web.play import PLAY
from fwrl.web.server import make_app
from fwrl.web.shared import SharedState


@pytest.fixture(scope="module")
def server():
    with running("--port", "0") as server:
        yield server


def test_a_new_page_is_sent_the_menus_and_the_first_world(server):
    with server.page() as page:
        hello = page.receive("hello")
        assert {"fwrl", "qlcat", "mbrl"} <= {agent["name"] for agent in hello["agents"]}
        assert hello["worlds"][0] == "four-rooms"
        assert len(page.receive("world")["rows"]) == 11
        assert [agent["name"] for agent in page.receive("state")["agents"]] == ["fwrl", "qlcat"]
        assert page.frame()[:4] == b"FWR1"


def test_no_frame_is_sent_before_the_last_one_was_drawn(server):
    with server.page() as page:
        page.send("speed", value=1e6)
        page.send("play")
        page.frame()
        while isinstance(message := page.socket.recv(timeout=TIMEOUT), str):
            pass
        steps = 300  # each of which makes another frame due; some end an episode
        for _ in range(steps):
            page.send("step")
        while steps:
            received = page.socket.recv(timeout=TIMEOUT)
            assert isinstance(received, str)
            kind = json.loads(received)["type"]
            assert kind != "error", received
            steps -= kind == "state"
        page.send("ack", frame=int.from_bytes(message[4:8], "little"))
        assert page.frame()[:4] == b"FWR1"


def test_the_last_episodes_before_a_pause_are_in_the_curves(server):
    with server.page() as page:
        page.send("speed", value=1e6)
        page.send("play")
        while int.from_bytes(page.frame()[20:24], "little") < 1:  # until an episode has ended
            pass
        page.send("pause")
        episode, playing = -1, True
        curve: dict[str, Any] = {"sides": [[{"episodes": []}]]}
        while playing or episode < 1 or sum(curve["sides"][0][0]["episodes"]) != episode:
            message = page.next()
            if isinstance(message, bytes):
                episode = int.from_bytes(message[20:24], "little")
            elif message["type"] == "curve":
                curve = message
            elif message["type"] == "state":
                playing = message["playing"]


def test_a_goal_clicked_and_a_cell_inspected(server):
    with server.page() as page:
        page.send("speed", value=1e6)
        page.send("play")
        while page.steps() < 30_000:  # steps of each agent
            pass
        page.send("pause")
        page.send("goal", cell=13)
        page.send("inspect", cell=12)
        message = page.receive("inspect")
        assert (message["cell"], message["goal"]) == (12, 13)
        assert [len(side["values"]) for side in message["sides"]] == [4, 4]
        fwrl, qlcat = message["sides"]
        assert (fwrl["arrives"], qlcat["arrives"]) == (True, False)
        assert fwrl["stretches"][0]["states"][0] == 12


def test_a_page_that_comes_back_goes_on_and_nobody_else_can(server):
    with server.page() as page:
        key = page.receive("hello")["session"]
        page.receive("state")
        page.send("step")
        page.receive("update")
    with server.page(session="a guess") as stranger:
        assert stranger.steps() == 8000
    with server.page(session=key) as again:
        assert again.steps() == 8001
    with server.page(session=key) as third:  # the key is used up
        assert third.steps() == 8000


def test_nothing_is_done_before_the_first_message(server):
    with server.page(begin=False) as page:
        page.receive("hello")
        page.send("step")
        assert "'begin' first" in page.receive("error")["message"]


def test_a_busy_page_does_not_starve_another(server):
    with server.page() as busy, server.page() as calm:
        busy.send("world", name="four-rooms-60")
        busy.send("speed", value=1e6)
        busy.send("play")
        while busy.receive("world")["name"] != "four-rooms-60":
            pass
        while len(busy.frame()) < 30_000:
            pass
        calm.receive("state")
        for cell in (12, 13, 14) * 5:
            calm.send("inspect", cell=cell)
            assert calm.receive("inspect")["cell"] == cell
            assert len(busy.frame()) > 30_000


def test_a_page_its_files_and_those_of_all_pages_are_served():
    app = make_app(PLAY, SharedState())
    assert b"<title>fwrl play</title>" in got(app, "/")
    assert got(app, "/play.css").startswith(b"/*")
    assert got(app, "/static/look.css").startswith(b"/*")
    assert websocket_accepted(app, "/ws")


def got(app, path):
    """The body of a GET request."""
    body = b"".join(
        sent.get("body", b"") for sent in asgi_messages(app, {"type": "http", "method": "GET", "path": path})
    )
    assert isinstance(body, bytes)
    return body


def websocket_accepted(app, path):
    """Whether a websocket is accepted; it is closed at once."""
    return "websocket.accept" in [sent["type"] for sent in asgi_messages(app, {"type": "websocket", "path": path})]


def asgi_messages(app, scope):
    """What the application sends, called as the server calls it, until the browser disconnects."""
    headers = [(b"host", b"localhost"), (b"origin", b"http://localhost")]
    sent: list[MutableMapping[str, Any]] = []
    events = {"http": ["http.request"], "websocket": ["websocket.connect", "websocket.disconnect"]}[scope["type"]]

    async def receive():
        if not events:
            await asyncio.Event().wait()
        return {"type": events.pop(0)}

    async def send(message):
        sent.append(message)

    asyncio.run(app({**scope, "root_path": "", "query_string": b"", "headers": headers}, receive, send))
    return sent
