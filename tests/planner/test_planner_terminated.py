"""A column `terminated`: a state in which a trip terminated is a trap, unless it is the goal; a log's end is none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import fwrl
from fwrl.cli import app
from fwrl.errors import FwrlError, PositiveCycleError
from fwrl.kernels.mdp.counts import outcomes_of
from fwrl.kernels.mdp.solver import solve
from fwrl.planner import NoRouteError, Planner

# Both ways lead to the goal; the short one falls into the pit one time in four.
SHORTCUT = {
    "state": ["home"] * 4 + ["home", "bridge"],
    "action": ["short"] * 4 + ["long", "on"],
    "reward": [-1.0] * 4 + [-5.0, -5.0],
    "next_state": ["shop", "shop", "shop", "pit", "bridge", "shop"],
    "terminated": [0, 0, 0, 1, 0, 0],
}


def flags_of(planner: Planner) -> list[int]:
    terminated = planner.experience.terminated
    assert terminated is not None
    flags: list[int] = terminated.tolist()
    return flags


def without(log, *names):
    return {name: values for name, values in log.items() if name not in names}


def test_where_a_trip_terminated_is_a_trap_and_where_the_log_ends_is_not():
    assert fwrl.fit(without(SHORTCUT, "terminated")).plan("home", "shop").states == ("home", "shop")
    planner = fwrl.fit(SHORTCUT)
    assert planner.plan("home", "shop").states == ("home", "bridge", "shop")
    assert planner.plan("home", "shop", give_up=2.0).states == ("home", "shop")
    assert planner.arrival("home", "pit", dead_ends=["shop"]) == 0.25
    assert planner.summary.terminated == 1


@pytest.mark.parametrize(
    "flags",
    [
        [True, False],
        np.array([True, False]),
        ["TRUE", "false"],
        ["1", "0"],
        ["1.0", "0.0"],
        [1.0, 0.0],
        [1, 0],
    ],
    ids=repr,
)
def test_flags_in_every_writing(flags):
    planner = fwrl.fit({"state": ["a", "b"], "next_state": ["b", "c"], "terminated": flags})
    assert flags_of(planner) == [0, 1, 0]


@pytest.mark.parametrize("flag", [2, -1, 0.5, "maybe", "yes", None, "truee"])
def test_whatever_else_is_refused_with_its_row_or_left_out(flag, tmp_path):
    rows = [("a", "b", 0), ("b", "c", flag), ("b", "d", 1)]
    path = tmp_path / "log.csv"
    path.write_text(
        "state,next_state,terminated\n" + "".join(f"{a},{b},{'' if c is None else c}\n" for a, b, c in rows)
    )
    with pytest.raises(FwrlError, match=r"row 2: expected 0 or 1, or false or true, as terminated, got"):
        fwrl.fit(path)
    planner = fwrl.fit(path, skip_bad=True)
    assert (planner.summary.skipped, planner.summary.transitions, planner.summary.terminated) == (1, 2, 1)


def test_a_column_that_cannot_hold_flags_is_refused_and_another_name_is_found():
    log = {"state": ["a", "b"], "next_state": ["b", "c"], "done": [0, 1]}
    assert flags_of(fwrl.fit(log, columns={"terminated": "done"})) == [0, 0, 1]
    assert fwrl.fit({**log, "terminated": [0, 0]}, columns={"terminated": ""}).experience.terminated is None
    with pytest.raises(FwrlError, match="expected one column as terminated"):
        fwrl.fit(log, columns={"terminated": "1-done"})
    dates = pa.table({"state": ["a"], "next_state": ["b"], "terminated": pa.array([0], pa.timestamp("us"))})
    with pytest.raises(FwrlError, match="as terminated, column 'terminated' of the table is TIMESTAMP"):
        fwrl.fit(dates)


def test_a_visit_is_terminal_itself():
    visits = {"trip": [1, 1, 1, 2, 2, 2], "time": [1, 2, 3, 1, 2, 3], "state": list("abcade")}
    planner = fwrl.fit({**visits, "terminated": [0, 1, 0, 0, 0, 1]})
    assert [planner.states[s] for s in np.flatnonzero(flags_of(planner))] == ["b", "e"]
    with pytest.raises(NoRouteError, match="trips end for good in 'b', so nothing leaves it"):
        planner.plan("b", "c")
    with pytest.raises(FwrlError, match=r"row 2: expected 0 or 1, or false or true, as terminated, got nothing"):
        fwrl.fit({**visits, "terminated": [0, None, 0, 0, 0, 1]})
    gap = fwrl.fit({**visits, "terminated": [0, None, 0, 0, 0, 1]}, skip_bad=True)
    assert (gap.summary.skipped, gap.summary.transitions) == (1, 2)


FIRST: dict[str, list[Any]] = {
    "trip": ["t", "u", "u", "u"],
    "time": [1, 1, 2, 3],
    "state": ["a", "x", "a", "b"],
    "terminated": [1, 0, 0, 0],
}


def test_the_first_visit_of_a_trip_is_terminal_too():
    planner = fwrl.fit(FIRST)
    assert (planner.summary.terminated, flags_of(planner)) == (1, [1, 0, 0])
    with pytest.raises(NoRouteError):
        planner.plan("x", "b")
    assert planner.summary.connected == 1  # x to a


def test_the_first_visit_of_a_trip_is_terminal_in_cells_and_in_logs_merged_later():
    points = without(FIRST, "state") | {"x": [1.5, 0.5, 1.5, 2.5], "y": [0.5] * 4}
    assert flags_of(fwrl.fit(points, cells=("x", "y"), cell_width=1.0)) == [0, 1, 0]
    ended, others = ({name: values[part] for name, values in FIRST.items()} for part in (slice(1), slice(1, 4)))
    ended = {name: [*values, other] for (name, values), other in zip(ended.items(), ("t", 2, "z", 0), strict=True)}
    whole = fwrl.fit({name: [*ended[name], *others[name]] for name in FIRST})
    for merged in (fwrl.fit(ended).merge(fwrl.fit(others)), fwrl.fit(ended, into=fwrl.fit(others))):
        assert flags_of(merged) == flags_of(whole) == [1, 0, 0, 0]
    begun = {"trip": ["w", "w"], "time": [1, 2], "state": ["v", "x"], "terminated": [0, 0]}
    goes_on = {"trip": ["w", "w"], "time": [3, 4], "state": ["a", "b"], "terminated": [1, 0]}
    joined = fwrl.fit(begun).merge(fwrl.fit(goes_on))
    assert (list(joined.states), flags_of(joined)) == (["a", "b", "v", "x"], [1, 0, 0, 0])


def test_no_path_and_no_cycle_leads_through_a_terminal_state():
    log = {"state": list("abcb"), "next_state": list("bcda"), "reward": [1.0, -1.0, -1.0, 1.0]}
    with pytest.raises(PositiveCycleError):
        fwrl.fit(log)
    planner = fwrl.fit({**log, "terminated": [1, 0, 0, 0]})
    for backup in ("expected", "best"):
        assert planner.value("a", "b", backup) == 1.0
        assert planner.value("a", "d", backup) == -np.inf
        assert planner.value("c", "d", backup) == -1.0
    assert planner.summary.connected == 2
    assert [route.states for route in planner.alternatives("c", "d", 3)] == [("c", "d")]


def test_edges_files_and_added_logs_keep_it(tmp_path):
    planner = fwrl.fit(SHORTCUT)
    planner.save(tmp_path / "p.fwrl")
    again = fwrl.fit(planner.edges())
    more = fwrl.fit(without(SHORTCUT, "terminated"), into=planner)
    for other in (Planner.load(tmp_path / "p.fwrl"), again, more):
        assert other.arrival("home", "shop", dead_ends=["bridge"]) == 0.75
        assert other.summary.terminated == 1
    assert "terminated" not in fwrl.fit(without(SHORTCUT, "terminated")).edges().column_names


def test_episodes_tell_by_their_terminations_unless_they_end_at_their_own_goal():
    steps = {"observations": [0, 1, 2], "actions": [0, 1], "rewards": [-1.0, -1.0]}
    ended = {**steps, "terminations": [False, True]}
    assert flags_of(fwrl.fit([ended])) == [0, 0, 1]
    assert flags_of(fwrl.fit([SimpleNamespace(**ended, infos={})])) == [0, 0, 1]
    assert fwrl.fit([{**ended, "infos": {"success": [False, False, True]}}]).summary.terminated == 0
    goals = {"observation": np.array([0, 1, 2]), "desired_goal": np.array([2, 2, 2])}
    assert fwrl.fit([{**ended, "observations": goals}]).summary.terminated == 0
    assert fwrl.fit([steps]).experience.terminated is None


@given(
    rows=st.lists(
        st.tuples(*[st.integers(0, 5)] * 3, st.integers(0, 3).map(lambda n: n == 0)), min_size=1, max_size=25
    ),
    goal=st.integers(0, 5),
)
@settings(max_examples=15)
def test_terminal_states_are_traps_of_the_solver_and_of_declared_dead_ends(rows, goal):
    state, action, following, ended = (list(column) for column in zip(*rows, strict=True))
    log = {"state": state, "action": action, "next_state": following}
    planner, plain = fwrl.fit({**log, "terminated": ended}), fwrl.fit(log)
    closed = {n for n, end in zip(following, ended, strict=True) if end}
    assert {planner.states[s] for s in np.flatnonzero(flags_of(planner))} == closed
    if goal not in list(planner.states):
        return
    edges = plain.experience
    first = edges.first_of_pair()
    outcomes = outcomes_of(len(edges.states), edges.source[first], edges.pair(), edges.target, edges.times, edges.mean)
    mask = np.array([label in closed for label in edges.states])
    expected = solve(outcomes, edges.states.find(goal), mask)
    for code, label in enumerate(edges.states):
        assert planner.arrival(label, goal) == pytest.approx(expected.p[code], abs=1e-12)
        assert planner.value(label, goal) == pytest.approx(expected.v[code], rel=1e-9)
        assert plain.arrival(label, goal, dead_ends=closed) == planner.arrival(label, goal)


def test_the_command_line_reads_names_shows_and_adds_it(tmp_path):
    log, out = tmp_path / "log.csv", tmp_path / "p.fwrl"
    names = list(SHORTCUT)
    rows = [[*names[:-1], "done"], *zip(*SHORTCUT.values(), strict=True)]
    log.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    more = tmp_path / "more.csv"
    more.write_text("state,action,reward,next_state,terminated\nshop,back,-1,ditch,true\n")
    runner = CliRunner()
    fitted = runner.invoke(app, ["fit", str(log), "-o", str(out), "--columns", "terminated=done"])
    assert fitted.exit_code == 0
    assert "terminal states" in fitted.output
    planned = runner.invoke(app, ["plan", str(out), "home", "shop"])
    assert "bridge" in planned.output
    added = runner.invoke(app, ["fit", str(more), "--add", "-o", str(out), "--json"])
    assert '"terminated": 2' in added.output
    assert "terminated" in runner.invoke(app, ["check", str(out)]).output
