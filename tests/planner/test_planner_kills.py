"""A fit that is ended at any moment leaves the old file or the new one, and nothing else after the next run."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from systems import unix

pytestmark = unix

COMMAND = [sys.executable, "-c", "from fwrl.cli import main; main()"]
ROWS = 60_000


def write_log(path, rng, first_trip):
    """Random walks of 20 moves each over 2,000 states."""
    lines = ["trip,time,state"]
    for trip in range(ROWS // 20):
        states = (rng.integers(2000) + np.cumsum(rng.choice([1, -1, 40, -40], 20))) % 2000
        lines += [f"{first_trip + trip},{k},{state}" for k, state in enumerate(states.tolist())]
    path.write_text("\n".join(lines) + "\n")


class Folder:
    """A planner file, logs, and a place for temporary files that nothing else uses."""

    def __init__(self, path):
        self.path, self.temporary = path / "files", path / "temporary"
        self.path.mkdir()
        self.temporary.mkdir()
        rng = np.random.default_rng(0)
        write_log(self.path / "one.csv", rng, 0)
        write_log(self.path / "two.csv", rng, ROWS)
        begin = time.monotonic()
        self.run("fit", "one.csv")
        self.seconds = time.monotonic() - begin
        self.one = self.planner()
        self.run("fit", "two.csv", "--add")
        self.both = self.planner()
        assert self.left_over() == []

    def started(self, *arguments):
        environment = {**os.environ, "TMPDIR": str(self.temporary)}
        command = [*COMMAND, *arguments, "-o", "t.fwrl"]
        return subprocess.Popen(command, cwd=self.path, env=environment, stdout=subprocess.DEVNULL)

    def run(self, *arguments):
        assert self.started(*arguments).wait() == 0

    def planner(self):
        return (self.path / "t.fwrl").read_bytes()

    def left_over(self):
        known = {"one.csv", "two.csv", "t.fwrl"}
        return [*self.temporary.iterdir(), *(path for path in self.path.iterdir() if path.name not in known)]

    def ended(self, number, after, *arguments):
        """Whether the signal came before the command had finished."""
        process = self.started(*arguments)
        time.sleep(after)
        process.send_signal(number)
        code = process.wait()
        if number == signal.SIGTERM and code not in (0, -number):
            assert code == 143
        return code != 0


def end_at_random(folder, times, rng):
    met = 0
    for k in range(times):
        number = signal.SIGKILL if k % 2 else signal.SIGTERM
        if rng.random() < 0.5:  # a new file replaces the one of both logs
            (folder.path / "t.fwrl").write_bytes(folder.both)
            arguments, results = ["fit", "one.csv"], (folder.both, folder.one)
        else:
            (folder.path / "t.fwrl").write_bytes(folder.one)
            arguments, results = ["fit", "two.csv", "--add"], (folder.one, folder.both)
        met += folder.ended(number, rng.uniform(0, 1.1 * folder.seconds), *arguments)
        assert folder.planner() in results
    folder.run("fit", "one.csv")
    assert folder.planner() == folder.one
    assert folder.left_over() == []
    return met


@pytest.mark.stress
def test_a_fit_ended_fifty_times_leaves_the_old_file_or_the_new_one(tmp_path):
    met = end_at_random(Folder(tmp_path), 50, np.random.default_rng(2))
    shutil.rmtree(tmp_path)
    assert met > 20, "few signals met the command at work"
