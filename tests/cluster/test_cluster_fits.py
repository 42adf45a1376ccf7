"""Fits on clusters: the planner of one fit, whatever happens to workers and caller."""

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worker_processes import FWRL, ended_with_kills

import fwrl
from fwrl.errors import FwrlError, OptionError
from fwrl.files import check_archive
from fwrl.planner.fitting import MOST_BYTES, counts_of, fit_on_cluster
from fwrl.planner.ingest.read_options import LogError, NoTransitionsError
from fwrl.pool import Pool, PoolError, SerialExecutor, process_pool

FILES, TRIPS, STEPS = 10, 40, 30


def write_log(path, rng, first_trip, trips=TRIPS, side=12):
    """Trips of random moves on a torus."""
    rows, time = [], 1000 * first_trip
    for trip in range(first_trip, first_trip + trips):
        s = int(rng.integers(side * side))
        for _ in range(STEPS):
            a = int(rng.integers(4))
            t = (s + (1, -1, side, -side)[a]) % (side * side)
            rows.append(f"{s},{a},{t},{-1 - rng.random():.17g},trip-{trip},{time}")
            s, time = t, time + 1
    path.write_text("state,action,next_state,reward,trip,time\n" + "\n".join(rows) + "\n")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    rng = np.random.default_rng(0)
    for k in range(FILES):
        write_log(folder / f"log-{k}.csv", rng, k * TRIPS)
    (folder / "log-4-empty.csv").write_text("state,action,next_state,reward,trip,time\n")
    return str(folder / "*.csv")


MANY = 100  # workers: each file is read alone


def pool_of(workers):
    """Works in this process, and is thought to have so many workers."""
    return Pool(SerialExecutor(), lambda: workers)


def sharded(source, out, workers=MANY, **options):
    """What a fit by shards in this process gives, and the numbers of tasks that were left at its beginning."""
    totals, pool = [], pool_of(workers)
    found = fit_on_cluster(source, pool, watch=lambda done, total, _: totals.append(total), **options)
    found.save(out)
    return fwrl.load(out), totals[0]


def assert_same(one, other, exact_connections=True):
    """The same experience; sums up to rounding."""
    a, b = one.experience, other.experience
    assert list(a.states) == list(b.states)
    for name in ("source", "action", "target", "count", "best", "terminated"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), name)
    np.testing.assert_allclose(a.total, b.total, rtol=1e-12, atol=0)
    if a.weight is not None:
        np.testing.assert_allclose(a.weight, b.weight, rtol=1e-12, atol=0)
    assert a.logs == b.logs
    for name in ("last", "trip", "trip_time", "sample"):
        np.testing.assert_array_equal(getattr(a.evidence, name), getattr(b.evidence, name), name)
    assert list(a.evidence.trips or ()) == list(b.evidence.trips or ())
    if exact_connections:
        np.testing.assert_array_equal(a.evidence.joined, b.evidence.joined)
        assert a.summary == b.summary


@pytest.mark.parametrize(("workers", "tasks"), [(1, 1), (2, 2), (3, 3), (MANY, 11 + 2)])
def test_shards_give_the_planner_of_one_fit(tmp_path, logs, workers, tasks):
    """Eleven planners are merged into two by workers, and those by the caller."""
    found, made = sharded(logs, tmp_path / "x.fwrl", workers)
    assert_same(fwrl.fit(logs), found)
    assert made == tasks


def test_shards_give_the_planner_of_one_fit_with_aging_and_a_period(tmp_path, logs):
    options: dict[str, Any] = {"half_life": 20_000, "since": 30_000}
    found, _ = sharded(logs, tmp_path / "x.fwrl", **options)
    assert_same(fwrl.fit(logs, **options), found)


def test_logs_are_added_to_a_planner(tmp_path, logs):
    folder = tmp_path / "more"
    folder.mkdir()
    for k in range(3):
        write_log(folder / f"{k}.csv", np.random.default_rng(9 + k), 1000 + k * TRIPS)
    old = fwrl.fit(logs)
    found, _ = sharded(str(folder / "*.csv"), tmp_path / "x.fwrl", into=old)
    assert_same(fwrl.fit(str(folder / "*.csv"), into=old), found)
    with pytest.raises(FwrlError, match=r"more/0\.csv' was read before \(and 2 more such files\)"):
        sharded(str(folder / "*.csv"), tmp_path / "y.fwrl", into=found)


def test_the_same_files_give_the_same_bytes(tmp_path, logs):
    for name in ("a.fwrl", "b.fwrl"):
        sharded(logs, tmp_path / name)
    assert (tmp_path / "a.fwrl").read_bytes() == (tmp_path / "b.fwrl").read_bytes()


def write_visits(folder, parts):
    """Files of visits: for each the states of trips from a time on."""
    folder.mkdir(exist_ok=True)
    for k, trips in enumerate(parts):
        lines = [f"{trip},{begin + n},{s}" for trip, begin, states in trips for n, s in enumerate(states)]
        (folder / f"{k}.csv").write_text("trip,time,state\n" + "\n".join(lines) + "\n")
    return str(folder / "*.csv")


def content(planner, path):
    """The details and arrays of a planner's file."""
    planner.save(path)
    archive = check_archive(path)
    return archive.details, {name: archive[name] for name in archive.names}


def assert_files_alike(one, other, folder, rounded=("total", "weight"), except_for=()):
    """Planner files with the same arrays, apart from rounding in those that are sums; the differing details."""
    (details, arrays), (others, other_arrays) = (content(planner, folder / "alike.fwrl") for planner in (one, other))
    assert list(arrays) == list(other_arrays)
    for name in set(arrays) - set(except_for):
        if name in rounded:
            np.testing.assert_allclose(other_arrays[name], arrays[name], rtol=1e-12, atol=0, err_msg=name)
        else:
            np.testing.assert_array_equal(other_arrays[name], arrays[name], name)
    assert details["summary"].keys() == others["summary"].keys()
    assert details | {"summary": None} == others | {"summary": None}
    return {name for name, value in details["summary"].items() if others["summary"][name] != value}


@pytest.mark.parametrize("workers", [1, 3, MANY])
def test_planner_files_differ_in_the_rounding_of_sums_only(tmp_path, logs, workers):
    found, _ = sharded(logs, tmp_path / "x.fwrl", workers)
    assert assert_files_alike(fwrl.fit(logs), found, tmp_path) == set()


def test_a_trip_that_goes_on_in_another_part_is_two_trips(tmp_path):
    source = write_visits(tmp_path / "v", [[("x", 0, "abc")], [("x", 3, "def")]])
    found, _ = sharded(source, tmp_path / "x.fwrl")
    with pytest.raises(FwrlError, match="no route"):
        found.plan("c", "d")
    found, _ = sharded(source, tmp_path / "y.fwrl", workers=1)
    assert found.plan("c", "d").states == ("c", "d")


def test_a_positive_cycle_of_one_file_alone_is_no_error(tmp_path):
    """Mean rewards of all files count: 1 there, but -1 on the whole."""
    for k, reward in enumerate((1.0, -3.0)):
        (tmp_path / f"{k}.csv").write_text(f"state,next_state,reward\na,b,{reward}\nb,a,{reward}\n")
    found, _ = sharded(str(tmp_path / "*.csv"), tmp_path / "x.fwrl")
    assert found.value("a", "b") == -1.0
    with pytest.raises(FwrlError, match="positive cycle"):
        sharded(str(tmp_path / "0.csv"), tmp_path / "y.fwrl")


def test_the_same_content_twice_is_refused(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("state,next_state\n1,2\n")
    for workers in (1, 2):
        out = tmp_path / f"{workers}.fwrl"
        with pytest.raises(FwrlError, match=r"b\.csv' has the same content as '.*a\.csv'"):
            sharded(str(tmp_path / "*.csv"), out, workers)
        found, _ = sharded(str(tmp_path / "*.csv"), out, workers, allow_duplicates=True)
        assert found.summary.transitions == 2


def test_files_without_rows_may_be_alike(tmp_path):
    for k in range(4):
        rows = f"{k},{k + 1}\n" if k % 2 else ""
        (tmp_path / f"{k}.csv").write_text(f"state,next_state\n{rows}")
    whole = fwrl.fit(str(tmp_path / "*.csv"))
    for workers in (1, 2, MANY):
        found, _ = sharded(str(tmp_path / "*.csv"), tmp_path / "x.fwrl", workers)
        assert_same(whole, found)


@given(st.lists(st.integers(0, 2 * MOST_BYTES), min_size=1, max_size=40), st.integers(0, 5))
def test_files_are_read_together_as_far_as_that_leaves_work_for_all(sizes, workers):
    counts = counts_of(sizes, workers)
    assert sum(counts) == len(sizes)
    assert min(counts) >= 1
    ends = np.cumsum(counts)
    groups = [sizes[end - n : end] for end, n in zip(ends, counts, strict=True)]
    share = sum(sizes) / max(1, workers)
    for group in groups:
        assert sum(group) <= min(share, MOST_BYTES) + max(group) + 1
    one_each = [MOST_BYTES // 10] * 12
    assert counts_of(one_each, 3) == [4, 4, 4]
    assert counts_of(one_each, 1) == [6, 6]


def test_cells_need_a_width(tmp_path):
    (tmp_path / "a.csv").write_text("trip,time,x,y\n1,0,0,0\n1,1,3,0\n")
    with pytest.raises(OptionError, match="set a cell width or a resolution"):
        sharded(str(tmp_path / "a.csv"), tmp_path / "x.fwrl", cells=("x", "y"))
    found, _ = sharded(str(tmp_path / "a.csv"), tmp_path / "x.fwrl", cells=("x", "y"), cell_width=1.0)
    assert found.summary.states == 2


@pytest.mark.parametrize("error", [LogError("bad", "skip_bad"), NoTransitionsError("none")])
def test_errors_come_back_from_workers_whole(error):
    import pickle

    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), vars(back)) == (type(error), str(error), vars(error))


SMALL = 20_000  # bytes of files that are read together: one file
FWRL_SMALL = [sys.executable, "-c", FWRL[-1].replace("main()", f"shards.MOST_BYTES = {SMALL}; main()")]
FWRL_SMALL[-1] = f"import fwrl.planner.fitting as shards\n{FWRL_SMALL[-1]}"


def fit_command(source, out, address):
    return [*FWRL_SMALL, "fit", source, "-o", str(out), "--cluster", address]


@pytest.fixture(scope="module")
def whole(tmp_path_factory, logs):
    out = tmp_path_factory.mktemp("whole") / "x.fwrl"
    sharded(logs, out)
    return out.read_bytes()


def same_after_kills(logs, out, whole, kills, seed):
    (scratch := out.with_suffix(".scratch")).mkdir()
    process = subprocess.Popen(
        fit_command(logs, out, "local:3"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )
    # Workers that read or merge have a scratch folder.
    met = ended_with_kills(process, lambda: any(scratch.glob("fwrl-*")), kills, np.random.default_rng(seed))
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert err == ""
    assert out.read_bytes() == whole
    return met


@pytest.mark.stress
def test_twenty_kills_change_no_byte(tmp_path, logs, whole):
    pytest.importorskip("distributed", reason="Dask is not installed (extra cluster)")
    met = [same_after_kills(logs, tmp_path / f"{part}.fwrl", whole, 4, seed=20 + part) for part in range(5)]
    assert sum(met) >= 10


def die(_):
    import os

    os._exit(1)


def test_a_process_that_ends_is_one_sentence():
    from fwrl.pool import finished

    with process_pool(2) as pool:
        tasks = iter([1])
        with pytest.raises(PoolError, match="the processes are gone"):
            list(finished(pool, die, lambda: next(tasks, None)))
