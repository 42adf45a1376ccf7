from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_reference import brute_force, dense, worlds

from fwrl.errors import FwrlError, PositiveCycleError
from fwrl.oracle import evaluate, optimum
from fwrl.worlds import World, from_outcomes, load_world

CLOSE: Any = {"rtol": 1e-8, "atol": 1e-8}


def reversed_graph(world: World, goal: int) -> nx.MultiDiGraph:
    """Costs from the goal backwards; what leaves the goal is left out: it is absorbing."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(world.n_states))
    for s in set(range(world.n_states)) - {goal}:
        for a in range(world.n_actions):
            for _, t, reward in world.outcomes(s, a):
                graph.add_edge(t, s, weight=-reward)
    return graph


@settings(max_examples=150)
@given(worlds(), st.data())
def test_optimum_is_the_best_of_all_deterministic_policies(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    best = optimum(world, goal)
    p, v = brute_force(world, goal)
    np.testing.assert_allclose(best.arrival, p, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(best.value, v, **CLOSE)


@settings(max_examples=150)
@given(worlds(), st.data())
def test_the_optimal_policy_arrives_as_surely_and_earns_as_much_as_promised(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    best = optimum(world, goal)
    followed = evaluate(world, best.policy, goal)
    np.testing.assert_allclose(followed.arrival, best.arrival, rtol=1e-8)
    np.testing.assert_allclose(followed.value, best.value, **CLOSE)


@settings(max_examples=150)
@given(worlds(), st.data())
def test_action_values_are_one_step_of_the_definition(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    best = optimum(world, goal)
    P, paid = dense(world)
    arrival = P @ best.arrival
    np.testing.assert_allclose(best.action_arrival, arrival, rtol=1e-12)
    finite = np.where(best.arrival > 0, best.value, 0)
    total = paid @ best.arrival + P @ (best.arrival * finite)
    expected = np.full_like(total, -np.inf)
    np.divide(total, arrival, out=expected, where=arrival > 0)
    np.testing.assert_allclose(best.action_value, expected, **CLOSE)


@settings(max_examples=150)
@given(worlds(max_outcomes=1), st.data())
def test_without_chance_the_optimum_is_the_shortest_path_of_networkx(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    lengths = nx.single_source_bellman_ford_path_length(reversed_graph(world, goal), goal)
    best = optimum(world, goal)
    expected = [-lengths.get(s, np.inf) for s in range(world.n_states)]
    np.testing.assert_allclose(best.value, expected, **CLOSE)
    np.testing.assert_array_equal(best.arrival, np.isfinite(expected))


@settings(max_examples=200)
@given(
    st.integers(1, 6).flatmap(
        lambda S: st.lists(
            st.lists(
                st.tuples(st.just(1.0), st.integers(0, S - 1), st.integers(-4, 1)).map(lambda o: [o]),
                min_size=2,
                max_size=2,
            ),
            min_size=S,
            max_size=S,
        )
    ),
    st.data(),
)
def test_a_cycle_that_profits_on_the_way_is_refused_and_no_other(outcomes, data):
    world = from_outcomes("drawn", outcomes)
    goal = data.draw(st.integers(0, world.n_states - 1))
    graph = reversed_graph(world, goal)
    on_the_way = graph.subgraph(nx.descendants(graph, goal) | {goal}).copy()
    if nx.negative_edge_cycle(on_the_way):
        with pytest.raises(PositiveCycleError, match="positive cycle"):
            optimum(world, goal)
    else:
        lengths = nx.single_source_bellman_ford_path_length(on_the_way, goal)
        expected = [-lengths.get(s, np.inf) for s in range(world.n_states)]
        np.testing.assert_allclose(optimum(world, goal).value, expected, **CLOSE)


@settings(max_examples=100)
@given(worlds(slopes=False, costs=(-1.0, -2.0)), st.data())
def test_where_every_step_costs_the_policy_is_the_lowest_best_action(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    best = optimum(world, goal)
    p, v = brute_force(world, goal)
    for s in np.flatnonzero((p > 0) & (np.arange(world.n_states) != goal)):
        as_sure = best.action_arrival[s] >= p[s] * (1 - 1e-9)
        as_good = best.action_value[s] >= v[s] - 1e-9 * max(1e-3, abs(v[s]))
        assert best.policy[s] == np.flatnonzero(as_sure & as_good)[0]


@pytest.mark.parametrize("q", [0.9, 0.5, 1 / 3, 1e-3, 1e-9])
def test_retrying_until_success_costs_one_over_its_probability(q):
    retry = from_outcomes("retry", [[[(1 - q, 0, -1), (q, 1, -1)]], [[(1, 1, 0)]]])
    best = optimum(retry, 1)
    assert best.arrival.tolist() == [1, 1]
    assert best.value[0] == pytest.approx(-1 / q, rel=1e-6)


def test_arriving_surely_comes_before_earning_more():
    # Action 0 pays nothing but drowns half of the time; action 1 is dear and safe.
    ledge = from_outcomes(
        "ledge",
        [
            [[(0.5, 1, 0), (0.5, 2, 0)], [(1, 1, -100)]],
            [[(1, 1, 0)]] * 2,
            [[(1, 2, 0)]] * 2,
        ],
    )
    best = optimum(ledge, 1)
    assert best.policy[0] == 1
    assert best.action_arrival[0].tolist() == [0.5, 1]
    assert best.action_value[0].tolist() == [0, -100]
    assert (best.arrival[2], best.value[2]) == (0, -np.inf)


def test_given_arrival_the_rewards_of_outcomes_that_fail_do_not_count():
    # Half of the tries fall into a trap at a price that nobody who arrives has paid.
    leap = from_outcomes("leap", [[[(0.5, 1, -1), (0.5, 2, -1000)]], [[(1, 1, 0)]], [[(1, 2, 0)]]])
    best = optimum(leap, 1)
    assert (best.arrival[0], best.value[0]) == (0.5, -1)


@pytest.mark.parametrize("chance", [1.0, 0.5], ids=["sure", "by chance"])
def test_free_loops_tie_and_are_never_chosen(chance):
    # Actions 0 stay put or swap 0 and 1 for nothing; only action 2 leaves, at a price.
    exit_step = [(chance, 2, -1), (1 - chance, 1, -1)]
    loops = from_outcomes(
        "loops",
        [
            [[(1, 0, 0)], [(1, 1, 0)], [(1, 1, 0)]],
            [[(1, 1, 0)], [(1, 0, 0)], exit_step],
            [[(1, 2, 0)]] * 3,
        ],
    )
    best = optimum(loops, 2)
    assert best.policy.tolist() == [1, 2, 0]
    assert best.value.tolist() == [-1 / chance, -1 / chance, 0]


def test_equal_actions_go_to_the_lowest_and_tiny_differences_are_ties():
    step = [(1, 1, -0.1 - 0.2)]
    same = from_outcomes("same", [[step, [(1, 1, -0.3)], step], [[(1, 1, 0)]] * 3])
    assert optimum(same, 1).policy[0] == 0
    worse_first = from_outcomes("worse", [[[(1, 1, -0.30001)], step, step], [[(1, 1, 0)]] * 3])
    assert optimum(worse_first, 1).policy[0] == 1


def test_a_gain_once_is_legal_and_taken():
    # 0 -> 1 pays 5, going back costs 5: no cycle is positive, the detour over 1 is worth it.
    hill = from_outcomes(
        "hill",
        [[[(1, 1, 5)], [(1, 2, -1)]], [[(1, 0, -5)], [(1, 2, -2)]], [[(1, 2, 0)]] * 2],
    )
    best = optimum(hill, 2)
    assert best.value.tolist() == [3, -2, 0]
    assert best.policy.tolist() == [0, 1, 0]


def test_a_loop_that_profits_by_chance_is_refused():
    # Staying wins 3 or loses 2 with equal chances: each round gains 0.5 on average.
    casino = from_outcomes("casino", [[[(0.5, 0, 3), (0.5, 0, -2)], [(1, 1, -1)]], [[(1, 1, 0)]] * 2])
    with pytest.raises(PositiveCycleError):
        optimum(casino, 1)


def test_profit_out_of_the_way_or_only_beyond_the_goal_does_not_matter():
    # State 2 gains for ever but never comes back; the goal 1 gains on leaving, after arrival.
    world = from_outcomes("elsewhere", [[[(1, 1, -1)]], [[(1, 0, 9)]], [[(1, 2, 1)]]])
    assert optimum(world, 1).value.tolist() == [-1, 0, -np.inf]


def test_rounding_is_not_a_profit():
    around = from_outcomes(
        "around",
        [
            [[(1, 1, 0.1)], [(1, 3, 0)]],
            [[(1, 2, 0.2)], [(1, 3, -9)]],
            [[(1, 0, -0.3)], [(1, 3, -9)]],
            [[(1, 3, 0)]] * 2,
        ],
    )
    np.testing.assert_allclose(optimum(around, 3).value, [0, -0.1, -0.3, 0], atol=1e-12)


def test_a_loop_that_gains_no_more_than_a_billionth_is_no_profit():
    # Staying at 0 gains 5e-10 a round; meanwhile 1 must still find its better way, over 0.
    crumbs = from_outcomes(
        "crumbs",
        [[[(1, 2, -1)], [(1, 0, 5e-10)]], [[(1, 2, -5)], [(1, 0, -1)]], [[(1, 2, 0)]] * 2],
    )
    np.testing.assert_allclose(optimum(crumbs, 2).value, [-1, -2, 0], atol=1e-8)


def test_chances_too_small_for_a_number_count_as_none():
    # A tenth of the time one step on, for 1 or 2 alike; otherwise lost. 400 such steps: 1e-400.
    n, lost = 400, 401
    outcomes = [[[(0.05, s + 1, -1), (0.05, s + 1, -2), (0.9, lost, -1)]] for s in range(n)]
    world = from_outcomes("thin", [*outcomes, [[(1, n, 0)]], [[(1, lost, 0)]]])
    best = optimum(world, n)
    to_go = n - np.arange(n + 1)
    likely = to_go < 300
    np.testing.assert_allclose(best.arrival[:-1][likely], 0.1 ** to_go[likely], rtol=1e-9)
    np.testing.assert_allclose(best.value[:-1][likely], -1.5 * to_go[likely], rtol=1e-9)
    assert np.all(best.arrival[:-1][to_go > 300] == 0)
    assert np.all(best.value[:-1][to_go > 300] == -np.inf)


@pytest.mark.parametrize("goal", [-1, 2])
def test_a_goal_that_is_no_state_is_refused(goal):
    world = from_outcomes("two", [[[(1, 1, 0)]], [[(1, 1, 0)]]])
    with pytest.raises(FwrlError, match="from 0 to 1"):
        optimum(world, goal)


def test_a_large_map_is_solved_as_its_grid_says():
    # An open 60 x 60 floor: the best path reward is minus the Manhattan distance.
    n = 60
    xs, ys = np.arange(n * n) % n, np.arange(n * n) // n
    ways = [(0, -1), (1, 0), (0, 1), (-1, 0)]
    outcomes = [
        [[(1.0, int(np.clip(x + dx, 0, n - 1) + n * np.clip(y + dy, 0, n - 1)), -1.0)] for dx, dy in ways]
        for x, y in zip(xs, ys, strict=True)
    ]
    best = optimum(from_outcomes("floor", outcomes), goal=n + 1)
    np.testing.assert_array_equal(best.value, -(np.abs(xs - 1) + np.abs(ys - 1)))


def test_frozen_lake_is_crossed_with_the_published_chance():
    lake = World.from_gymnasium("FrozenLake-v1")  # 4 x 4, slippery: 14/17 at best
    assert optimum(lake, goal=15).arrival[0] == pytest.approx(14 / 17, abs=1e-12)


def test_all_goals_of_the_windy_rooms_agree_with_value_iteration():
    world = load_world("windy-four-rooms")
    P, paid = dense(world)
    rewards, states = paid.sum(axis=-1), np.arange(world.n_states)
    goals = states[:, None] == states
    V = np.zeros(goals.shape)
    for _ in range(400):
        V = np.where(goals, 0, (rewards[..., None] + P @ V).max(axis=1))
    found = np.stack([optimum(world, g).value for g in range(world.n_states)], axis=1)
    np.testing.assert_allclose(found, V, rtol=1e-9)
