"""A limit on memory covers all of reading a log, and changes nothing in the result."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import pytest

from fwrl.errors import OptionError
from fwrl.planner.ingest.reader import memory_size

ROWS, STATES = 8_000_000, 50_000
MEGABYTE = 10**6

PEAK = """
import sys
from pathlib import Path
import fwrl
from fwrl.bench.memory import peak

def resident():
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in status if line.startswith("VmRSS")))

fwrl.fit([("a", "l", -1.0, "b", 1, 2), ("b", "l", -1.0, "c", 1, 3)])  # imports and compiles all of it
before = resident()
fwrl.fit(sys.argv[1], memory=sys.argv[2]).save(sys.argv[3])
print(peak() - before)
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
    peak_of_fit(log, "8GB", unlimited)
    assert limited.read_bytes() == unlimited.read_bytes()


@pytest.mark.parametrize(("text", "size"), [("300MB", 300 * MEGABYTE), (" 1.5 gb ", 1500 * MEGABYTE), ("64MiB", 2**26)])
def test_sizes_are_read(text, size):
    assert memory_size(text) == size


@pytest.mark.parametrize("text", ["-200MB", "", "MB", "1e9", "2 XB", "0GB", "nan", "5"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(OptionError, match="memory"):
        memory_size(text)
