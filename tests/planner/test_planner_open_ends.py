"""Where tries ended with the log, the answer is a range: those tries as failures, and without them."""

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fwrl

# 2 of 19 tries reached the goal; 17 ended in states that the log never leaves.
AUDITED = [("a", "go", -1.0, "goal")] * 2 + [("a", "go", -1.0, f"end {k}") for k in range(17)]


def test_two_of_nineteen_is_not_certain():
    planner = fwrl.fit(AUDITED)
    route = planner.plan("a", "goal")
    assert planner.arrival("a", "goal") == route.arrival == 1.0
    assert planner.arrival_bounds("a", "goal") == route.arrival_bounds == pytest.approx((2 / 19, 1.0))
    assert planner.arrival("a", "goal", dead_ends=[f"end {k}" for k in range(17)]) == pytest.approx(2 / 19)
    assert route.to_dict()["arrival_bounds"] == pytest.approx([2 / 19, 1.0])
    assert route.least_followed == route.steps[0]
    assert "0.105 to 1" in route._repr_html_()


def test_the_commands_say_the_range(call, tmp_path):
    fwrl.fit(AUDITED).save(tmp_path / "p.fwrl")
    for command in ("plan", "explain"):
        code, out, _ = call(command, "p.fwrl", "a", "goal")
        assert code == 0
        assert "arrives 11 % to 100 % of the time (the log ends during some tries" in out
        assert "which the plan ignores (up to 89 % for a by go)" in out
        said = json.loads(call(command, "p.fwrl", "a", "goal", "--json").out)
        assert said["arrival_bounds"] == pytest.approx([2 / 19, 1.0])
        assert said["unknown"] == pytest.approx(17 / 19)


def test_a_range_from_nearly_certain_to_certain_is_one_number(call, tmp_path):
    fwrl.fit([*[("a", "go", -1.0, "goal")] * 299, ("a", "go", -1.0, "end")]).save(tmp_path / "p.fwrl")
    out = call("plan", "p.fwrl", "a", "goal").out
    assert "arrives over 99 % of the time (tries during which the log ends count as failures)" in out
    assert "which the plan ignores (under 1 % for a by go)" in out


@pytest.mark.parametrize(("back", "on", "lost"), [(3, 1, 1), (0, 5, 2), (40, 1, 3)])
def test_tries_that_are_repeated_compound(back, on, lost):
    tries = [("b", "go", -1.0, "b")] * back + [("b", "go", -1.0, "goal")] * on + [("b", "go", -1.0, "end")] * lost
    planner = fwrl.fit([*tries, ("a", "go", -1.0, "b"), ("a", "go", -1.0, "end")])
    assert planner.arrival_bounds("b", "goal") == pytest.approx((on / (on + lost), 1.0))
    assert planner.arrival_bounds("a", "goal") == pytest.approx((on / (on + lost) / 2, 1.0))


def test_the_range_is_that_of_the_plan_not_of_a_plan_that_goes_around():
    around = [("a", "around", -50.0, "goal")]
    planner = fwrl.fit([("a", "go", -1.0, "goal")] * 3 + [("a", "go", -1.0, "end"), *around])
    assert planner.plan("a", "goal").steps[0].action == "go"
    assert planner.arrival_bounds("a", "goal") == (0.75, 1.0)
    assert planner.plan("a", "goal", dead_ends=["end"]).arrival_bounds == (1.0, 1.0)


def test_traps_lower_both_and_legs_multiply():
    log = [("a", "go", -1.0, n) for n in ("b", "pit", "end")] + [("b", "go", -1.0, n) for n in ("c", "c", "end", "end")]
    planner = fwrl.fit([*log, ("pit", "stay", -1.0, "pit")])
    assert planner.arrival_bounds("a", "b") == pytest.approx((1 / 3, 1 / 2))
    assert planner.plan("a", "c", via=["b"]).arrival_bounds == pytest.approx((1 / 6, 1 / 2))
    assert planner.plan("a", "b", give_up=10.0).arrival_bounds == pytest.approx((1 / 3, 1 / 2))
    low, high = planner.arrival_bounds("a", "b", cautious=0.9)
    assert 0 < low < high < 1 / 2


def test_without_open_ends_both_are_the_same():
    ring = [("a", "go", -1.0, "b"), ("a", "go", -1.0, "a"), ("b", "go", -1.0, "a")]
    assert fwrl.fit(ring).arrival_bounds("a", "b") == (1.0, 1.0)
    assert fwrl.fit([("a", "b"), ("b", "c")]).arrival_bounds("a", "c") == (1.0, 1.0)
    assert fwrl.fit(AUDITED).arrival_bounds("a", "goal", backup="best") == (1.0, 1.0)
    assert fwrl.fit(AUDITED).arrival_bounds("end 1", "goal") == (0.0, 0.0)


STEPS = st.lists(
    st.tuples(
        st.sampled_from("abcd"), st.sampled_from("xy"), st.sampled_from([-1.0, -3.0]), st.sampled_from("abcdefgh")
    ),
    min_size=1,
    max_size=40,
)


def chance(steps, planner, goal):
    """Of each state, the chance that the planner's policy is absorbed in the goal, on the raw counts."""
    policy, states = planner.policy(goal), sorted({s for s, *_ in steps} | {n for *_, n in steps})
    chosen = {s: policy.predict(s)[0] for s in states}
    chain = nx.DiGraph()
    chain.add_nodes_from(states)
    for s, a, _, n in steps:
        if chosen[s] == a and s != goal:
            chain.add_edge(s, n, times=chain.get_edge_data(s, n, {"times": 0})["times"] + 1)
    arriving = sorted(nx.ancestors(chain, goal))
    place = {s: k for k, s in enumerate(arriving)}
    matrix, direct = np.eye(len(arriving)), np.zeros(len(arriving))
    for s in arriving:
        total = chain.out_degree(s, weight="times")
        for _, n, times in chain.out_edges(s, data="times"):
            if n == goal:
                direct[place[s]] = times / total
            elif n in place:
                matrix[place[s], place[n]] -= times / total
    return dict.fromkeys(states, 0.0) | dict(zip(arriving, np.linalg.solve(matrix, direct), strict=True)) | {goal: 1.0}


@given(STEPS)
@settings(max_examples=150, deadline=None)
def test_the_lower_number_is_the_absorption_probability_of_the_policys_chain(steps):
    planner = fwrl.fit(steps, connections=False)
    left = {s for s, *_ in steps}
    ends = sorted({n for *_, n in steps} - left)
    for goal in sorted({n for *_, n in steps}):
        truth = chance(steps, planner, goal)
        for state, expected in truth.items():
            low, high = planner.arrival_bounds(state, goal)
            assert high == planner.arrival(state, goal)
            assert low == pytest.approx(expected, abs=1e-9)
            assert low <= high
            assert low <= planner.arrival(state, goal, dead_ends=ends) + 1e-9


def test_the_lower_number_is_how_often_a_simulated_plan_arrives():
    rng = np.random.default_rng(0)
    drawn = [("abc"[rng.integers(3)], "xy"[rng.integers(2)], -1.0, "abcgz"[rng.integers(5)]) for _ in range(200)]
    planner = fwrl.fit(drawn, connections=False)
    policy, runs, arrived = planner.policy("g"), 4_000, 0
    outcomes = {s: [n for x, a, _, n in drawn if (x, a) == (s, policy.predict(s)[0])] for s in "abc"}
    for _ in range(runs):
        state = "a"
        while state in outcomes:
            state = outcomes[state][rng.integers(len(outcomes[state]))]
        arrived += state == "g"
    low, high = planner.arrival_bounds("a", "g")
    assert high == 1.0
    assert abs(arrived / runs - low) < 4 * 0.5 / runs**0.5
