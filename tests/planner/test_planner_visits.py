"""Visits at the same time keep the order of their rows; where that is unknown they are refused or left out."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import NamedTuple

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import FwrlError, FwrlWarning, OptionError

NAMES = ("trip", "time", "state")


def moves(planner):
    return Counter({(e["state"], e["next_state"]): e["count"] for e in planner.edges().to_pylist()})


def written(folder, name, rows):
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(pa.table([list(column) for column in zip(*rows, strict=True)], names=NAMES), path)
    else:
        path.write_text("".join(",".join(map(str, row)) + "\n" for row in [NAMES, *rows]))
    return path


def followed(rows):
    """The moves of trips whose visits are in order of time, and of rows where times are equal."""
    found: Counter[tuple[str, str]] = Counter()
    for trip in {row[0] for row in rows}:
        visits = sorted((row for row in rows if row[0] == trip), key=lambda row: row[1])
        found += Counter((a[2], b[2]) for a, b in itertools.pairwise(visits))
    return found


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from("abcd")), min_size=2, max_size=30))
@settings(max_examples=12)
def test_visits_at_one_time_are_in_the_order_of_rows(rows):
    if followed(rows):
        assert moves(fwrl.fit([dict(zip(NAMES, row, strict=True)) for row in rows])) == followed(rows)


@pytest.mark.parametrize("name", ["log.csv", "log.parquet"])
def test_the_order_of_rows_holds_in_files_that_are_read_by_several_threads(tmp_path, name):
    rng = np.random.default_rng(0)
    rows = [(k % 7, k // 40_000, f"s{n}") for k, n in enumerate(rng.integers(0, 50, 200_000).tolist())]
    assert moves(fwrl.fit(written(tmp_path, name, rows), connections=False)) == followed(rows)


def test_equal_times_in_different_files_are_refused_or_left_out_naming_the_trip(tmp_path):
    one = written(tmp_path, "one.csv", [("t", 1, "a"), ("t", 2, "b"), ("u", 1, "a"), ("u", 2, "b")])
    other = written(tmp_path, "other.csv", [("t", 2, "c"), ("t", 3, "d"), ("u", 2, "b"), ("u", 3, "c"), ("u", 4, "d")])
    with pytest.raises(FwrlError, match=r"order of visits at the same time is unknown.* of trip 't'; .*skip_bad"):
        fwrl.fit([one, other])
    with pytest.warns(FwrlWarning, match="of trip 't'; they are left out"):
        planner = fwrl.fit([one, other], skip_bad=True)
    # The two visits of u at 2 are alike, so that their order does not matter.
    assert moves(planner) == {("a", "b"): 1, ("b", "b"): 1, ("b", "c"): 1, ("c", "d"): 1}
    assert planner.summary.skipped == 2


class Visit(NamedTuple):
    trip: int
    time: int
    state: str


def test_a_set_of_visits_has_no_order():
    visits = [Visit(1, 0, "a"), Visit(1, 1, "b"), Visit(1, 1, "c")]
    assert moves(fwrl.fit(visits)) == {("a", "b"): 1, ("b", "c"): 1}
    with pytest.raises(FwrlError, match="visits in a set have no order; give them in a list"):
        fwrl.fit(set(visits))
    assert moves(fwrl.fit({("a", "b"), ("b", "c")})) == {("a", "b"): 1, ("b", "c"): 1}


def test_elapsed_time_is_a_cost(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("trip,time,state\n1,2024-01-01 10:00,a\n1,2024-01-01 10:01:30,b\n1,2024-01-01 10:01:30,c\n")
    planner = fwrl.fit(log, cost="elapsed")
    assert planner.plan("a", "c").reward == planner.value("a", "b") == -90.0
    log.write_text("trip,time,state\n1,0.5,a\n1,2.25,b\n")
    assert fwrl.fit(log, cost="elapsed").value("a", "b") == -1.75
    log.write_text("trip,time,state,reward\n1,7,a,5\n1,10,b,5\n")
    assert fwrl.fit(log, cost="elapsed").value("a", "b") == -3.0
    with pytest.raises(OptionError, match="needs visits"):
        fwrl.fit([("a", "b")], cost="elapsed")
    with pytest.raises(OptionError, match="cost can only be 'elapsed', not 'elapse'"):
        fwrl.fit(log, cost="elapse")
