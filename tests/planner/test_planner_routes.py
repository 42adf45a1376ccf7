"""Routes equal those of networkx, and the exact optimum of the empirical model."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fwrl
from fwrl.errors import OptionError, PositiveCycleError, UnknownNameError
from fwrl.oracle import optimum
from fwrl.planner import NoRouteError, Planner, alternatives
from fwrl.planner.policy import Conditions, GoalPolicies
from fwrl.worlds import from_outcomes

REWARDS = st.one_of(st.sampled_from([0.0, -1.0, -0.1, -0.2, -0.3, -1e3]), st.floats(-5, 0))


@st.composite
def logs(draw, rewards=REWARDS):
    """Transitions with parallel edges (actions), self-loops, steps that cost nothing."""
    S = draw(st.integers(2, 8))
    state = st.integers(0, S - 1)
    return draw(st.lists(st.tuples(state, st.sampled_from("ab"), rewards, state), min_size=1, max_size=40))


def best_graph(steps, potential=None):
    """The best reward of each pair of states as a cost, loops left out."""
    graph = nx.DiGraph()
    graph.add_nodes_from({s for s, *_ in steps} | {n for *_, n in steps})
    for s, _, r, n in steps:
        if s != n and (not graph.has_edge(s, n) or graph[s][n]["cost"] > -r):
            graph.add_edge(s, n, cost=-r)
    return graph


def assert_best_routes(planner, graph):
    costs = nx.floyd_warshall(graph, weight="cost")  # networkx's Bellman-Ford may miss states behind costs of 1e-44
    for s, g in itertools.product(graph, graph):
        if not nx.has_path(graph, s, g):
            with pytest.raises(NoRouteError) as error:
                planner.plan(s, g, backup="best")
            assert error.value.reached == len(nx.descendants(graph, s))
            assert error.value.reaching == len(nx.ancestors(graph, g))
            continue
        route = planner.plan(s, g, backup="best")
        assert route.reward == pytest.approx(-costs[s][g], rel=1e-9, abs=1e-9)
        assert planner.value(s, g, "best") == pytest.approx(-costs[s][g], rel=1e-9, abs=1e-9)
        assert (route.states[0], route.states[-1]) == (s, g)
        assert len(set(route.states)) == len(route.states)


@given(logs())
@example(
    [(0, "a", 0.0, 2), (1, "a", -1.9772343758727666e-44, 2), (2, "a", -1.0, 3), (3, "a", 0.0, 4), (1, "a", 0.0, 0)]
)
@settings(max_examples=60)
def test_routes_by_best_rewards_are_networkxs(steps):
    assert_best_routes(fwrl.fit(steps, connections=False), best_graph(steps))


@given(logs(st.floats(-3, 0)), st.lists(st.floats(-4, 4), min_size=8, max_size=8))
@example([(0, "a", 0.0, 1), (1, "a", 0.0, 0), (2, "a", 0.0, 1)], [1.0, 2.2250738585e-313, *[0.0] * 6])
@settings(max_examples=40)
def test_rewards_of_either_sign_without_a_positive_cycle(steps, height):
    tilted = [(s, a, r + height[s] - height[n], n) for s, a, r, n in steps]
    assert_best_routes(fwrl.fit(tilted, connections=False), best_graph(tilted))


@given(logs(st.floats(-5, -0.01)), st.integers(2, 6), st.data())
@settings(max_examples=40)
def test_alternatives_are_the_shortest_simple_paths(steps, k, data):
    graph, planner = best_graph(steps), fwrl.fit(steps, connections=False)
    s, g = data.draw(st.permutations(sorted(graph)).map(lambda p: (p[0], p[-1])))
    if s == g or not nx.has_path(graph, s, g):
        return
    paths = itertools.islice(nx.shortest_simple_paths(graph, s, g, weight="cost"), k)
    costs = [nx.path_weight(graph, path, "cost") for path in paths]
    routes = planner.alternatives(s, g, k)
    assert [-route.reward for route in routes] == pytest.approx(costs, rel=1e-9)
    assert len({route.states for route in routes}) == len(routes)
    assert all(len(set(route.states)) == len(route.states) for route in routes)


def counted(steps):
    """The empirical model as a world: frequencies and mean rewards; untried actions stay put."""
    names = sorted({s for s, *_ in steps} | {n for *_, n in steps})
    place = {name: k for k, name in enumerate(names)}
    actions = sorted({a for _, a, *_ in steps})
    table: dict[tuple[object, object], dict[object, list[float]]] = {}
    for s, a, r, n in steps:
        table.setdefault((s, a), {}).setdefault(n, []).append(r)
    outcomes = []
    for s in names:
        rows = []
        for a in actions:
            seen = table.get((s, a), {s: [-1.0]})
            total = sum(map(len, seen.values()))
            rows.append([(len(rs) / total, place[n], float(np.mean(rs))) for n, rs in seen.items()])
        outcomes.append(rows)
    return names, from_outcomes("counted", outcomes)


@given(logs(st.sampled_from([0.0, -1.0, -0.25, -3.0])))
@settings(max_examples=80)
def test_expected_values_and_arrivals_are_the_optimum_of_the_counts(steps):
    planner = fwrl.fit(steps, connections=False)
    names, world = counted(steps)
    for goal, name in enumerate(names):
        truth = optimum(world, goal)
        left = {s for s, *_ in steps}
        ends = [s for s in names if s not in left]  # the oracle takes them for traps
        values = [planner.value(s, name, dead_ends=ends) for s in names]
        arrivals = [planner.arrival(s, name, dead_ends=ends) for s in names]
        np.testing.assert_allclose(arrivals, truth.arrival, atol=1e-7)
        np.testing.assert_allclose(values, truth.value, rtol=1e-6, atol=1e-6)


@given(logs(st.sampled_from([-1.0, -0.25, -3.0])))
@settings(max_examples=40)
def test_an_uncertain_route_ends_and_its_chances_are_the_observed_ones(steps):
    planner = fwrl.fit(steps, connections=False)
    names, _ = counted(steps)
    for s, g in itertools.product(names, names):
        if planner.arrival(s, g) == 0:
            continue
        route = planner.plan(s, g)
        assert (route.states[0], route.states[-1]) == (s, g)
        assert len(set(route.states)) == len(route.states)
        for step in route.steps:
            tried = [n for x, a, _, n in steps if (x, a) == (step.state, step.action)]
            assert step.probability == pytest.approx(tried.count(step.next_state) / len(tried))
            assert step.seen == tried.count(step.next_state)
        known = math.prod(1 - step.unknown for step in route.steps)
        assert route.probability / known <= route.arrival * (1 + 1e-9)
        assert route.value == pytest.approx(planner.value(s, g))


def test_a_slippery_step_is_worth_its_number_of_tries():
    planner = fwrl.fit([("a", "go", -1.0, "a")] * 3 + [("a", "go", -1.0, "b")])
    route = planner.plan("a", "b")
    assert route.value == pytest.approx(-4.0)
    assert (route.probability, route.arrival, route.reward) == (0.25, 1.0, -1.0)
    assert planner.plan("a", "b", backup="best").value == -1.0


def test_the_fewest_steps_are_taken_among_ways_that_tie():
    planner = fwrl.fit([("a", "x", -0.1, "b"), ("b", "x", -0.2, "c"), ("a", "y", -0.3, "c")])
    assert planner.plan("a", "c").states == ("a", "c")


CITY = [("a", "b"), ("b", "c"), ("a", "d"), ("d", "e"), ("e", "c"), ("c", "a")]


def test_a_state_to_avoid_is_not_passed():
    planner = fwrl.fit(CITY)
    assert planner.plan("a", "c").states == ("a", "b", "c")
    assert planner.plan("a", "c", avoid=["b"]).states == ("a", "d", "e", "c")
    with pytest.raises(
        NoRouteError, match=r"no route from 'a' to 'c' without 'b', 'e': 'a' reaches 1 of 5 states, 0 reach 'c'"
    ):
        planner.plan("a", "c", avoid=["b", "e"])
    with pytest.raises(OptionError, match="'c' is both"):
        planner.plan("a", "c", avoid=["c"])
    for avoid in (["b"], iter(["b"])):
        assert [r.states for r in planner.alternatives("a", "c", 5, avoid=avoid)] == [("a", "d", "e", "c")]


@pytest.mark.parametrize("backup", ["expected", "best"])
def test_the_memory_of_a_policy_is_that_of_all_its_arrays(backup):
    slips = fwrl.fit([("a", "go", -1.0, "b"), ("a", "go", -1.0, "pit"), ("pit", "climb", -9.0, "a")])
    policy = GoalPolicies(slips.experience, 0).policy(slips.states.find("b"), Conditions(backup))
    assert (policy.unknown is not None) == (backup == "expected")
    assert policy.nbytes == sum(part.nbytes for part in policy if isinstance(part, np.ndarray))


def test_an_outcome_to_avoid_counts_as_lost():
    slips = [("a", "go", -1.0, "b"), ("a", "go", -1.0, "pit"), ("pit", "climb", -9.0, "a"), ("a", "walk", -50.0, "b")]
    planner = fwrl.fit(slips)
    assert planner.value("a", "b") == pytest.approx(-11.0)  # on average one slip, that is -1 - 9 - 1
    assert planner.plan("a", "b", avoid=["pit"]).steps[0].action == "walk"
    assert planner.plan("a", "b", avoid=["pit"]).arrival == 1.0


def test_a_state_to_pass_is_passed():
    route = fwrl.fit(CITY).plan("a", "c", via=["d", "a"])
    assert route.states == ("a", "d", "e", "c", "a", "b", "c")
    assert route.value == route.reward == -6.0


def test_a_policy_answers_in_stable_baselines3s_way():
    policy = fwrl.fit([(0, "l", -1.0, 1), (1, "r", -1.0, 2)]).policy(2)
    assert policy.predict(0) == ("l", None)
    assert policy.predict(np.array([0, 1, 2])) == (["l", "r", None], None)
    assert policy.predict({"observation": np.int64(1)}) == ("r", None)


def test_unknown_names_get_close_matches():
    planner = fwrl.fit([("dock-1", "shelf-17"), ("shelf-17", "dock-2")])
    with pytest.raises(UnknownNameError, match="'dock1' among 3; did you mean 'dock-1'"):
        planner.plan("dock1", "shelf-17")
    with pytest.raises(UnknownNameError, match="did you mean 'shelf-17'"):
        planner.plan("dock-1", "Shelf-17")
    with pytest.raises(UnknownNameError, match=r"no known name is similar; planner\.states has all names"):
        planner.plan("dock-1", "qqqqqqq")


@pytest.mark.parametrize(
    "name", ["\udcff", "1_0", " 10", "+10", "010", "None", 1.5, float("inf"), float("nan"), 10**30]
)
def test_what_no_state_is_called_is_unknown(name):
    for planner in (fwrl.fit([(10, 2), (2, 3)]), fwrl.fit([("10", "b"), ("b", "c")])):
        with pytest.raises(UnknownNameError, match="unknown state"):
            planner.plan(name, planner.states[0])


@pytest.mark.parametrize("name", [10, "10", 10.0, np.int64(10), np.float32(10), np.array(10)])
def test_an_integer_is_found_however_it_is_written(name):
    assert fwrl.fit([(10, 2), (2, 3)]).plan(name, 3).states == (10, 2, 3)


def test_alternatives_are_looked_for_once_from_every_state_of_a_way(monkeypatch):
    looked = []
    shortest = alternatives.PathSearch.shortest

    def recorded(search, start, *given):
        looked.append(start)
        return shortest(search, start, *given)

    monkeypatch.setattr(alternatives.PathSearch, "shortest", recorded)
    chain = [(k, "x", -1.0, k + 1) for k in range(30)]
    detours = [(k, "y", k - 32.0, 100 + k) for k in range(30)] + [(100 + k, "y", -1.0, k + 1) for k in range(30)]
    planner = fwrl.fit(chain + detours, connections=False)
    assert [-route.reward for route in planner.alternatives(0, 30, 4)] == [30.0, 33.0, 34.0, 35.0]
    # From the start, from the 30 states of the best path, then only after the branches of further paths, at 29 and 28.
    assert len(looked) == 1 + 30 + 2 + 3


def test_a_positive_cycle_is_named():
    with pytest.raises(PositiveCycleError, match=r"positive cycle, (a -> b -> a|b -> a -> b): its mean rewards sum"):
        fwrl.fit([("a", "x", 2.0, "b"), ("b", "x", -1.0, "a"), ("b", "x", -1.0, "a")])


def test_a_lucky_reward_stands_in_the_way_of_best_only():
    planner = fwrl.fit([("a", "x", 2.0, "b"), ("a", "x", -3.0, "b"), ("b", "x", -1.0, "a")])
    assert planner.value("a", "b") == -0.5
    with pytest.raises(PositiveCycleError, match=r"positive cycle, (a -> b -> a|b -> a -> b): its best rewards sum"):
        planner.plan("a", "b", backup="best")


def test_a_positive_cycle_of_uncertain_steps_is_named_when_it_matters():
    slips = [
        ("a", "x", 3.0, "b"),
        ("a", "x", 3.0, "c"),
        ("b", "x", -1.0, "a"),
        ("c", "x", -1.0, "a"),
        ("a", "y", 0.0, "d"),
    ]
    with pytest.raises(PositiveCycleError, match="its mean rewards"):
        fwrl.fit(slips).plan("a", "d")


def test_a_goal_that_hangs_on_one_outcome_in_billions_has_its_expected_cost():
    seen = fwrl.fit([("a", "x", -1.0, "b"), ("b", "x", -1.0, "a"), ("b", "x", -1.0, "c")]).experience
    count = np.array([1, 2**31, 1])
    planner = Planner(replace(seen, count=count, total=-1.0 * count))
    # From b, 2^31 + 1 tries on average, and from a as many steps in between.
    assert planner.value("b", "c") == pytest.approx(-(2**32 + 1), rel=1e-12)
    assert planner.value("a", "c") == pytest.approx(-(2**32 + 2), rel=1e-12)
    assert planner.plan("a", "c").arrival == 1.0
    assert planner.plan("a", "c", backup="best").reward == -2.0


@pytest.mark.parametrize("n", [3, 300, 1000])
def test_a_random_walk_has_the_value_of_the_closed_form(n):
    steps = [(s, "x", -1.0, t) for s in range(n) for t in (max(s - 1, 0), s + 1)]
    planner = fwrl.fit(steps, connections=False)
    assert planner.value(0, n) == pytest.approx(-n * (n + 1), rel=1e-9)
    assert planner.arrival(0, n) == pytest.approx(1.0, abs=1e-12)


def shortcut(tail):
    """A step seen 9,999 times into the goal and once into a tail where the log ends; and a detour of 501 steps."""
    ends = ["tail 0", *(f"tail {k}" for k in range(1, tail))]
    onward = [(a, "on", -1.0, b) for a, b in itertools.pairwise(ends)]
    detour = [f"d{k}" for k in range(500)]
    around = [(a, "around", -1.0, b) for a, b in itertools.pairwise(["a", *detour, "goal"])]
    return [("a", "go", -1.0, "goal")] * 9_999 + [("a", "go", -1.0, "tail 0"), *onward, *around]


@pytest.mark.parametrize("tail", [1, 2, 50])
def test_where_a_log_ends_is_no_trap(tail):
    planner = fwrl.fit(shortcut(tail), connections=False)
    route = planner.plan("a", "goal")
    assert [step.action for step in route.steps] == ["go"]
    assert (route.arrival, route.value) == (1.0, -1.0)
    assert route.steps[0].unknown == pytest.approx(1e-4)
    declared = planner.plan("a", "goal", dead_ends=[f"tail {tail - 1}"])
    assert len(declared.steps) == 501
    assert declared.arrival == 1.0


def test_the_goal_counts_though_all_trips_end_there():
    planner = fwrl.fit([("a", "go", -1.0, "b"), ("a", "go", -1.0, "c"), ("b", "go", -1.0, "goal")])
    assert planner.arrival("a", "goal") == 1.0  # c, where the log ends, is unknown
    assert planner.arrival("a", "goal", dead_ends=["c"]) == 0.5
    assert planner.arrival("a", "goal", dead_ends=["c", "goal"]) == 0.5
    assert planner.plan("a", "c").arrival == 1.0  # as a goal it counts; b reaches only goal, where the log ends


def test_a_trap_that_is_seen_to_lead_nowhere_counts():
    steps = [("a", "go", -1.0, "goal"), ("a", "go", -1.0, "pit"), ("pit", "stay", -1.0, "pit")]
    assert fwrl.fit(steps).arrival("a", "goal") == 0.5


def test_giving_up_trades_the_chance_of_arriving_against_reward():
    risky = [("a", "risky", -1.0, "goal")] * 9 + [("a", "risky", -1.0, "pit")]
    safe = [("a", "safe", -100.0, "goal"), ("pit", "stay", -1.0, "pit")]
    planner = fwrl.fit([*risky, *safe])
    assert planner.plan("a", "goal").steps[0].action == "safe"
    route = planner.plan("a", "goal", give_up=50.0)
    assert route.steps[0].action == "risky"
    assert route.arrival == pytest.approx(0.9)
    assert route.value == pytest.approx(-1.0 - 0.1 * 50.0)
    assert planner.plan("a", "goal", give_up=5_000.0).steps[0].action == "safe"
    with pytest.raises(OptionError, match=r"giving up now, for 0\.5, is better than any route from 'a' to 'goal'"):
        planner.plan("a", "goal", give_up=0.5)
    with pytest.raises(NoRouteError):
        planner.plan("pit", "goal", give_up=0.5)
    assert planner.value("a", "goal", give_up=0.5) == -0.5
    for wrong in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(OptionError, match="positive cost"):
            planner.value("a", "goal", give_up=wrong)
    with pytest.raises(OptionError, match="needs backup 'expected'"):
        planner.plan("a", "goal", backup="best", give_up=1.0)


def test_with_stops_and_giving_up_a_leg_counts_only_if_it_is_begun():
    # Every step arrives half of the time and is lost otherwise, so that -51 is what each leg of one step is worth.
    steps = [(here, "x", -1.0, there) for here, on in zip("abc", "bcd", strict=True) for there in (on, "t")]
    planner = fwrl.fit([*steps, ("t", "x", -1.0, "t")])
    direct, stopped = planner.plan("a", "d", give_up=100), planner.plan("a", "d", give_up=100, via=["b", "c"])
    assert direct.value == stopped.value == -51 - 51 / 2 - 51 / 4
    assert (stopped.arrival, stopped.states) == (direct.arrival, direct.states)
    assert planner.plan("a", "d", via=["b", "c"]).value == planner.plan("a", "d").value == -3  # given arrival
    legs = [planner.value(here, there, give_up=100, cautious=0.9) for here, there in zip("abc", "bcd", strict=True)]
    cautious = planner.plan("a", "d", give_up=100, cautious=0.9, via=["b", "c"])
    assert cautious.value == pytest.approx(sum(legs))  # a lower bound: the arrival of a leg may be up to 1
    assert cautious.value < stopped.value


def test_the_weakest_step_is_the_one_seen_least():
    route = fwrl.fit([("a", "b"), ("a", "b"), ("b", "c"), ("c", "d"), ("c", "d")]).plan("a", "d")
    assert route.weakest is not None
    assert (route.weakest.state, route.weakest.seen) == ("b", 1)
    assert fwrl.fit([("a", "b")]).plan("a", "a").weakest is None


def test_wrong_options_are_refused():
    planner = fwrl.fit(CITY)
    with pytest.raises(OptionError, match="backup"):
        planner.plan("a", "c", backup="worst")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="alternatives need backup 'best'"):
        planner.alternatives("a", "c", 2, backup="expected")
    with pytest.raises(OptionError, match="at least 1"):
        planner.alternatives("a", "c", 0)


def test_goal_policies_are_kept_within_the_memory_given():
    planner = Planner(fwrl.fit(CITY).experience, memory=150)
    for goal in "abcdeabc":
        assert planner.plan("a", goal).states[-1] == goal
    assert len(planner._policies.kept) == 2


@pytest.mark.parametrize("weighted", [False, True])
def test_tries_of_actions_are_sums_over_all_their_outcomes(weighted):
    rng, n = np.random.default_rng(0), 500
    log = {"state": rng.integers(0, 12, n), "action": rng.integers(0, 3, n), "next_state": rng.integers(0, 12, n)}
    experience = fwrl.fit(log | ({"count": rng.integers(1, 9, n)} if weighted else {}), connections=False).experience
    edges, marked = rng.integers(0, len(experience.source), 80), rng.random(12) < 0.3
    tries, some = experience.tries(edges), experience.tries(edges, marked)
    assert experience.action is not None
    for k, e in enumerate(edges.tolist()):
        same = (experience.source == experience.source[e]) & (experience.action == experience.action[e])
        assert tries[k] == experience.times[same].sum()
        assert some[k] == experience.times[same & marked[experience.target]].sum()
