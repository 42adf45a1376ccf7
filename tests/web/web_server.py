"""A server of `fwrl play` or `fwrl explore` in a process of its own, and a client for its websocket."""

from __future__ import annotations

import contextlib
import json
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from websockets.sync.client import ClientConnection, connect

from fwrl.web.play.protocol import HEADER

TIMEOUT = 300.0  # seconds: machines may be busy, and no test is about time
HEADER_STEPS = 8  # position of the number of steps in a frame of `play`

LIMITED = """
from fwrl.web import Limits, serve
from fwrl.web.play import PLAY
serve(PLAY, port=0, browser=False, limits=Limits(**{limits}), say=lambda text: print(text, flush=True))
"""
COMMAND = """
from fwrl.cli import main
main()
"""


class Running(NamedTuple):
    url: str
    process: subprocess.Popen[str]
    command: str = "play"

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://").rstrip("/")

    def output(self) -> str:
        """The rest of what the process prints."""
        assert self.process.stdout is not None
        return self.process.stdout.read()

    @property
    def memory(self) -> int:
        """Resident bytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * 4096

    @contextlib.contextmanager
    def page(self, *, begin: bool = True, session: str = "", address: str = "", **options: Any) -> Iterator[Client]:
        """A websocket as the page opens it; with `begin` it has sent the first message."""
        options = {"origin": f"http://{self.host}", "max_size": None, "open_timeout": TIMEOUT, **options}
        with connect(f"ws://{self.host}/ws", **options) as socket:
            client = Client(socket)
            if begin:
                kept = {"session": session} if self.command == "play" else {}
                client.send("begin", address=address, **kept)
            yield client


class Client:
    """One websocket: JSON out, JSON and frames in."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    def send(self, kind: str, **fields: Any) -> None:
        self.socket.send(json.dumps({"type": kind, **fields}))

    def receive(self, kind: str) -> dict[str, Any]:
        """The next message of this kind; frames on the way are acknowledged."""
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until:
            message = self.next()
            if isinstance(message, dict) and message["type"] == kind:
                return message
        raise TimeoutError(kind)

    def frame(self) -> bytes:
        """The next frame, acknowledged."""
        while isinstance(message := self.next(), dict):
            pass
        return message

    def steps(self) -> float:
        """How many steps each agent of `play` has taken by the next frame."""
        return float(HEADER.unpack_from(self.frame())[HEADER_STEPS])

    def next(self) -> dict[str, Any] | bytes:
        received = self.socket.recv(timeout=TIMEOUT)
        if isinstance(received, str):
            message: dict[str, Any] = json.loads(received)
            return message
        self.send("ack", frame=struct.unpack_from("<I", received, 4)[0])
        return received


@contextlib.contextmanager
def running(
    *arguments: str,
    command: str = "play",
    before: str = "",
    environment: dict[str, str] | None = None,
    **limits: Any,
) -> Iterator[Running]:
    """The command with these arguments, or with limits the server behind it; `before` is Python to run first."""
    program = before + (LIMITED.format(limits=limits) if limits else COMMAND)
    process = subprocess.Popen(
        [sys.executable, "-c", program, command, "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, **(environment or {})},
    )
    assert process.stdout is not None
    try:
        said = ""
        while not (found := re.search(r"(?<!open to others at )http://\S+", said)):
            line = process.stdout.readline()
            assert line, said
            said += line
        yield Running(found.group(), process, command)
        process.terminate()
        process.wait(timeout=TIMEOUT)
        logged = "" if process.stdout.closed else process.stdout.read()
        assert "Traceback" not in logged, logged
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
