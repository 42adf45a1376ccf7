"""Schedulers and workers as processes of their own, and what kills them."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

PATIENCE = 1  # second in which a process must end by itself
FOLDER = str(Path(__file__).parent)
FWRL = [sys.executable, "-c", "from fwrl.cli import main\nif __name__ == '__main__': main()"]


class Cluster:
    """A Dask scheduler and its workers, started as its users start them."""

    def __init__(self, **settings: str) -> None:
        paths = [FOLDER, *filter(None, [os.environ.get("PYTHONPATH")])]
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **settings}
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        assert self.scheduler.stderr is not None
        for line in self.scheduler.stderr:
            if found := re.search(r"Scheduler at:\s+(tcp://\S+)", line):
                self.address = found[1]
                break
        self.workers: list[subprocess.Popen[str]] = []

    def add_worker(self, *options: str) -> None:
        words = [self.address, "--nthreads", "1", "--no-dashboard", *options]
        self.workers.append(self._start("worker", *words, log=False))

    def _start(self, what: str, *words: str, log: bool = True) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *words]
        to = subprocess.PIPE if log else subprocess.DEVNULL
        return subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=to,
            text=True,
            env=self.environment,
            start_new_session=True,  # so that what it starts can be ended with it
        )

    def wait_for_workers(self, n: int) -> None:
        import distributed

        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(n, timeout=120)

    def stop(self) -> None:
        """End all processes; one that is just starting a worker anew does not listen, and is killed."""
        for process in (*self.workers, self.scheduler):
            process.terminate()
        for process in (*self.workers, self.scheduler):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if process.stderr is not None:
                process.stderr.close()


@contextlib.contextmanager
def cluster(**settings: str) -> Iterator[Cluster]:
    found = Cluster(**settings)
    try:
        yield found
    finally:
        found.stop()


def workers_of(parent: int) -> list[int]:
    """The worker processes that `parent` started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            mine = int(entry.read_text().rsplit(")", 1)[1].split()[1]) == parent
            if mine and b"spawn_main" in (entry.parent / "cmdline").read_bytes():
                found.append(int(entry.parent.name))
    return found


def wait_until(condition, seconds=300.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def ended_with_kills(process, at_work, kills, rng: np.random.Generator) -> int:
    """The number of kills of workers of `process` at random moments while it was at work; it ends by itself."""
    wait_until(lambda: at_work() or process.poll() is not None)
    met = 0
    for _ in range(kills):
        time.sleep(rng.uniform(0.0, 0.7))
        found = workers_of(process.pid)
        if process.poll() is None and found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(rng.choice(found)), signal.SIGKILL)
                met += 1
    return met


def take_all_memory(task: object) -> int:
    """Take more memory than a worker of a test has."""
    taken = []
    while True:
        taken.append(np.ones(2**21))
        time.sleep(0.005)
