"""A limit on memory covers all of reading a log, and changes nothing in the result."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import numpy as np
import pytest

import fwrl
from fwrl.errors import OptionError
from fwrl.files import check_archive
from fwrl.planner import Planner
from fwrl.planner.ingest.read_options import LogError, memory_size
from systems import unix

ROWS, STATES = 8_000_000, 50_000
MEGABYTE = 10**6

PEAK = """
import sys
from pathlib import Path
import fwrl

def memory(kind):
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in status if line.startswith(kind)))

fwrl.fit([("a", "l", -1.0, "b", 1, 2), ("b", "l", -1.0, "c", 1, 3)])  # imports and compiles all of it
before = memory("VmRSS")
fwrl.fit(sys.argv[1], memory=sys.argv[2]).save(sys.argv[3])
print(memory("VmHWM") - before)
"""


def peak_of_fit(log, memory, out):
    """The peak memory in bytes beyond what imports take."""
    command = [sys.executable, "-c", PEAK, str(log), memory, str(out)]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def write_log(path, shape):
    state = f"((hash(i // 50) % {STATES} + (i % 50) * (1 + hash(i // 50 + 3) % 3)) % {STATES})::BIGINT"
    following = f"((hash(i // 50) % {STATES} + (i % 50 + 1) * (1 + hash(i // 50 + 3) % 3)) % {STATES})::BIGINT"
    columns = ["'trip ' || (i // 50) AS trip", "i AS time", f"'s' || {state} AS state"]
    if shape == "transitions":
        columns.append(f"'s' || {following} AS next_state")
    with duckdb.connect() as con:
        con.execute(f"COPY (SELECT {', '.join(columns)} FROM range({ROWS}) t(i)) TO '{path}' (FORMAT parquet)")


@pytest.mark.stress
@pytest.mark.parametrize("shape", ["transitions", "visits"])
def test_eight_million_rows_stay_within_the_limit_and_give_the_same_file(tmp_path, shape):
    log, limited, unlimited = tmp_path / "log.parquet", tmp_path / "limited.fwrl", tmp_path / "unlimited.fwrl"
    write_log(log, shape)
    assert peak_of_fit(log, "300MB", limited) < 450 * MEGABYTE
    fwrl.fit(log, memory="8GB").save(unlimited)
    assert_same_but_for_rounding(limited, unlimited)


def write_dense_log(path, rows, following):
    """Moves from random states to some of the `following` states after them, so that there are many edges."""
    state, step = f"hash(i) % {STATES}", f"(1 + hash(i + 7) % {following})"
    columns = [
        "'trip ' || (i // 50) AS trip",
        "i AS time",
        f"'s' || ({state}) AS state",
        f"'s' || (({state} + {step}) % {STATES}) AS next_state",
        "-1 - (hash(i + 3) % 1000) / 1000.0 AS reward",
    ]
    with duckdb.connect() as con:
        con.execute(f"COPY (SELECT {', '.join(columns)} FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet)")


def assert_same_but_for_rounding(*paths):
    """The same sections; sums of rewards up to their last bits, which depend on the order that threads finish in."""
    one, other = map(check_archive, paths)
    assert (one.names, one.details) == (other.names, other.details)
    for name in one.names:
        np.testing.assert_allclose(one[name], other[name], rtol=1e-12 if name == "total" else 0, err_msg=name)


def assert_within(log, folder, megabytes):
    limited, unlimited = folder / "limited.fwrl", folder / "unlimited.fwrl"
    assert peak_of_fit(log, f"{megabytes}MB", limited) < 1.5 * megabytes * MEGABYTE
    fwrl.fit(log, memory="8GB").save(unlimited)
    assert_same_but_for_rounding(limited, unlimited)


@unix  # where the peak memory of a process is told
def test_a_log_with_many_edges_stays_within_the_limit_and_gives_the_same_file(tmp_path):
    write_dense_log(tmp_path / "log.parquet", 1_500_000, 10)  # 500,000 edges
    assert_within(tmp_path / "log.parquet", tmp_path, 150)


@pytest.mark.stress
def test_eight_million_rows_of_many_edges_stay_within_the_limit(tmp_path):
    write_dense_log(tmp_path / "log.parquet", ROWS, 32)  # 1.6 million edges
    assert_within(tmp_path / "log.parquet", tmp_path, 300)


def test_edges_that_need_more_memory_are_refused_with_their_number_and_size(tmp_path):
    write_dense_log(tmp_path / "log.parquet", 300_000, 1000)  # 300,000 edges of 104 bytes
    message = r"the 29\d,\d{3} edges of the log take 31 MB, more than the 28 MB .* memory="
    with pytest.raises(LogError, match=message) as it:
        fwrl.fit(tmp_path / "log.parquet", memory="28MB")
    assert it.value.option == "memory"


@pytest.mark.parametrize(("text", "size"), [("300MB", 300 * MEGABYTE), (" 1.5 gb ", 1500 * MEGABYTE), ("64MiB", 2**26)])
def test_sizes_are_read(text, size):
    assert memory_size(text) == size


@pytest.mark.parametrize("text", ["-200MB", "", "MB", "1e9", "2 XB", "0GB", "nan", "5"])
def test_what_is_no_size_or_too_small_is_refused(text):
    with pytest.raises(OptionError, match="memory"):
        fwrl.fit([("a", "b")], memory=text)


def test_memory_is_bytes_or_text_at_every_door():
    log = {"trip": [1, 1], "state": ["a", "b"], "next_state": ["b", "c"]}
    planner = fwrl.fit(log, memory=20_000_000)
    assert planner.explain("a", "c", log=log, memory=20_000_000).fewest
    assert planner.cost_quantiles("a", "c", log=log, memory=20_000_000).mean == 2.0
    with pytest.raises(OptionError, match="expected at least 10MB of memory, got 9999999"):
        fwrl.fit(log, memory=9_999_999)
    for wrong in (-1, "lots"):
        with pytest.raises(OptionError, match="expected an amount of memory such as"):
            Planner(planner.experience, memory=wrong)
