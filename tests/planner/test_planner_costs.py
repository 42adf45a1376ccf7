"""Costs are minimised: a column `cost`, an expression for the reward, and a warning where costs were called rewards."""

from __future__ import annotations

import warnings

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import FwrlError, FwrlWarning, PositiveCycleError
from fwrl.planner.ingest.columns import ColumnFinder


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=30))
@settings(max_examples=10)
def test_the_least_cost_is_that_of_networkx(rows):
    planner = fwrl.fit(
        {"state": [s for s, _, _ in rows], "next_state": [n for _, n, _ in rows], "cost": [c for *_, c in rows]}
    )
    sums: dict[tuple[int, int], list[int]] = {}
    for s, n, c in rows:
        sums.setdefault((s, n), []).append(c)
    graph = nx.DiGraph()
    graph.add_weighted_edges_from((s, n, sum(costs) / len(costs)) for (s, n), costs in sums.items())
    for s, lengths in nx.all_pairs_dijkstra_path_length(graph):
        for goal, length in lengths.items():
            assert -planner.value(s, goal) == pytest.approx(length)


def log(path, header, *lines):
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def test_a_negative_cost_is_a_bad_row(tmp_path):
    path = log(tmp_path / "log.csv", "state,next_state,cost", "a,b,1", "b,c,-2", "c,d,3")
    with pytest.raises(FwrlError, match=r"log\.csv, row 2: expected a number from 0 to 1e\+100 as cost, got -2"):
        fwrl.fit(path)
    planner = fwrl.fit(path, skip_bad=True)
    assert (planner.summary.skipped, planner.value("a", "b"), planner.value("c", "d")) == (1, -1.0, -3.0)


def test_reward_and_cost_at_once_are_refused_unless_one_is_chosen(tmp_path):
    path = log(tmp_path / "log.csv", "state,next_state,cost,reward", "a,b,3,-7")
    with pytest.raises(FwrlError, match="has both a cost and a reward"):
        fwrl.fit(path)
    assert fwrl.fit(path, columns={"cost": "cost"}).value("a", "b") == -3.0
    assert fwrl.fit(path, columns={"reward": "reward"}).value("a", "b") == -7.0


EXPRESSIONS = [
    ("-distance", -6.0),
    ("-distance*2 - toll", -13.0),
    ("-(distance+toll)/2", -3.5),
    ('-"km/h"', -5.0),
    ("-#5", -5.0),
    ("-.5*Distance", -3.0),
]


@pytest.mark.parametrize(("text", "value"), EXPRESSIONS)
def test_a_reward_may_be_an_expression(tmp_path, text, value):
    path = log(tmp_path / "log.csv", "state,next_state,distance,toll,km/h", "a,b,6,1,5")
    assert fwrl.fit(path, columns={"reward": text}).value("a", "b") == value


@pytest.mark.parametrize(
    "text", ["-", "distance toll", "(distance", "distance)", "-1", "distance+", "a;b", '"distance', "*distance"]
)
def test_what_is_no_expression_is_refused_with_the_columns(text):
    with pytest.raises(FwrlError, match=r"the table has no column .* for reward.* It has state, distance, toll"):
        ColumnFinder(["state", "distance", "toll"], "the table").number(text, "reward")


def test_positive_rewards_without_a_cycle_are_warned_of():
    rows = [("a", "x", 3.0, "b"), ("b", "x", 2.0, "c")]
    with pytest.warns(FwrlWarning, match="all rewards in the log are positive.* name their column cost"):
        fwrl.fit(rows)
    with pytest.raises(PositiveCycleError, match="if they are costs, name their column cost"):
        fwrl.fit([*rows, ("c", "x", 1.0, "a")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fwrl.fit([*rows, ("c", "x", -1.0, "d")])


def test_the_command_line_prints_warnings_in_a_line(call, tmp_path):
    log(tmp_path / "log.csv", "state,next_state,reward", "a,b,3", "b,c,2")
    code, _, err = call("fit", "log.csv", "-o", "x.fwrl")
    assert code == 0
    assert err.startswith("fwrl: all rewards in the log are positive")
    assert call("fit", "log.csv", "-o", "x.fwrl", "--columns", "cost=reward").err == ""
    assert call("plan", "x.fwrl", "a", "c").out.startswith("a to c: 2 steps, cost 5")
