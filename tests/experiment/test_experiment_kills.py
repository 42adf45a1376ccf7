"""Killed at any moment, a run loses nothing finished and ends with the content of one that was never killed."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from fwrl.experiment import Store, chosen, run_experiments
from systems import unix

pytestmark = unix

EXPERIMENTS = ("four-rooms-50x400", "h-maze")
SEEDS = 12


def command(folder, workers):
    code = (
        "from fwrl.experiment import Store, chosen, run_experiments\n"
        "if __name__ == '__main__':\n"
        f"    with Store({str(folder / 'x.sqlite')!r}) as store:\n"
        f"        run_experiments(store, chosen({EXPERIMENTS!r}), seeds={SEEDS}, workers={workers})\n"
    )
    script = folder / "run.py"
    script.write_text(code)
    return [sys.executable, str(script)]


def workers_of(parent):
    """The processes whose parent is `parent`."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, IndexError):
            if int(entry.read_text().rsplit(")", 1)[1].split()[1]) == parent:
                found.append(int(entry.parent.name))
    return found


def gone(pids, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.05)
    return False


def killed_and_resumed(folder, kills, rng):
    """How many of the kills met the run at work."""
    path, met = folder / "x.sqlite", 0
    for _ in range(kills):
        process = subprocess.Popen(command(folder, int(rng.integers(1, 3))))
        time.sleep(rng.uniform(0.2, 3.0))
        children = workers_of(process.pid)
        met += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert gone(children), "a worker outlived its parent"
        if path.exists() and path.stat().st_size:
            with Store(path) as store:  # sound after every kill
                store.finished()
    subprocess.run(command(folder, 2), check=True)
    return met


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The file of a run that was never killed."""
    path = tmp_path_factory.mktemp("whole") / "x.sqlite"
    with Store(path) as store:
        run_experiments(store, chosen(EXPERIMENTS), seeds=SEEDS, workers=1)
    return path


@pytest.fixture(scope="module")
def uninterrupted(whole):
    with Store(whole) as store:
        return store.content()


def same_after(kills, folder, uninterrupted, seed):
    met = killed_and_resumed(folder, kills, np.random.default_rng(seed))
    assert met > 0, "no kill met the run at work"
    with Store(folder / "x.sqlite") as store:
        assert store.content() == uninterrupted


def test_a_kill_in_the_middle_changes_nothing_and_leaves_no_worker(tmp_path, uninterrupted):
    path = tmp_path / "x.sqlite"
    process = subprocess.Popen(command(tmp_path, 2))
    while not (path.exists() and path.stat().st_size > 100_000) and process.poll() is None:
        time.sleep(0.02)
    workers = workers_of(process.pid)
    assert workers, "it ended before it was killed"
    process.kill()
    process.wait()
    assert gone(workers), "a worker outlived its parent"
    with Store(path) as store:
        assert store.finished()
    subprocess.run(command(tmp_path, 2), check=True)
    with Store(path) as store:
        assert store.content() == uninterrupted


KILLED_WHILE_WRITING = """
import os, signal, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA cache_size = 1")  # so that pages reach the file before the end of the transaction
db.execute("BEGIN")
if sys.argv[2] == "first":
    db.execute("CREATE TABLE about (key TEXT, value TEXT)")
else:
    db.execute("UPDATE episodes SET reward = reward + 1")
db.executemany("INSERT INTO about VALUES (?, ?)", [(f"key {n}", "x" * 1000) for n in range(5000)])
os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_while_writing(path, when):
    subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(path), when], check=False)
    assert Path(f"{path}-journal").stat().st_size > 0


def test_what_was_being_written_when_killed_is_undone(tmp_path, whole, uninterrupted):
    path = tmp_path / "x.sqlite"
    shutil.copyfile(whole, path)
    killed_while_writing(path, "later")
    with Store(path) as store:
        assert store.content() == uninterrupted


def test_a_file_whose_making_was_killed_is_made_anew(tmp_path):
    path = tmp_path / "x.sqlite"
    killed_while_writing(path, "first")
    with Store(path) as store:
        assert store.finished() == set()


@pytest.mark.stress
def test_fifty_kills_change_nothing(tmp_path, uninterrupted):
    for part in range(10):
        folder = tmp_path / str(part)
        folder.mkdir()
        same_after(5, folder, uninterrupted, seed=100 + part)


def test_an_interrupt_stops_cleanly_and_says_how_to_go_on(tmp_path):
    fwrl = [sys.executable, "-c", "from fwrl.cli import main; main()"]
    process = subprocess.Popen(
        [*fwrl, "reproduce", "--out", str(tmp_path / "out"), "--seeds", "60", "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    store = tmp_path / "out" / "results.sqlite"
    end = time.monotonic() + 300
    while time.monotonic() < end and process.poll() is None:
        if store.exists() and store.stat().st_size > 200_000:
            break
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "the same command continues" in err
    assert "Traceback" not in out + err
    with Store(store) as opened:
        assert opened.finished()
