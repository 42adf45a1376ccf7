"""Sums of rewards are the same to the last bit, whatever the order of rows, the threads and the limit on memory."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.planner.ingest import grouping as grouping_module
from fwrl.planner.ingest.exact_sums import (
    ROOM,
    SHORT,
    Aggregate,
    Grouping,
    are_alike,
    beyond_short,
    exponent_of,
    imprecise,
)
from fwrl.planner.ingest.learning import learned
from fwrl.planner.ingest.options import ReadOptions

ROWS = 300_000  # more than a thread of DuckDB takes at once
ALIKE = st.floats(-2000, 2000, width=64)
ANY = st.floats(-1e100, 1e100)
COUNT = Aggregate("count", "count(*)", "sum")


def sums(grouping, query, numbers, further=""):
    with duckdb.connect() as con:
        con.register("numbers", {"k": np.zeros(len(numbers), np.int64), "x": np.array(numbers, np.float64)})
        return con.execute(f"SELECT count, total, total_lost{further} FROM ({query(grouping)})").fetchall()[0]


def grouping():
    return Grouping("numbers", ["k"], [COUNT], {"total": "x"})


@given(st.lists(ANY | ALIKE | st.just(0.0), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_sums_by_exponent_are_exact_for_all_numbers(numbers):
    count, total, lost = sums(grouping(), Grouping.by_exponent, numbers)
    size = math.fsum(map(abs, numbers))
    assert (count, lost) == (len(numbers), 0)
    assert abs(total - math.fsum(numbers)) <= 1e-15 * size + 1e-300


@given(st.lists(ALIKE | ANY, min_size=1, max_size=30), st.sampled_from([1, 2]))
@settings(max_examples=60, deadline=None)
def test_sums_in_fixed_point_are_precise_or_say_that_they_are_not(numbers, limbs):
    largest = max(map(abs, numbers))
    exponent = exponent_of(largest)
    if exponent is None:
        assert largest < 2.0**-900
        return
    assert 2.0 ** (exponent - 1) < largest <= 2.0**exponent or largest == 0
    condition = f", {imprecise('total', repr(largest), exponent, limbs)}"
    found = sums(grouping(), lambda g: g.in_fixed_point(exponent, limbs), numbers, condition)
    count, total, lost, is_imprecise = found
    assert (count, lost) == (len(numbers), 0)
    if not is_imprecise:
        assert abs(total - math.fsum(numbers)) <= 1e-12 * math.fsum(map(abs, numbers))


SHARES = st.lists(st.floats(0.125, 1.0), min_size=1, max_size=30)


@given(SHARES, st.floats(-2000, 2000).filter(lambda x: abs(x) > 1e-9), st.sampled_from([1, 2]))
@settings(max_examples=60)
def test_short_sums_of_numbers_that_are_alike_are_precise(shares, largest, limbs):
    numbers = [largest * share for share in (1.0, *shares)]
    assert are_alike(min(numbers), max(numbers))
    exponent = exponent_of(abs(largest))
    assert exponent is not None
    condition = f", {beyond_short('total', exponent, limbs)}"
    count, total, lost, is_beyond = sums(grouping(), lambda g: g.short(exponent, limbs), numbers, condition)
    assert (count, lost, is_beyond) == (len(numbers), 0, False)
    assert abs(total - math.fsum(numbers)) <= 1e-12 * abs(math.fsum(numbers))


@given(SHARES, st.floats(-2000, 2000).filter(lambda x: abs(x) > 1e-9))
@settings(max_examples=60)
def test_short_sums_are_the_same_with_one_limb_and_with_two(shares, largest):
    numbers = [largest * share for share in (1.0, *shares)]
    one, two = (sums(grouping(), lambda g, n=n: g.short(exponent_of(abs(largest)), n), numbers) for n in (1, 2))
    assert one == two


def test_a_short_sum_says_when_it_has_too_many_rows_for_one_limb():
    """Odd multiples of the unit: beyond 2^53 of it, floats would lose the last ones."""
    most = 2 ** ROOM[1]
    for rows in (most, most + 1, 3 * most):
        numbers = [-1023.0 - 2.0 ** (10 - SHORT)] * rows
        total, beyond = sums(grouping(), lambda g: g.short(10, 1), numbers, f", {beyond_short('total', 10, 1)}")[1::2]
        assert beyond == (rows > most)
        assert beyond or total == math.fsum(numbers)
        assert sums(grouping(), lambda g: g.short(10, 2), numbers)[1] == math.fsum(numbers)


@pytest.mark.parametrize("guess", ["light", "heavy"])
@pytest.mark.parametrize("rows", [500, 2_000, 300_000])
def test_edges_with_few_and_with_many_rows_have_the_same_precise_sum(rows, guess, monkeypatch):
    """Whatever is guessed of the number of rows of an edge, its sum is the same."""
    monkeypatch.setattr(grouping_module, "_has_heavy_edges", lambda *_: guess == "heavy")
    reward = -7.0 - np.arange(rows) % 7 / 7
    log = {"state": np.zeros(rows, int), "next_state": np.ones(rows, int), "reward": reward}
    edges = learned(log, ReadOptions(), connections=False)
    assert edges.total[0] == pytest.approx(math.fsum(reward), rel=1e-12)
    assert edges.total[0] == short_sum(reward, 4)


def short_sum(numbers, exponent):
    """By Python's integers."""
    units = sum(int(np.floor(abs(x) * 2.0 ** (SHORT - exponent) + 0.5)) for x in numbers)
    return -float(units) * 2.0 ** (exponent - SHORT)


def test_numbers_beyond_the_range_and_missing_ones_are_counted():
    numbers = [1.0, math.nan, math.inf, 1e300]
    assert sums(grouping(), Grouping.by_exponent, numbers)[2] == 3
    assert sums(grouping(), lambda g: g.in_fixed_point(33, 2), numbers)[2] == 3


def log_of(kind, rng):
    """Few edges with many rewards each, the sum of which depends on the order in which floats are added."""
    state = rng.integers(20, size=ROWS)
    reward = {
        "alike": -1 - rng.random(ROWS),
        "of many sizes": -(10.0 ** rng.uniform(-12, 12, ROWS)),
        "of both signs": rng.normal(size=ROWS) * 1e-7 - 1e-6,
        "tiny": -(10.0 ** rng.uniform(-40, -30, ROWS)),
    }[kind]
    return {"state": state, "next_state": state + 1, "reward": reward, "time": rng.integers(10**6, size=ROWS)}


@pytest.mark.parametrize("kind", ["alike", "of many sizes", "of both signs", "tiny"])
@pytest.mark.parametrize("half_life", [None, "30000"])
def test_the_order_of_rows_changes_no_bit_of_a_sum(kind, half_life):
    rng = np.random.default_rng(0)
    log, shuffled = log_of(kind, rng), rng.permutation(ROWS)
    one = fwrl.fit(log, half_life=half_life, connections=False).experience
    other = fwrl.fit({name: column[shuffled] for name, column in log.items()}, half_life=half_life, connections=False)
    assert one.total.tobytes() == other.experience.total.tobytes()
    times = 1.0 if half_life is None else 0.5 ** ((log["time"].max() - log["time"]) / 30000)
    for code, state in enumerate(one.states[:-1]):
        exact = math.fsum((log["reward"] * times)[log["state"] == state])
        assert one.total[code] == pytest.approx(exact, rel=1e-12)
    assert (one.weight is None) == (other.experience.weight is None) == (half_life is None)
    if one.weight is not None and other.experience.weight is not None:
        assert one.weight.tobytes() == other.experience.weight.tobytes()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_log_gives_the_same_file_with_any_number_of_threads_and_any_memory(tmp_path, suffix):
    log, path = log_of("alike", np.random.default_rng(1)), tmp_path / f"log.{suffix}"
    with duckdb.connect() as con:
        con.register("log", log)
        con.execute(f"COPY log TO '{path}'")
    files = []
    for threads, memory in ((1, "1GB"), (4, "1GB"), (4, "1GB"), (3, "40MB")):
        experience = learned(str(path), ReadOptions(), memory=memory, threads=threads)
        fwrl.Planner(experience).save(tmp_path / "log.fwrl")
        files.append((tmp_path / "log.fwrl").read_bytes())
    assert len(set(files)) == 1


def test_rewards_of_a_stay_are_added_in_the_order_of_its_visits(tmp_path):
    rng = np.random.default_rng(2)
    n = 60_000
    x = np.sort(rng.uniform(0, 20, n))  # each cell of width 1 is visited thousands of times
    log = {"trip": np.zeros(n, np.int64), "time": np.arange(n), "x": x, "y": np.zeros(n), "reward": rng.normal(size=n)}
    totals = []
    for threads in (1, 4, 4):
        options = ReadOptions(cells=("x", "y"), cell_width=1.0)
        totals.append(learned(log, options, threads=threads).total.tobytes())
    assert len(set(totals)) == 1
