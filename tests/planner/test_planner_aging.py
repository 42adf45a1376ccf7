"""Periods keep the transitions that begin in them; with a half-life, old observations weigh less."""

from __future__ import annotations

import datetime
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import FwrlError, OptionError
from fwrl.planner.transition_counts import Aging, common_aging, rescale

BEGIN = datetime.datetime(2024, 2, 26)  # a Monday


def hourly(n=24 * 21):
    """A trip that visits another state every hour; the time tells the state."""
    times = [BEGIN + datetime.timedelta(hours=k) for k in range(n)]
    return {"trip": [1] * n, "time": np.array(times, "M8[us]"), "state": [f"{t:%a-%H-%d}" for t in times]}, times


def begun(planner):
    return Counter({e["state"]: e["count"] for e in planner.edges().to_pylist()})


PERIODS = [
    ({"hours": "7-9"}, lambda t: 7 <= t.hour < 9),
    ({"hours": "22-6"}, lambda t: t.hour >= 22 or t.hour < 6),
    ({"hours": "7-9,17-19"}, lambda t: t.hour in (7, 8, 17, 18)),
    ({"weekdays": "mon-fri"}, lambda t: t.weekday() < 5),
    ({"weekdays": "Sat,sunday"}, lambda t: t.weekday() >= 5),
    ({"weekdays": "sat-mon"}, lambda t: t.weekday() in (5, 6, 0)),
    ({"since": "2024-03-01"}, lambda t: t >= datetime.datetime(2024, 3, 1)),
    ({"until": "2024-03-01 12:30"}, lambda t: t < datetime.datetime(2024, 3, 1, 12, 30)),
    (
        {"since": "2024-02-28", "until": "2024-03-05", "hours": "8-9", "weekdays": "tue"},
        lambda t: f"{t:%d-%H}" == "never",
    ),
    (
        {"since": datetime.date(2024, 2, 28), "until": "2024-03-06", "hours": "8-9", "weekdays": "tue"},
        lambda t: f"{t:%m-%d-%H}" == "03-05-08",
    ),
]


@pytest.mark.parametrize(("options", "kept"), PERIODS, ids=[str(options) for options, _ in PERIODS])
@pytest.mark.parametrize("shape", ["visits", "transitions"])
def test_only_transitions_that_begin_in_the_period_are_kept(options, kept, shape):
    log, times = hourly()
    if shape == "transitions":
        log = {"state": log["state"][:-1], "next_state": log["state"][1:], "time": log["time"][:-1]}
    wanted = Counter(state for state, time in zip(log["state"][: len(times) - 1], times, strict=False) if kept(time))
    if not wanted:
        with pytest.raises(FwrlError, match="the log has none in that period"):
            fwrl.fit(log, **options)
        return
    planner = fwrl.fit(log, **options)
    assert begun(planner) == wanted
    following = dict(zip(log["state"], log["state"][1:], strict=False))
    if shape == "visits":  # no move leads across what was left out
        assert all(e["next_state"] == following[e["state"]] for e in planner.edges().to_pylist())


def test_periods_of_numbers_and_what_is_no_period():
    log = [("a", "l", -1.0, "b", "t", 1), ("b", "l", -1.0, "c", "t", 2), ("c", "l", -1.0, "d", "t", 3)]
    assert begun(fwrl.fit(log, since=2, until="3")) == {"b": 1}
    assert begun(fwrl.fit([(*row[:5], row[5] + 0.5) for row in log], until=2.5)) == {"a": 1}
    dated, _ = hourly(3)
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (log, {"hours": "7-9"}, "hours and weekdays need times that are dates"),
        (log, {"since": "monday"}, "expected a number as a moment"),
        (log, {"since": math.inf}, "expected a finite number as a moment, got inf; leave it out"),
        (log, {"until": "-inf"}, "expected a finite number as a moment, got '-inf'; leave it out"),
        (log, {"until": "nan"}, "expected a finite number as a moment, got 'nan'; leave it out"),
        (dated, {"since": "soon"}, "expected a moment as 2024-03-31"),
        (dated, {"since": "infinity"}, "expected a moment as 2024-03-31.* got 'infinity'"),
        (dated, {"until": math.inf}, "expected a moment as 2024-03-31.* got 'inf'"),
        (dated, {"hours": "7"}, "expected hours as 7-9"),
        (dated, {"hours": "7-25"}, "expected hours as 7-9"),
        (dated, {"hours": "7-7"}, "expected hours as 7-9"),
        (dated, {"hours": "07-7"}, "expected hours as 7-9"),
        (dated, {"weekdays": "someday"}, "expected weekdays as mon-fri"),
        (dated, {"half_life": "30"}, "expected a half-life as 30d"),
        (log, {"half_life": "30d"}, "expected a half-life in their unit"),
        (log, {"half_life": "-3"}, "expected a half-life in their unit"),
        (log, {"half_life": "1e"}, "expected a half-life in their unit"),
        (log, {"half_life": "1e999"}, "expected a half-life in their unit"),
        (dated, {"half_life": "1e300w"}, "expected a half-life as 30d"),
        ([("a", "b")], {"since": 3}, "the log has no times"),
        ([("a", "b")], {"half_life": 3}, "a half-life needs times"),
    ]
    for source, options, said in wrong:
        with pytest.raises(OptionError, match=said):
            fwrl.fit(source, **options)


@pytest.mark.parametrize(
    ("times", "options", "kept"),
    [
        ([2, 3, 4], {"since": 2.5}, "bc"),
        ([2, 3, 4], {"until": 2.5}, "a"),
        ([2, 3, 4], {"since": "3.0", "until": "4.0"}, "b"),
        ([-3, -2, -1], {"since": -2.5, "until": -1.5}, "b"),
        ([2, 3, 4], {"since": "-1e999999999", "until": "1e999999999"}, "abc"),
        ([1_700_000_000_000_000_000 + k for k in range(3)], {"since": 1_700_000_000_000_000_001}, "bc"),
        ([1_700_000_000_000_000_000 + k for k in range(3)], {"until": "1700000000000000001"}, "a"),
        ([0.1, 0.2, 0.3], {"since": 0.1, "until": 0.3}, "ab"),
        ([0.1, 0.2, 0.3], {"since": np.float32(0.2)}, "bc"),
        ([0.1234564, 0.1234567, 0.2], {"since": 0.1234564, "until": 0.1234567}, "a"),
    ],
)
def test_bounds_of_numbers_are_exact(times, options, kept):
    log = {"state": list("abc"), "next_state": list("xyz"), "time": times}
    assert begun(fwrl.fit(log, **options)) == Counter(kept)


@pytest.mark.parametrize("half_life", [1e16, 5e-5, "5E-5"])
def test_a_half_life_may_have_an_exponent(half_life):
    log = {"state": ["a"], "next_state": ["b"], "time": [1]}
    found = fwrl.fit(log, half_life=half_life).experience.aging
    assert found is not None
    assert found.half_life == float(half_life)


ROWS = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.sampled_from("lr"),
        st.floats(-9, 0),
        st.sampled_from("abc"),
        st.integers(0, 5),
        st.integers(0, 90),
    ),
    min_size=1,
    max_size=30,
)


def assert_weighted(planner, rows, half_life):
    newest = max(row[5] for row in rows)
    weights: Counter[tuple[str, str, str]] = Counter()
    totals: Counter[tuple[str, str, str]] = Counter()
    for s, a, r, n, _, t in rows:
        weights[s, a, n] += 0.5 ** ((newest - t) / half_life)
        totals[s, a, n] += r * 0.5 ** ((newest - t) / half_life)
    tries: Counter[tuple[str, str]] = Counter()
    for (s, a, _), weight in weights.items():
        tries[s, a] += weight
    assert planner.experience.aging == Aging(float(half_life), newest)
    for edge in planner.edges().to_pylist():
        key = edge["state"], edge["action"], edge["next_state"]
        assert edge["weight"] == pytest.approx(weights[key], rel=1e-12)
        assert edge["reward"] == pytest.approx(totals[key] / weights[key], rel=1e-9, abs=1e-12)
        assert edge["probability"] == pytest.approx(weights[key] / tries[key[:2]], rel=1e-12)


@given(ROWS, st.sets(st.integers(0, 5)))
@settings(max_examples=10)
def test_weights_halve_with_age_and_logs_can_be_added(rows, first):
    assert_weighted(fwrl.fit(rows, half_life=7), rows, 7)
    one, other = ([row for row in rows if (row[4] in first) == chosen] for chosen in (True, False))
    if one and other:
        assert_weighted(fwrl.fit(other, into=fwrl.fit(one, half_life=7)), rows, 7)


def test_a_plan_follows_recent_experience(tmp_path):
    week = datetime.timedelta(days=7)
    rows = [("a", "go", -1.0, "b", "t", BEGIN)] * 6 + [("a", "go", -1.0, "c", "t", BEGIN + 10 * week)] * 2
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    log = dict(zip(("state", "action", "reward", "next_state", "trip", "time"), columns, strict=True))
    log["time"] = log["time"].astype("M8[us]")
    assert fwrl.fit(log).edges()["probability"].to_pylist() == [0.75, 0.25]
    aged = fwrl.fit(log, half_life="2w")
    assert aged.edges()["probability"].to_pylist() == pytest.approx([6 / 32 / (6 / 32 + 2), 2 / (6 / 32 + 2)])
    assert aged.edges()["count"].to_pylist() == [6, 2]
    aged.save(tmp_path / "a.fwrl")
    again = fwrl.Planner.load(tmp_path / "a.fwrl")
    assert again.experience.aging == aged.experience.aging
    assert again.plan("a", "c").steps == aged.plan("a", "c").steps
    with pytest.raises(OptionError, match="different half-lives"):
        fwrl.fit(log, into=again, half_life="3w")
    with pytest.raises(OptionError, match="different half-lives"):
        fwrl.fit(log, into=fwrl.fit(log), half_life="3w")
    with pytest.raises(FwrlError, match=r"the oldest observation is 1,680 half-lives old"):
        fwrl.fit(log, half_life="1h")


def test_rescaling_keeps_means_and_frequencies():
    experience = fwrl.fit([("a", "l", -3.0, "b", "t", 0), ("a", "l", -1.0, "c", "t", 8)], half_life=4).experience
    later = rescale(experience, 16)
    assert later.aging == Aging(4.0, 16)
    assert later.weight is not None
    assert later.weight.tolist() == [0.0625, 0.25]
    np.testing.assert_array_equal(later.mean, experience.mean)
    assert rescale(experience, 8) is experience
    assert common_aging(experience.aging, later.aging) == later.aging
    with pytest.raises(OptionError, match="different half-lives"):
        common_aging(experience.aging, replace(Aging(4.0), half_life=5.0))
