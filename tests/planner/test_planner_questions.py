"""Questions about many places, quantiles, times of day and a minimum of trips, against independent answers."""

from __future__ import annotations

import json
import math
from typing import Any

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.planner import Planner, questions
from fwrl.planner.fitting import fit_on_cluster
from fwrl.planner.questions import Chain, chain_quantiles
from fwrl.pool import Pool, SerialExecutor


def certain_log(n, edges, seed, noise):
    """Transitions of a random graph without uncertainty, some of them seen several times at different costs."""
    rng = np.random.default_rng(seed)
    s, t = rng.integers(0, n, edges), rng.integers(0, n, edges)
    return [(int(a), int(b), -float(1 + noise * rng.random()), int(b)) for a, b in zip(s, t, strict=True)]


def uncertain_log(n, rows, seed, actions=2):
    rng = np.random.default_rng(seed)
    drawn = (rng.integers(0, n, rows), rng.integers(0, actions, rows), rng.integers(0, n, rows))
    return [(int(s), int(a), -float(1 + rng.integers(0, 3)), int(t)) for s, a, t in zip(*drawn, strict=True)]


def graph_of(log):
    """Mean costs as a graph, by hand."""
    seen: dict[tuple[int, int], list[float]] = {}
    for s, _, r, t in log:
        seen.setdefault((s, t), []).append(-r)
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from((s, t, math.fsum(costs) / len(costs)) for (s, t), costs in seen.items())
    return graph


graphs = st.builds(
    certain_log, st.integers(2, 25), st.integers(1, 80), st.integers(0, 10**6), st.sampled_from((0.0, 0.5, 100.0))
)


@given(graphs, st.booleans())
@settings(max_examples=80)
def test_a_matrix_has_the_costs_that_networkx_finds_from_either_side(log, more_starts):
    planner, graph = fwrl.fit(log), graph_of(log)
    few = list(planner.states)[:2]
    starts, goals = (list(planner.states), few) if more_starts else (few, list(planner.states))
    found = planner.matrix(starts, goals)
    for k, start in enumerate(starts):
        lengths = networkx.single_source_dijkstra_path_length(graph, start)
        assert found.cost[k] == pytest.approx([lengths.get(goal, np.inf) for goal in goals], rel=1e-9)
    assert np.array_equal(found.arrival == 1, np.isfinite(found.cost))
    assert np.array_equal(found.arrival == 0, np.isinf(found.cost))


@given(graphs, st.floats(0, 12))
@settings(max_examples=80)
def test_reachable_and_within_are_the_cutoffs_of_networkx(log, cost):
    planner, graph = fwrl.fit(log), graph_of(log)
    place = planner.states[0]
    for found, searched in ((planner.reachable(place, cost), graph), (planner.within(place, cost), graph.reverse())):
        expected = networkx.single_source_dijkstra_path_length(searched, place, cutoff=cost * (1 + 1e-9))
        assert {each.state: each.cost for each in found} == pytest.approx(expected)
        assert [each.cost for each in found] == sorted(each.cost for each in found)
        assert all(each.arrival == 1 for each in found)


@given(st.integers(2, 8), st.integers(2, 40), st.integers(0, 10**6), st.floats(0, 20))
@settings(max_examples=40)
def test_under_uncertainty_all_answers_are_those_of_single_plans(n, rows, seed, cost):
    planner = fwrl.fit(uncertain_log(n, rows, seed))
    places = list(planner.states)
    found = planner.matrix(places, places)
    for i, start in enumerate(places):
        reachable = {each.state: each[1:] for each in planner.reachable(start, cost)}
        for k, goal in enumerate(places):
            p, c = planner.arrival(start, goal), -planner.value(start, goal)
            assert (found.arrival[i, k], found.cost[i, k]) == (p, c if p else np.inf)
            near = p > 0 and c <= cost * (1 + 1e-9)
            assert (goal in reachable) == near
            assert (start in {each.state for each in planner.within(goal, cost)}) == near
            if near:
                assert reachable[goal] == (c, p)


def test_options_change_a_matrix_as_they_change_values():
    log = [("a", "go", -1.0, "g")] * 3 + [("a", "go", -1.0, "t"), ("a", "walk", -9.0, "g"), ("b", "x", -1.0, "a")]
    planner = fwrl.fit({**dict(zip(("state", "action", "reward", "next_state"), zip(*log, strict=True), strict=True))})
    for options in ({"dead_ends": ["t"]}, {"give_up": 5.0}, {"cautious": 0.9}, {"backup": "best"}):
        found = planner.matrix(["a", "b", "t"], ["g"], **options)
        for k, start in enumerate(("a", "b")):
            assert found.cost[k, 0] == -planner.value(start, "g", **options)
            assert found.arrival[k, 0] == planner.arrival(start, "g", **options)
        assert (found.cost[2, 0], found.arrival[2, 0]) == (np.inf, 0.0)
        assert {each.state for each in planner.within("g", 1e9, **options)} == {"a", "b", "g"}
        assert "g" in {each.state for each in planner.reachable("a", 1e9, **options)}


def test_nothing_leaves_a_terminal_state_in_any_direction():
    rows = {"state": ["a", "b", "b"], "next_state": ["b", "c", "c"], "terminated": [1, 0, 0]}
    planner = fwrl.fit(rows)
    assert planner.matrix(["a", "b"], ["a", "b", "c"]).cost.tolist() == [[0, 1, np.inf], [np.inf, 0, np.inf]]
    assert planner.matrix(["a", "b", "c"], ["b"]).cost.tolist() == [[1], [0], [np.inf]]
    assert [each.state for each in planner.reachable("a", 9)] == ["a", "b"]


def test_impossible_questions_are_refused_in_one_sentence():
    planner = fwrl.fit([("dock", "aisle"), ("aisle", "shelf")])
    for question in (
        lambda: planner.matrix(["dok"], ["shelf"]),
        lambda: planner.matrix(["dock"], ["shelv"]),
        lambda: planner.reachable("dok", 1),
        lambda: planner.within("shelv", 1),
        lambda: planner.cost_quantiles("dok", "shelf"),
    ):
        with pytest.raises(fwrl.FwrlError, match="did you mean"):
            question()
    with pytest.raises(fwrl.FwrlError, match="between 0 and 1"):
        planner.cost_quantiles("dock", "shelf", (1.0,))
    with pytest.raises(fwrl.FwrlError, match="no route from 'shelf'"):
        planner.cost_quantiles("shelf", "dock")
    with pytest.raises(fwrl.FwrlError, match="expected a number"):
        planner.within("shelf", math.nan)


# --- quantiles


def simulated_costs(planner, start, goal, n, seed):
    """Costs of trips that follow the plan and arrive, drawn one by one from the public edges."""
    rng, policy, rows = np.random.default_rng(seed), planner.policy(goal), planner.edges().to_pylist()
    costs = []
    for _ in range(50 * n):
        here, cost = start, 0.0
        for _ in range(2000):
            action = policy.predict(here)[0]
            if here == goal or action is None:
                break
            outcomes = [row for row in rows if (row["state"], row["action"]) == (here, action)]
            if any(planner.arrival(row["next_state"], goal) == 0 for row in outcomes):
                known = [row for row in outcomes if not lost_unseen(rows, row["next_state"], goal)]
                outcomes = known or outcomes
            weights = np.array([row["count"] for row in outcomes], float)
            row = outcomes[rng.choice(len(outcomes), p=weights / weights.sum())]
            here, cost = row["next_state"], cost - row["reward"]
        if here == goal:
            costs.append(cost)
        if len(costs) == n:
            break
    return np.sort(costs)


def lost_unseen(rows, state, goal):
    """Whether a state can't reach the goal but can reach one that the log never leaves."""
    graph = networkx.DiGraph((row["state"], row["next_state"]) for row in rows)
    reached = networkx.descendants(graph, state) | {state}
    return goal not in reached and any(graph.out_degree(each) == 0 for each in reached)


@given(st.integers(2, 6), st.integers(4, 30), st.integers(0, 10**6))
@settings(max_examples=25)
def test_quantiles_agree_with_trips_drawn_one_by_one(n, rows, seed):
    planner = fwrl.fit(uncertain_log(n, rows, seed))
    start = planner.states[0]
    goals = [goal for goal in planner.states if goal != start and planner.arrival(start, goal) > 0.05]
    for goal in goals[:1]:
        found = planner.cost_quantiles(start, goal, (0.25, 0.5, 0.9))
        costs = simulated_costs(planner, start, goal, 400, seed)
        for each in found.quantiles:
            # Bounds that 400 trips miss about once in a million.
            below, at_most = np.mean(costs < each.low - 1e-9), np.mean(costs <= each.high + 1e-9)
            margin = 5 * math.sqrt(each.probability * (1 - each.probability) / len(costs)) + 0.01
            assert below - margin <= each.probability <= at_most + margin


@pytest.mark.parametrize("p", [0.5, 0.1, 0.01])
def test_an_action_that_works_with_probability_p_takes_a_geometric_number_of_tries(p):
    tries = round(1 / p)
    planner = fwrl.fit([("a", "go", -2.0, "b")] + [("a", "go", -2.0, "a")] * (tries - 1))
    shares = (0.5, 0.9, 0.99)
    found = planner.cost_quantiles("a", "b", shares)
    assert found.simulated is None
    assert found.mean == pytest.approx(2 * tries)
    expected = [2 * math.ceil(math.log(1 - q) / math.log(1 - 1 / tries) - 1e-9) for q in shares]
    assert [each.cost for each in found.quantiles] == expected


def test_exact_quantiles_are_those_of_all_paths_given_arrival():
    # From a: half to g, a quarter to b, from which half is lost for good, a quarter to the trap itself.
    rows = [("a", "go", -1.0, "g")] * 2 + [("a", "go", -1.0, "b"), ("a", "go", -1.0, "t")]
    rows += [("b", "go", -10.0, "g"), ("b", "go", -10.0, "t")]
    log = {
        name: list(column)
        for name, column in zip(("state", "action", "reward", "next_state"), zip(*rows, strict=True), strict=True)
    }
    planner = fwrl.fit({**log, "terminated": [state == "t" for state in log["next_state"]]})
    found = planner.cost_quantiles("a", "g", (0.79, 0.81))
    assert found.arrival == pytest.approx(5 / 8)  # 1/2 + 1/4 * 1/2; given arrival, 4 of 5 trips cost 1
    assert [each.cost for each in found.quantiles] == [1.0, 11.0]
    assert found.mean == pytest.approx(0.8 * 1 + 0.2 * 11)


def test_a_simulated_interval_holds_the_exact_quantile(monkeypatch):
    loop = Chain(np.array([0, 2, 2]), np.array([0, 1]), np.array([1.0, 1.0]), np.array([0.9, 0.1]), 0, 1)
    shares = (0.1, 0.5, 0.9, 0.99)
    exact, none = chain_quantiles(loop, shares, seed=0)
    drawn, n = chain_quantiles(loop, shares, seed=0, followed=0)
    assert (none, n) == (None, questions.SIMULATED)
    for one, other in zip(exact, drawn, strict=True):
        assert other.low <= one.cost <= other.high
        assert other.low <= other.cost <= other.high
    monkeypatch.setattr(questions, "MOST_STEPS", 1000)
    with pytest.raises(fwrl.FwrlError, match="too many to simulate"):
        chain_quantiles(loop, shares, seed=0, followed=0)


def test_quantiles_of_a_plan_that_avoids_a_place_are_those_of_a_log_without_it():
    log = [("a", "b"), ("b", "c"), ("a", "d"), ("d", "e"), ("e", "c")]
    planner = fwrl.fit(log)
    assert planner.cost_quantiles("a", "c").mean == 2.0
    without = fwrl.fit([row for row in log if "b" not in row])
    assert planner.cost_quantiles("a", "c", avoid=["b"]) == without.cost_quantiles("a", "c")
    with pytest.raises(fwrl.NoRouteError):
        planner.cost_quantiles("a", "c", avoid=["b", "e"])
    with pytest.raises(fwrl.OptionError, match="both a stop and in avoid"):
        planner.cost_quantiles("a", "c", avoid=["c"])


def test_positive_rewards_are_simulated():
    planner = fwrl.fit([("a", "go", -5.0, "b"), ("b", "go", 2.0, "c"), ("a", "go", -5.0, "c")])
    found = planner.cost_quantiles("a", "c", (0.25, 0.75))
    assert found.simulated == questions.SIMULATED
    assert [each.cost for each in found.quantiles] == [3.0, 5.0]


def test_a_log_read_again_gives_the_observed_costs_of_steps():
    log = [("a", "go", -float(c), "b") for c in range(1, 11)] + [("b", "go", -c, "c") for c in (100.0, 200.0)]
    planner = fwrl.fit(log)
    assert [each.cost for each in planner.cost_quantiles("a", "c", (0.5, 0.9)).quantiles] == [155.5, 155.5]
    found = planner.cost_quantiles("a", "c", (0.5, 0.55, 0.9), log=log)
    assert found.observed
    assert found.simulated is None
    sums = np.sort([c + d for c in range(1, 11) for d in (100, 200)])
    assert [each.cost for each in found.quantiles] == [sums[math.ceil(q * 20) - 1] for q in (0.5, 0.55, 0.9)]
    with pytest.raises(fwrl.FwrlError, match="give all logs"):
        planner.cost_quantiles("a", "c", log=log[:10])


# --- a minimum of trips


def edges_by_name(planner):
    names = ("state", "action", "next_state", "count", "reward", "best", "trips")
    return [tuple(row[name] for name in names) for row in planner.edges().to_pylist()]


trip_logs = st.lists(
    st.tuples(
        st.integers(0, 4), st.integers(0, 2), st.integers(-3, -1).map(float), st.integers(0, 4), st.integers(0, 5)
    ),
    min_size=1,
    max_size=60,
)


def filtered(log, least):
    trips: dict[tuple[int, int, int], set[int]] = {}
    for s, a, _, t, trip in log:
        trips.setdefault((s, a, t), set()).add(trip)
    return [row for row in log if len(trips[row[0], row[1], row[3]]) >= least]


@given(trip_logs, st.integers(1, 5))
@settings(max_examples=60)
def test_a_minimum_of_trips_is_a_log_filtered_by_hand(log, least):
    kept = filtered(log, least)
    if not kept:
        with pytest.raises(fwrl.FwrlError, match="distinct trips or more"):
            fwrl.fit(log, min_trips=least)
        return
    by_hand, fitted = fwrl.fit(kept), fwrl.fit(log, min_trips=least)
    assert edges_by_name(fitted) == edges_by_name(by_hand)
    assert fitted.summary == by_hand.summary
    if least > 3:
        with pytest.raises(fwrl.FwrlError, match="latest 3 trips"):
            fwrl.fit(log).with_min_trips(least)
        return
    view = fwrl.fit(log).with_min_trips(least)
    assert edges_by_name(view) == edges_by_name(by_hand)
    assert list(view.states) == list(by_hand.states)
    assert view.find_states() == by_hand.find_states()
    assert view.summary.trips in (None, by_hand.summary.trips)
    places = list(by_hand.states)
    assert np.array_equal(view.matrix(places, places).cost, by_hand.matrix(places, places).cost)


@given(trip_logs, trip_logs, st.integers(1, 3))
@settings(max_examples=30)
def test_trips_of_merged_planners_count_once(one, other, least):
    kept = filtered(one + other, least)
    if kept:
        view = fwrl.fit(one).merge(fwrl.fit(other)).with_min_trips(least)
        assert edges_by_name(view) == edges_by_name(fwrl.fit(kept))


def test_a_limited_planner_counts_its_trips_or_says_that_it_can_not():
    def trips(*log):
        return fwrl.fit([(a, "go", -1.0, b, trip, k) for k, (a, b, trip) in enumerate(log)])

    few = trips(("a", "b", 1), ("a", "b", 2), ("b", "c", 3)).with_min_trips(2)
    assert few.summary.trips == 2
    many = trips(*(("a", "b", trip) for trip in range(5)), ("b", "c", 9)).with_min_trips(2)
    assert many.summary.trips is None  # the latest three are known, and that there are more
    assert few.merge(many).summary.trips is None


def test_a_limited_planner_is_saved_and_explains(tmp_path):
    log = [("a", "b", trip) for trip in (1, 2, 3)] + [("a", "home", 1), ("home", "b", 1), ("b", "c", 1), ("b", "c", 2)]
    columns = {name: list(c) for name, c in zip(("state", "next_state", "trip"), zip(*log, strict=True), strict=True)}
    planner = fwrl.fit({**columns, "time": list(range(len(log)))}).with_min_trips(2)
    planner.save(tmp_path / "p.fwrl")
    again = Planner.load(tmp_path / "p.fwrl")
    again.check()
    assert list(again.states) == ["a", "b", "c"]
    assert [len(step.trips) for step in again.explain("a", "c").steps] == [3, 2]
    assert [route.states for route in again.alternatives("a", "b", 3)] == [("a", "b")]
    assert b"home" not in (tmp_path / "p.fwrl").read_bytes()
    with pytest.raises(fwrl.FwrlError, match="names no trips"):
        fwrl.fit([("a", "b")]).with_min_trips(2)
    with pytest.raises(fwrl.FwrlError, match="name their trip"):
        fwrl.fit([("a", "b")], min_trips=2)
    with pytest.raises(fwrl.FwrlError, match="min_trips as a whole number of at least 1"):
        planner.with_min_trips(0)


def test_visits_of_few_trips_are_left_out_before_and_after_a_merge():
    visits = [(1, 1, "a"), (1, 2, "b"), (1, 3, "c"), (2, 4, "a"), (2, 5, "b")]
    log = {name: list(c) for name, c in zip(("trip", "time", "state"), zip(*visits, strict=True), strict=True)}
    planner = fwrl.fit(log, min_trips=2)
    assert list(planner.states) == ["a", "b"]
    further = {"trip": [1, 2, 1, 2], "time": [10, 11, 12, 13], "state": ["x", "x", "y", "y"]}
    both = planner.merge(fwrl.fit(further, min_trips=2))
    assert [(row["state"], row["next_state"]) for row in both.edges().to_pylist()] == [("a", "b"), ("x", "y")]


def test_cells_of_few_trips_are_left_out_and_workers_do_not_count_trips():
    moves = [(0.5, 0.5, 1.5, 0.5, trip) for trip in (1, 2)] + [(0.5, 0.5, 0.5, 7.5, 1)]
    names = ("x", "y", "next_x", "next_y", "trip")
    log = {name: list(c) for name, c in zip(names, zip(*moves, strict=True), strict=True)}
    options: dict[str, Any] = {"cells": names[:4], "cell_width": 1.0}
    planner = fwrl.fit(log, min_trips=2, **options)
    assert (planner.summary.states, planner.summary.edges, planner.summary.transitions) == (2, 1, 2)
    limited = fwrl.fit(log, **options).with_min_trips(2)
    assert edges_by_name(limited) == edges_by_name(planner)
    assert limited.positions == pytest.approx(planner.positions)
    with pytest.raises(fwrl.FwrlError, match="fit without a cluster"):
        fit_on_cluster("trips.csv", Pool(SerialExecutor(), lambda: 1), min_trips=2)


# --- a time of day


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3 * 1440 - 1)), min_size=1, max_size=60),
    st.integers(0, 1439),
    st.sampled_from((10, 30, 120, 700)),
)
@settings(max_examples=60)
def test_a_time_of_day_is_a_log_filtered_by_hand(rows, minute, around):
    def log(rows):
        time = np.datetime64("2024-03-30T00:00", "us") + np.array([r[2] for r in rows]).astype("timedelta64[m]")
        columns = [np.array([r[k] for r in rows]) for k in (0, 1)]
        return {"state": columns[0], "next_state": columns[1], "trip": np.arange(len(rows)) % 7, "time": time}

    numbered = [(r, k % 7) for k, r in enumerate(rows)]
    kept = [each for each in numbered if (each[0][2] - minute + around) % 1440 < 2 * around]
    options: dict[str, Any] = {"at": f"{minute // 60}:{minute % 60:02}", "around": f"{around}min"}
    if not kept:
        with pytest.raises(fwrl.FwrlError, match="in that period"):
            fwrl.fit(log(rows), **options)
        return
    by_hand = log([row for row, _ in kept])
    by_hand["trip"] = np.array([trip for _, trip in kept])
    found, expected = fwrl.fit(log(rows), **options), fwrl.fit(by_hand)
    assert edges_by_name(found) == edges_by_name(expected)
    assert found.summary.trips == len({trip for _, trip in kept})


def test_hours_are_kept_with_a_planner_and_lost_by_merging_others(tmp_path):
    log = {"state": ["a", "b"], "next_state": ["b", "c"], "time": ["2024-01-01 08:10", "2024-01-01 17:10"]}
    morning, evening = fwrl.fit(log, at="08:30"), fwrl.fit(log, hours="16:45-18")
    morning.save(tmp_path / "m.fwrl")
    assert Planner.load(tmp_path / "m.fwrl").experience.hours == "08:00-09:00"
    assert morning.merge(evening).experience.hours is None
    assert list(evening.states) == ["b", "c"]
    refused: tuple[dict[str, Any], ...] = (
        {"at": "noon"},
        {"at": "24:00"},
        {"at": "8:00", "around": "12h"},
        {"hours": "8-8"},
        {"hours": "8:60-9"},
    )
    for bad in refused:
        with pytest.raises(fwrl.FwrlError, match="expected"):
            fwrl.fit(log, **bad)
    with pytest.raises(fwrl.FwrlError, match="leave one out"):
        fwrl.fit(log, at="8:00", hours="7-9")
    with pytest.raises(fwrl.FwrlError, match="needs a time of day"):
        fwrl.fit(log, around="1h")


# --- the command line

TRIPS = """trip,time,state
1,2024-01-01 08:00,dock
1,2024-01-01 08:01,aisle
1,2024-01-01 08:03,shelf-1
2,2024-01-01 08:40,dock
2,2024-01-01 08:42,aisle
2,2024-01-01 08:43,shelf-2
3,2024-01-01 14:00,dock
3,2024-01-01 14:10,aisle
3,2024-01-01 14:11,shelf-1
"""


@pytest.fixture
def fitted(call, tmp_path):
    (tmp_path / "trips.csv").write_text(TRIPS)
    assert call("fit", "trips.csv", "--cost", "elapsed", "-o", "t.fwrl").code == 0


def test_commands_answer_in_text_and_in_json(call, fitted, tmp_path):
    (tmp_path / "goals.txt").write_text("shelf-1\n\nshelf-2\n")
    assert call("matrix", "t.fwrl", "--from", "dock", "--from", "shelf-1", "--to", "shelf-*").out.splitlines() == [
        "         shelf-1  shelf-2",
        "dock         350      320",
        "shelf-1        0        -",
    ]
    found = json.loads(call("matrix", "t.fwrl", "--from", "dock", "--to", "@goals.txt", "--json").out)
    assert found == {"starts": ["dock"], "goals": ["shelf-1", "shelf-2"], "cost": [[350, 320]], "arrival": [[1, 1]]}
    assert call("reachable", "t.fwrl", "dock", 330).out.splitlines()[-1] == "3 places"
    assert [each["state"] for each in json.loads(call("within", "t.fwrl", "shelf-1", 90, "--json").out)] == [
        "shelf-1",
        "aisle",
    ]
    assert (
        call("within", "t.fwrl", "shelf-1", 400, "--limit", 1).out.splitlines()[-1] == "3 places; 2 more, see --limit"
    )
    said = call("quantiles", "t.fwrl", "dock", "shelf-1", "--log", "trips.csv", "--cost", "elapsed").out
    assert said.splitlines() == [
        "dock to shelf-1: expected cost 350",
        "share of trips  cost at most",
        "50%                      180",
        "90%                      720",
        "99%                      720",
        "exact; each step at its observed costs",
    ]
    found = json.loads(call("quantiles", "t.fwrl", "dock", "shelf-1", "-q", 0.9, "--json").out)
    assert found["quantiles"] == [{"probability": 0.9, "cost": 350.0, "low": 350.0, "high": 350.0}]


def test_commands_refuse_in_one_sentence(call, fitted):
    for arguments, said in (
        (("matrix", "t.fwrl", "--from", "dok", "--to", "shelf-1"), "did you mean 'dock'"),
        (("matrix", "t.fwrl", "--from", "x*", "--to", "shelf-1"), "no state matches 'x*'"),
        (("matrix", "t.fwrl", "--from", "@none.txt", "--to", "shelf-1"), "no such file"),
        (("matrix", "t.fwrl", "--from", "dock", "--to", "aisle", "--backup", "worst"), "expected backup"),
        (("reachable", "t.fwrl", "dok", 1), "did you mean 'dock'"),
        (("within", "t.fwrl", "shelf-3", 1), "did you mean"),
        (("quantiles", "t.fwrl", "dock", "shelf-1", "-q", 2), "between 0 and 1"),
        (("quantiles", "t.fwrl", "dock", "shelf-1", "--cost", "elapsed"), "--cost needs --log"),
        (("plan", "t.fwrl", "dock", "shelf-1", "--at", "08:30"), "fwrl fit LOG --at 08:30"),
        (("plan", "t.fwrl", "dock", "shelf-1", "--min-trips", 4), "--min-trips 4"),
        (("plan", "t.fwrl", "dock", "shelf-2", "--min-trips", 2), "unknown state 'shelf-2'"),
        (("fit", "trips.csv", "-o", "x.fwrl", "--min-trips", 4), "no step was made by 4"),
    ):
        answer = call(*arguments)
        assert answer.code == 2, answer
        assert said in answer.err
        assert answer.err.count("\n") == 1


def test_a_plan_for_a_time_of_day_says_on_how_many_trips_it_rests(call, fitted):
    said = call("fit", "trips.csv", "--cost", "elapsed", "--at", "08:30", "-o", "morning.fwrl").out
    assert said.splitlines()[0] == "based on 2 trips logged at 08:00-09:00"
    for command in ("plan", "explain"):
        answer = call(command, "morning.fwrl", "dock", "shelf-1", "--at", "8:45")
        assert answer.out.splitlines()[-1] == "based on 2 trips logged at 08:00-09:00"
        assert "cost 210" in answer.out
        assert "only covers 08:00-09:00" in call(command, "morning.fwrl", "dock", "aisle", "--at", "9:00").err
    assert "cost 350" in call("plan", "t.fwrl", "dock", "shelf-1").out
    again = ("--log", "trips.csv", "--cost", "elapsed", "-q", 0.99, "--json")
    found = json.loads(call("quantiles", "morning.fwrl", "dock", "shelf-1", *again).out)
    assert found["quantiles"][0]["cost"] == 240  # the slow trip at 14:00 is not among them


def test_states_of_few_trips_are_not_listed(call, fitted):
    assert "shelf-2" not in call("states", "t.fwrl", "--min-trips", 2).out
    assert "shelf-2" in call("states", "t.fwrl").out
