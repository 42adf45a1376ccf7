"""Sweeps on clusters: the same rows, whatever happens to workers, scheduler and caller."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")

from worker_processes import FWRL, cluster, ended_with_kills, take_all_memory, wait_until, workers_of

from fwrl.cluster import cluster_pool
from fwrl.errors import FwrlError
from fwrl.experiment import Store, chosen, run_experiments
from fwrl.kernels.jit import NOTICE
from fwrl.pool import PoolError, finished

EXPERIMENTS = ("four-rooms-50x400", "h-maze")
SEEDS = 12


def started(path, address):
    code = (
        "from fwrl.cluster import cluster_pool\n"
        "from fwrl.experiment import Store, chosen, run_experiments\n"
        "if __name__ == '__main__':\n"
        f"    with cluster_pool({address!r}) as pool, Store({str(path)!r}) as store:\n"
        f"        run_experiments(store, chosen({EXPERIMENTS!r}), seeds={SEEDS}, pool=pool)\n"
    )
    script = path.with_suffix(".py")
    script.write_text(code)
    return subprocess.Popen([sys.executable, str(script)], stderr=subprocess.PIPE, text=True)


def n_stored(path):
    if not path.exists() or path.stat().st_size == 0:
        return 0
    with Store(path) as store:
        return len(store.finished())


def content(path):
    with Store(path) as store:
        return store.content()


@pytest.fixture(scope="module")
def serial(tmp_path_factory):
    path = tmp_path_factory.mktemp("serial") / "x.sqlite"
    with Store(path) as store:
        run_experiments(store, chosen(EXPERIMENTS), seeds=SEEDS, workers=1)
    return content(path)


def same_after_kills(path, kills, serial, seed):
    process = started(path, "local:3")
    met = ended_with_kills(process, lambda: n_stored(path) > 0, kills, np.random.default_rng(seed))
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert set(err.splitlines()) <= {NOTICE}, "a busy machine may compile for more than a second; nothing else is said"
    assert content(path) == serial
    return met


def test_three_workers_of_which_two_are_killed_give_the_same_rows(tmp_path, serial):
    assert same_after_kills(tmp_path / "x.sqlite", 2, serial, seed=0) > 0, "no kill met the run at work"


@pytest.mark.stress
def test_twenty_kills_change_no_row(tmp_path, serial):
    met = [same_after_kills(tmp_path / f"{part}.sqlite", 4, serial, seed=10 + part) for part in range(5)]
    assert sum(met) >= 10


@pytest.mark.stress
def test_a_killed_caller_loses_nothing_and_leaves_no_worker(tmp_path, serial):
    path = tmp_path / "x.sqlite"
    process = started(path, "local:2")
    wait_until(lambda: n_stored(path) > 2 or process.poll() is not None)
    workers = workers_of(process.pid)
    process.kill()
    process.communicate()
    before = n_stored(path)
    assert before > 2
    wait_until(lambda: not any(b"spawn_main" in _command(pid) for pid in workers))
    again = started(path, "local:2")
    _, err = again.communicate(timeout=300)
    assert again.returncode == 0, err
    assert content(path) == serial


def _command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 (a process may end meanwhile)
            return file.read()
    except OSError:
        return b""


@pytest.mark.stress
def test_a_lost_scheduler_is_one_sentence_and_the_same_command_continues(tmp_path, serial):
    words = ["reproduce", "--seeds", str(SEEDS), "--out", str(tmp_path / "out")]
    words += [word for name in EXPERIMENTS for word in ("--only", name)]
    path = tmp_path / "out" / "results.sqlite"
    with cluster() as first:
        first.add_worker()
        first.wait_for_workers(1)
        process = subprocess.Popen(
            [*FWRL, *words, "--cluster", first.address], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        wait_until(lambda: n_stored(path) > 2 or process.poll() is not None)
        first.scheduler.kill()
        _, err = process.communicate(timeout=300)
    assert process.returncode == 2, err
    assert "finished runs are stored, and the same command continues" in err
    assert "Traceback" not in err
    assert n_stored(path) > 2
    again = started(path, "local:1")
    _, err = again.communicate(timeout=300)
    assert again.returncode == 0, err
    assert content(path) == serial


HIDDEN = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "fwrl":
            raise ModuleNotFoundError("No module named 'fwrl'")
sys.meta_path.insert(0, Absent())
"""
OTHER = """
import importlib.metadata
def other(name, true=importlib.metadata.version):
    return "0.0.1" if name == "duckdb" else true(name)
importlib.metadata.version = other
"""


def test_workers_without_fwrl_or_with_other_versions_are_refused_by_name(tmp_path):
    (tmp_path / "hidden.py").write_text(HIDDEN)
    (tmp_path / "other.py").write_text(OTHER)
    with cluster() as found:
        with pytest.raises(FwrlError, match="has no workers"), cluster_pool(found.address):
            pass
        found.add_worker("--name", "good")
        found.add_worker("--name", "bare", "--preload", str(tmp_path / "hidden.py"))
        found.add_worker("--name", "old", "--preload", str(tmp_path / "other.py"))
        found.wait_for_workers(3)
        with pytest.raises(FwrlError) as refused, cluster_pool(found.address):
            pass
    message = str(refused.value)
    assert "'bare' at tcp://" in message
    assert "No module named 'fwrl'" in message
    assert "'old' at tcp://" in message
    assert "duckdb 0.0.1 (here" in message
    assert "good" not in message


@pytest.mark.stress
def test_a_task_that_takes_all_memory_is_named(tmp_path):
    with cluster(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0") as found:
        found.add_worker("--memory-limit", "700MB")
        found.wait_for_workers(1)
        with cluster_pool(found.address) as pool:
            tasks = iter(["the large one"])
            with pytest.raises(
                PoolError, match="keep dying on the large one, most likely because they run out of memory"
            ):
                list(finished(pool, take_all_memory, lambda: next(tasks, None)))


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nonsense", "expected the address of a Dask scheduler"),
        ("local:0", "a local cluster of 1 to 1000 workers"),
        ("127.0.0.1:1", "no Dask scheduler answers at '127.0.0.1:1' (Connection refused)"),
        ("tcp://127.0.0.1:99999", "expected the address of a Dask scheduler"),
    ],
)
def test_bad_addresses_are_one_sentence(call, address, said):
    answer = call("reproduce", "--only", "h-maze", "--seeds", 1, "--cluster", address)
    assert answer.code == 2
    assert said in answer.err
    assert answer.err.count("\n") == 1


@pytest.fixture(scope="module")
def address():
    """The address of a scheduler with two workers."""
    with cluster() as found:
        found.add_worker()
        found.add_worker()
        found.wait_for_workers(2)
        yield found.address


def test_a_comparison_has_the_same_rows_on_a_cluster(tmp_path, call, address):
    words = ["four-rooms", "h-maze", "--agents", "ql", "--seeds", 3, "--episodes", 5, "--steps", 50]
    for name, where in (("here", ("--workers", 1)), ("there", ("--cluster", address))):
        answer = call("compare", *words, *where, "--out", tmp_path / name)
        assert answer.code == 0, answer.err
    assert content(tmp_path / "there" / "results.sqlite") == content(tmp_path / "here" / "results.sqlite")


COMMANDS = {
    "reproduce": ("--only", "h-maze", "--seeds", "1"),
    "compare": ("--seeds", "1"),
    "fit": ("log.csv",),
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("address", ["nonsense", "local:0", "127.0.0.1:1"])
def test_a_refused_cluster_leaves_nothing_behind(tmp_path, monkeypatch, call, command, address):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("state,next_state\n1,2\n")
    answer = call(command, *COMMANDS[command], "--out", "out", "--cluster", address)
    assert answer.code == 2, answer.err
    assert [path.name for path in tmp_path.iterdir()] == ["log.csv"]


def test_an_address_where_something_else_listens_is_refused(monkeypatch):
    import socket

    monkeypatch.setattr("fwrl.cluster.TIMEOUT", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(FwrlError, match="no Dask scheduler answers"), cluster_pool(address):
            pass


def test_an_interrupt_stops_cleanly(tmp_path):
    words = ["reproduce", "--out", str(tmp_path / "out"), "--seeds", "60", "--cluster", "local:2"]
    process = subprocess.Popen(
        [*FWRL, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_until(lambda: n_stored(tmp_path / "out" / "results.sqlite") > 2 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert "the same command continues" in err
    assert "Traceback" not in out + err
