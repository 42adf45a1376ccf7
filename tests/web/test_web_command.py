"""The command: its port and host, and that Ctrl-C always ends it."""

import errno
import signal
import socket
import subprocess
import sys

import pytest
from web_server import TIMEOUT, running

from fwrl.errors import FwrlError
from fwrl.web.server import listen


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


@pytest.mark.parametrize(
    ("port", "said"),
    [
        (80, "port 80 is not permitted; choose one from 1024 on"),
        (8765, "all ports from 8765 to 8784 are taken"),  # Windows says so of ports that others have to themselves
    ],
)
def test_a_port_that_is_not_permitted_is_said_with_those_that_are(monkeypatch, port, said):
    def refuse(self, address):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(FwrlError, match=said):
        listen("127.0.0.1", port)


def test_an_open_host_prints_what_that_means():
    process = command("--host", "0.0.0.0", "--port", 0)
    try:
        said = process.stdout.readline()
        assert "nothing is encrypted" in said
        port = process.stdout.readline().partition("http://127.0.0.1:")[2].partition("/")[0]
        assert said.startswith(f"open to others at http://YOUR-ADDRESS:{port}/; ")  # nobody can open 0.0.0.0
    finally:
        end(process)


def test_a_host_of_another_computer_is_refused(call):
    code, out, err = call("play", "--host", "192.0.2.1", "--no-browser")
    assert (code, out) == (2, "")
    assert "192.0.2.1" in err


LESSON = """
title = "Mine"
question = "Left or right?"
answers = ["left", "right"]
world = "h-maze"
goal = [2, 2]
[[training]]
steps = 70
"""


def test_a_lesson_of_ones_own_is_begun_with_and_offered_first(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(LESSON)
    with running("--port", "0", "--lesson", str(path)) as server, server.page() as page:
        first = page.receive("hello")["lessons"][0]
        assert (first["name"], first["title"], "answer" in first) == ("mine", "Mine", False)
        assert page.receive("world")["name"] == "h-maze"
        state = page.receive("state")
        assert (state["lesson"]["title"], state["lesson"]["answers"]) == ("Mine", ["left", "right"])
        assert page.steps() == 70


def test_a_lesson_that_cannot_be_read_is_refused_before_anything_is_served(call, tmp_path):
    (tmp_path / "bad.toml").write_text("goal = 3")
    for name, problem in (("bad.toml", "expected goal as [x, y]"), ("none.toml", "there is no such file")):
        code, out, err = call("play", "--no-browser", "--lesson", name)
        assert (code, out) == (2, "")
        assert name in err
        assert problem in " ".join(err.split())


def test_ctrl_c_ends_it_with_a_page_at_full_speed():
    with running("--port", "0") as server, server.page() as page:
        page.send("speed", value=1e6)
        page.send("play")
        for _ in range(5):
            page.frame()
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=TIMEOUT) == 130
        assert server.output() == "fwrl: stopped\n"


ENDLESS = """
from threading import Event

from fwrl.agents import register_agent
from fwrl.agents.baselines.random import RandomWalk


@register_agent
class Endless(RandomWalk):
    name = "endless"
    description = "an agent whose tables are never done"

    def empty_tables(self):
        Event().wait()
"""


def test_ctrl_c_does_not_wait_for_what_is_being_made():
    with running("--port", "0", before=ENDLESS) as server, server.page() as page:
        page.receive("state")
        page.send("agent", side=0, name="endless", options={})
        page.receive("working")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=TIMEOUT) == 130
        assert server.output() == "fwrl: stopped\n"


def test_trained_boards_do_not_wait_for_the_compiler_which_ctrl_c_ends(tmp_path):
    empty = {"XDG_CACHE_HOME": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path)}
    with running("--port", "0", environment=empty) as server, server.page() as page:
        assert page.steps() == 8000
        assert not list(tmp_path.rglob("*.nbc")), "the first boards needed a compiled function"
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=TIMEOUT) == 130
        assert server.output().endswith("fwrl: stopped\n")


def command(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "fwrl", "play", "--no-browser", *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )


def end(process):
    process.terminate()
    process.wait(timeout=TIMEOUT)
    process.stdout.close()
