"""The server: who may come in, what is refused, and that it outlives whatever is thrown at it."""

import http.client
import json
import random
import signal
import socket
import subprocess
import sys

import pytest
from play_server import running
from websockets.exceptions import ConnectionClosed, InvalidStatus

from fwrl.play.messages import TYPES


@pytest.fixture(scope="module")
def server():
    with running("--port", "0") as server:
        yield server


def status_of(server, path="/", **headers):
    host, _, port = server.host.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def test_the_page_and_its_files_are_served_and_may_load_nothing_from_elsewhere(server):
    for path, kind in (("/", "text/html"), ("/main.js", "text/javascript"), ("/page.css", "text/css")):
        response, body = status_of(server, path)
        assert response.status == 200
        assert response.headers["content-type"].startswith(kind)
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert b"http://" not in body.replace(b"http://www.w3.org", b"")
        assert b"https://" not in body
    assert status_of(server, "/../session.py")[0].status == 404
    assert status_of(server, "/%2e%2e/session.py")[0].status == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "", "[", "10.0.0.1"])
def test_a_foreign_host_is_refused(server, host):
    host = host.format(port=server.host.rpartition(":")[2])
    response, body = status_of(server, Host=host)
    assert response.status == 403
    assert b"Host" in body
    with pytest.raises(InvalidStatus) as refused, server.page(additional_headers={"Host": host}):
        pass
    assert refused.value.response.status_code in (400, 403)


@pytest.mark.parametrize("origin", ["http://evil.example", "http://localhost:3000", "null", "https://{host}", None])
def test_a_foreign_origin_is_refused(server, origin):
    origin = origin and origin.format(host=server.host)
    with pytest.raises(InvalidStatus) as refused, server.page(origin=origin):
        pass
    assert refused.value.response.status_code == 403
    if origin:
        assert status_of(server, Origin=origin)[0].status == 403


def test_localhost_is_this_computer_too(server):
    port = server.host.rpartition(":")[2]
    assert status_of(server, Host=f"localhost:{port}")[0].status == 200
    assert status_of(server, Origin=f"http://{server.host}")[0].status == 200


def test_a_page_is_greeted_and_shown_the_first_world(server):
    with server.page() as page:
        hello = page.hear("hello")
        assert {"fwrl", "qlcat", "mbrl"} <= {agent["name"] for agent in hello["agents"]}
        assert hello["worlds"][0] == "four-rooms"
        assert len(page.hear("world")["cells"]) == 68
        assert page.hear("state")["agents"] == ["fwrl", "qlcat"]
        assert page.frame()[:4] == b"FWR1"


def test_no_frame_is_sent_before_the_last_one_was_drawn(server):
    with server.page() as page:
        page.say("speed", value=1e6)
        page.say("play")
        page.frame()
        while isinstance(told := page.socket.recv(timeout=60), str):
            pass
        silent = []
        try:
            while True:
                silent.append(page.socket.recv(timeout=1.5))
        except TimeoutError:
            pass
        assert not [message for message in silent if isinstance(message, bytes)]
        page.say("ack", frame=int.from_bytes(told[4:8], "little"))
        assert page.frame()[:4] == b"FWR1"


def test_the_last_episodes_before_a_pause_are_in_the_curves(server):
    with server.page() as page:
        page.say("speed", value=1e6)
        page.say("play")
        for _ in range(3):
            page.frame()
        page.say("pause")
        episode, curve = -1, {"sides": [[{"episodes": []}]]}
        while page.hear("state")["playing"]:
            pass
        while episode < 1 or sum(curve["sides"][0][0]["episodes"]) != episode:
            told = page.next()
            if isinstance(told, bytes):
                episode = int.from_bytes(told[20:24], "little")
            elif told["type"] == "curve":
                curve = told


def test_a_goal_clicked_and_a_cell_inspected(server):
    with server.page() as page:
        page.say("speed", value=1e6)
        page.say("play")
        for _ in range(10):
            page.frame()
        page.say("pause")
        page.say("goal", cell=13)
        page.say("inspect", cell=12)
        told = page.hear("inspect")
        assert (told["cell"], told["goal"]) == (12, 13)
        assert [len(side["values"]) for side in told["sides"]] == [4, 4]
        fwrl, qlcat = told["sides"]
        assert (fwrl["arrives"], qlcat["arrives"]) == (True, False)
        assert fwrl["pieces"][0]["states"][0] == 0


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
    '{"type": "map", "text": ""}',
    '{"type": "map", "text": "#"}',
    '{"type": "map", "text": "."}',
    '{"type": "map", "text": "..\\n."}',
    '{"type": "map", "text": "\\u0000\\ud800"}',
    '{"type": "map", "text": "' + "." * 30_000 + '"}',
    '{"type": "agent", "side": 0, "name": "__class__"}',
    '{"type": "agent", "side": -1, "name": "ql"}',
    '{"type": "tour", "step": 5}',
    '{"type": "tour", "step": -2}',
    '{"type": "speed", "value": -1}',
    '{"type": "reset", "seed": 4294967296}',
    '{"type": "inspect", "cell": 121}',
    '{"type": "ack", "frame": "1"}',
    b"\x00\xff",
    b"",
]


def hostile(rng):
    """One bad message: one of the list, a damaged good one, or noise."""
    kind = rng.randrange(3)
    if kind == 0:
        return rng.choice(HOSTILE)
    if kind == 1:
        return rng.randbytes(rng.randrange(200))
    name = rng.choice(sorted(TYPES))
    value = rng.choice([None, "x", -1, 1e300, [], {}, True, "\u202e" * 9, -(2**63), 2**64])
    field = rng.choice(["cell", "name", "text", "side", "seed", "step", "value", "__proto__"])
    return json.dumps({"type": name, field: value, rng.choice(["x", "type2"]): 1})


def bombard(server, messages, seed=0):
    """Send that many bad messages, many to a page; every one is answered by an error."""
    rng = random.Random(seed)
    sent = 0
    while sent < messages:
        with server.page() as page:
            page.hear("state")
            for _ in range(min(100, messages - sent)):
                page.socket.send(hostile(rng))
                assert page.hear("error")["message"]
                sent += 1
            page.say("step")
            page.hear("state")


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
                page.hear("state")
                page.say("speed", value=1e6)
                page.say("play")
                for kind in ("world", "agent", "goal", "tour")[k % 4 :]:
                    fields = {"world": {"name": "h-maze"}, "agent": {"side": 0, "name": "ql"}, "goal": {"cell": 13}}
                    page.say(kind, **fields.get(kind, {"step": 2}))
                if k % 2:
                    page.next()
                else:
                    page.socket.socket.close()
        with server.page() as page:
            page.hear("state")


def test_a_message_beyond_the_limit_closes_the_page_and_nothing_else(server):
    with server.page() as page:
        page.hear("state")
        page.say("map", text="." * 70_000)
        with pytest.raises(ConnectionClosed) as closed:
            page.hear("never")
        assert closed.value.rcvd.code == 1009
    with server.page() as page:
        page.hear("state")


def test_a_world_too_large_is_refused_and_the_page_goes_on(server):
    with server.page() as page:
        page.hear("state")
        page.say("map", text="\n".join(["." * 100] * 100))
        assert "page's 512 MiB" in page.hear("error")["message"]
        page.say("step")
        assert page.hear("state")["agents"] == ["fwrl", "qlcat"]


def test_a_busy_page_does_not_starve_another(server):
    with server.page() as busy, server.page() as calm:
        busy.say("world", name="four-rooms-60")
        busy.say("speed", value=1e6)
        busy.say("play")
        while busy.hear("world")["name"] != "four-rooms-60":
            pass
        while len(busy.frame()) < 30_000:
            pass
        calm.hear("state")
        for cell in (12, 13, 14) * 5:
            calm.say("inspect", cell=cell)
            assert calm.hear("inspect")["cell"] == cell
            assert len(busy.frame()) > 30_000


def test_a_world_in_use_stays_accounted_for_when_the_next_one_cannot_be_made():
    mib = 2**20  # the world below needs some 14 MiB
    with running(page_bytes=20 * mib, total_bytes=20 * mib) as server, server.page() as first, server.page() as second:
        first.say("world", name="four-rooms-32")
        while first.hear("world")["name"] != "four-rooms-32":
            pass
        first.say("map", text=".")
        first.hear("error")
        second.say("world", name="four-rooms-32")
        assert "fits beside the other open pages" in second.hear("error")["message"]
        first.say("world", name="h-maze")
        while first.hear("world")["name"] != "h-maze":
            pass
        second.say("world", name="four-rooms-32")
        while second.hear("world")["name"] != "four-rooms-32":
            pass


def test_where_kernels_must_be_compiled_the_map_comes_first_and_ctrl_c_does_not_wait(tmp_path):
    empty = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
    with running("--port", "0", environment=empty) as server, server.page() as page:
        heard = [page.next()]
        while heard[-1].get("compiling") is not True:
            heard.append(page.next())
        assert {told["type"] for told in heard[2:]} == {"working"}
        assert [told["type"] for told in heard[:2]] == ["hello", "world"]
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=5) == 130
        assert server.process.stdout.read() == "fwrl: stopped\n"


def test_pages_beyond_the_limit_are_told_so_and_idle_ones_are_closed():
    with running(pages=2, idle=1.0) as server:
        with server.page() as first, server.page() as second:
            first.hear("hello")
            second.hear("hello")
            with server.page() as third:
                assert "at most 2 open pages" in third.hear("error")["message"]
                with pytest.raises(ConnectionClosed):
                    third.hear("hello")
            with pytest.raises(ConnectionClosed) as closed:
                first.hear("never")
            assert (closed.value.rcvd.code, "reload" in closed.value.rcvd.reason) == (4001, True)
        with server.page() as again:
            again.hear("hello")


def test_a_busy_port_is_said_and_the_next_one_taken():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = command("--port", port)
        try:
            said = process.stdout.readline()
            assert said.startswith(f"port {port} is taken, using ")
            assert f":{said.split()[-1]}/" in process.stdout.readline()
        finally:
            end(process)


def test_an_open_host_prints_what_that_means():
    process = command("--host", "0.0.0.0", "--port", 0)
    try:
        said = process.stdout.readline()
        assert said.startswith("open to others: ")
        assert "nothing is encrypted" in said
        assert "http://127.0.0.1:" in process.stdout.readline()
    finally:
        end(process)


def test_ctrl_c_ends_it_at_once_even_with_a_page_at_full_speed():
    with running("--port", "0") as server, server.page() as page:
        page.say("speed", value=1e6)
        page.say("play")
        for _ in range(5):
            page.frame()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=10) == 130
        assert server.process.stdout.read() == "fwrl: stopped\n"


def test_a_host_that_is_not_ours_is_refused_in_words(call):
    code, out, err = call("play", "--host", "192.0.2.1", "--no-browser")
    assert (code, out) == (2, "")
    assert "192.0.2.1" in err


def command(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "fwrl", "play", "--no-browser", *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def end(process):
    process.terminate()
    process.wait(timeout=20)
    process.stdout.close()
