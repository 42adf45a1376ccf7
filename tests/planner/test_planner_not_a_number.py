"""Parquet's statistics pass over numbers that are none; such rows are bad rows all the same, in every column."""

from __future__ import annotations

import math

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import fwrl

N = 300
EDGES = {"state": [0, 1, 2] * (N // 3), "next_state": [1, 2, 0] * (N // 3)}
MOVES = EDGES | {"reward": [-1.0] * N}
TRIPS = {"trip": [k // 30 for k in range(N)], "time": list(range(N))}


def with_bad(first, third):
    return [first, math.nan, third] * (N // 3)


LOGS = {
    "reward": MOVES | {"reward": with_bad(-1.0, -1.5)},
    "cost": EDGES | {"cost": with_bad(1.0, 1.5)},
    "count": MOVES | {"count": with_bad(1.0, 2.0)},
    "state": MOVES | {"state": with_bad(0.0, 2.0)},
    "trip": MOVES | TRIPS | {"trip": with_bad(1.0, 3.0)},
    "time": MOVES | TRIPS | {"time": with_bad(1.0, 3.0)},
    "coordinates": TRIPS | {"x": with_bad(1.0, 3.0), "y": [1.0, 2.0, 3.0] * (N // 3)},
}


@pytest.fixture(params=LOGS)
def log(request, tmp_path):
    """The column with bad numbers, the file, and its columns of coordinates."""
    pq.write_table(pa.table(LOGS[request.param]), tmp_path / "log.parquet")
    return request.param, tmp_path / "log.parquet", ("x", "y") if request.param == "coordinates" else None


def test_a_row_with_no_number_is_named(log):
    name, path, cells = log
    with pytest.raises(fwrl.FwrlError, match=rf"log.parquet, row 2: expected .* as {name}, got '?nan"):
        fwrl.fit(path, cells=cells)


def test_rows_with_no_number_are_left_out_on_request(log):
    name, path, cells = log
    summary = fwrl.fit(path, cells=cells, skip_bad=True).summary
    assert (summary.skipped, summary.transitions) == (N // 3, {"count": N, "coordinates": 90}.get(name, 2 * N // 3))
