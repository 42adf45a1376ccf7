"""Queries report their progress, stop at Ctrl-C, and use as many threads as memory allows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fwrl.planner.ingest.reader import reading
from systems import unix

LONG = "SELECT count(DISTINCT i % 5000011) FROM range({}) t(i)"
STOPPED_SOON = f"""
import os, signal, threading
from fwrl.planner.ingest.reader import reading

def waits(reader):
    reader.run("long", "CREATE TEMP TABLE counted AS {LONG.format(10**11)}")

def alone(reader):
    reader.one("{LONG.format(10**11)}")

for work, progress in ((waits, lambda what, part: None), (waits, None), (alone, None)):
    try:
        with reading("1GB", progress) as reader:  # imports, in which Python may lose a Ctrl-C
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            work(reader)
    except KeyboardInterrupt:
        print("stopped")
"""


def test_the_progress_of_a_query_is_reported():
    told = []
    with reading("1GB", lambda what, part: told.append((what, part))) as reader:
        reader.run("counting", f"CREATE TEMP TABLE counted AS {LONG.format(30_000_000)}")
    assert {what for what, _ in told} == {"counting"}
    assert 0 < max(part for _, part in told) <= 1


@unix
def test_ctrl_c_stops_a_query_watched_or_not():
    done = subprocess.run(
        [sys.executable, "-c", STOPPED_SOON], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (0, ["stopped"] * 3, "")


@pytest.mark.parametrize(("memory", "threads", "used"), [("20MB", 4, 1), ("10MB", 4, 1), ("70MB", 4, 3), ("1GB", 4, 4)])
def test_little_memory_is_shared_by_few_threads(memory, threads, used):
    with reading(memory, None, threads=threads) as reader:
        assert reader.one("SELECT current_setting('threads')") == (used,)
