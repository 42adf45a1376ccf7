"""The benchmarks: what they hold fwrl against is right, and so is their arithmetic. No times are asserted."""

from __future__ import annotations

import json

import numpy as np
import pytest

import fwrl
from fwrl.bench import (
    SUITE,
    Measurement,
    columns,
    literal,
    logs,
    measure,
    online,
    run_suite,
    scaling,
    suite,
    uncertainty,
)
from fwrl.errors import FwrlError, UnknownNameError
from fwrl.planner import Planner


def test_the_literal_algorithm_does_what_the_compiled_one_does():
    world = fwrl.load_world("four-rooms", step_reward=-1.0)
    agent = fwrl.make_agent("fwrl", 68, 4, relaxation="paper")
    t = fwrl.run(world, agent, episodes=2, steps=300, trajectory=True).trajectory
    assert t is not None
    plain = literal.LiteralFwrl(68, 4)
    for s, a, r, n in zip(*(c[~t.arrived].tolist() for c in t[1:5]), strict=True):
        plain.observe(s, a, r, n)
    np.testing.assert_array_equal(plain.F, agent.tables.F)


def test_a_ratio_says_how_many_times_as_long_the_other_takes():
    assert Measurement("x", ours=2.0, other=6.0, note="").ratio == 1 / 3


def test_both_sides_are_timed_in_turn_and_the_first_turn_is_left_out(monkeypatch):
    took = [3, 5, 2, 7, 9, 4]
    readings = iter([0, 100, *(reading for duration in took for reading in (200, 200 + duration))])
    monkeypatch.setattr("fwrl.bench.measure.time.perf_counter", lambda: next(readings))
    called: list[str] = []
    times = measure.alternate(lambda: called.append("ours"), lambda: called.append("other"), rounds=3)
    assert called == ["ours", "other"] * 4
    assert times == (3, 5)  # the medians of 3, 2, 9 and of 5, 7, 4


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(suite, "PAPER_RUN", (2, 50))
    monkeypatch.setattr(suite, "LOOP_STEPS", 200)
    monkeypatch.setattr(suite, "FIRST_STEPS", 100)
    monkeypatch.setattr(suite, "LITERAL_STEPS", {8: 3, 10: 2})
    monkeypatch.setattr(suite, "GROWTH", (8, 10))
    sizes = {"LARGE": 12, "SMALL": 8, "PAIRS": 8}
    steps = {"WALK_STEPS": 300, "NOISY_SEEKER_STEPS": 200, "SINGLE_STEPS": 200}
    for name, value in (sizes | steps).items():
        monkeypatch.setattr(columns, name, value)
    models = {"MODELS": 2, "GOALS_OF_MODEL": 3, "STATES": 50, "ACTIONS": 3, "NEW_GOALS": 1}
    for name, value in models.items():
        monkeypatch.setattr(uncertainty, name, value)
    for name, lengths in {"SIDES": (8, 9), "WALKS": (5, 40)}.items():
        monkeypatch.setattr(uncertainty, name, lengths)
    for name, small_one in {"EPISODES": 2, "STEPS": 50, "SIDES": (8,), "LARGEST": 10}.items():
        monkeypatch.setattr(online, name, small_one)
    for name, value in {"ROWS": 2000, "SIDE": 5, "LARGE": 12, "SMALL": 8}.items():
        monkeypatch.setattr(logs, name, value)
    points = {"FITTED": ((200, 5), (800, 5), (400, 8)), "BEYOND": ((1600, 8),), "ROUNDS": 1}
    goals = {"FITTED_GOALS": (5, 8), "BEYOND_GOALS": (12,)}
    for name, few in (points | goals).items():
        monkeypatch.setattr(scaling, name, few)
    for module in (logs, uncertainty, online):
        monkeypatch.setattr(module, "peak_of", lambda call: 2.0**30)
    for module in (suite, columns, logs, uncertainty):
        monkeypatch.setattr(module, "alternate", lambda ours, other, rounds: measure.alternate(ours, other, 1))


def test_every_part_measures_something(small):
    measured = list(run_suite())
    assert {part for part, _ in measured} == set(SUITE)
    assert all(m.ours > 0 and m.note for _, m in measured)


def test_parts_are_chosen_by_name(small):
    assert {part for part, _ in run_suite(["growth"])} == {"growth"}
    with pytest.raises(UnknownNameError, match="did you mean 'growth'"):
        list(run_suite(["growht"]))


def test_a_wrong_name_is_refused_before_anything_is_measured(small):
    with pytest.raises(UnknownNameError):
        next(run_suite(["growth", "growht"]))


def test_a_missing_rival_is_said_before_anything_is_measured(monkeypatch):
    monkeypatch.setattr(suite, "find_spec", lambda name: None)
    begun: list[str] = []
    with pytest.raises(FwrlError, match=r"needs networkx; install it with: pip install 'fwrl\[bench\]'"):
        next(run_suite(["step", "plan"], begun.append))
    assert begun == []


def test_new_goals_are_as_far_for_us_as_for_the_others(small, monkeypatch):
    asked = []
    plan = Planner.plan

    def noted(planner, start, goal):
        asked.append((planner, start, goal))
        return plan(planner, start, goal)

    monkeypatch.setattr(Planner, "plan", noted)
    list(logs.routes())
    assert len({goal for _, _, goal in asked}) > 2
    assert all(goal >= len(planner.states) - 3 for planner, _, goal in asked)


def test_the_memory_of_fitting_is_that_of_a_process_of_its_own(small, monkeypatch, tmp_path):
    monkeypatch.setattr(logs, "peak_of", lambda call: 3 * 2**30 if call.startswith("fitted(") else 0)
    assert all("peak 3.00 GB" in measured.note for measured in logs.ingestion())
    (tmp_path / "log.csv").write_text("state,next_state\na,b\n")
    ballast = np.ones(2**26)
    assert measure.peak_of(f"fitted({str(tmp_path / 'log.csv')!r}, {str(tmp_path / 'l')!r}, '1GB', True)") > 2**24
    assert measure.peak_of("peak()") < ballast.nbytes


def test_help_tells_of_every_part():
    from fwrl.cli.bench import bench

    parts = (bench.__doc__ or "").split("\b")[1].split("The last")[0]
    named = [line.split()[0] for line in parts.splitlines() if line.strip() and not line.startswith(" " * 8)]
    assert named == list(SUITE)


def test_what_was_measured_before_an_interruption_is_shown(monkeypatch, capsys):
    from fwrl.cli.bench import bench

    def interrupted():
        yield Measurement("a thing", 2e6, 3e6, "how", unit="B")
        raise KeyboardInterrupt

    monkeypatch.setitem(SUITE, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        bench(only=["step"])
    shown = capsys.readouterr().out.split()
    assert shown[-6:-1] == ["2", "MB", "3", "MB", "0.667"]


def test_the_command_prints_a_table_of_80_columns_or_json(small, monkeypatch, capsys):
    from fwrl.cli.bench import bench

    monkeypatch.setenv("COLUMNS", "80")
    bench(only=["step", "growth"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["part", "ours", "/", "other", "ours", "other", "ratio"]
    assert len(lines) == 1 + 2 * 4
    assert max(map(len, lines)) <= 80
    bench(only=["growth"], as_json=True)
    rows = json.loads(capsys.readouterr().out)
    assert [row["part"] for row in rows] == ["growth", "growth"]
    assert all(row["ratio"] == pytest.approx(row["ours"] / row["other"]) for row in rows)
