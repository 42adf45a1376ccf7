"""A column is the best path reward to its goal, whatever order the search takes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from fwrl.errors import OptionError, PositiveCycleError
from fwrl.kernels.shortest_paths import ShortestPaths, incoming_csr

COSTS = {
    "breadth": st.just(2.5e-4),
    "buckets": st.floats(0.1, 3.0),
    "wide buckets": st.one_of(st.sampled_from([0.0, 1e-9, 20.0, 50.0]), st.floats(60, 1000)),
    "heap": st.one_of(st.sampled_from([0.0, 1e-9, 0.1, 0.2, 0.3, 1.0, 1e6]), st.floats(0, 5)),
}


@st.composite
def graphs(draw, order):
    """(S, sources, targets, rewards): parallel edges, loops, states that nothing reaches."""
    S = draw(st.integers(1, 12))
    state = st.integers(0, S - 1)
    edges = draw(st.lists(st.tuples(state, state, COSTS[order]), max_size=50))
    columns = [list(column) for column in zip(*edges, strict=True)] or [[], [], []]
    return S, columns[0], columns[1], [-c for c in columns[2]]


def searched(S, sources, targets, rewards):
    return ShortestPaths(incoming_csr(S, sources, targets, rewards)[0])


def reference(S, sources, targets, rewards):
    """V by networkx's Floyd-Warshall on the best of parallel edges, without loops: V[x, g].

    Its Bellman-Ford may miss states behind costs of 0 and 1e-103.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(range(S))
    for s, n, r in zip(sources, targets, rewards, strict=True):
        if s != n and (not graph.has_edge(s, n) or graph[s][n]["cost"] > -r):
            graph.add_edge(s, n, cost=-r)
    return -nx.floyd_warshall_numpy(graph, range(S), weight="cost")


@pytest.mark.parametrize("order", COSTS)
@given(data=st.data())
@examples(150)
def test_a_column_is_the_best_path_reward(order, data):
    case = data.draw(graphs(order))
    search, V = searched(*case), reference(*case)
    for g in range(case[0]):
        np.testing.assert_allclose(search.column(g), V[:, g], rtol=1e-12, atol=0)


@pytest.mark.parametrize("order", COSTS)
def test_each_order_is_taken_where_it_should_be(order):
    rng = np.random.default_rng(0)
    costs = {
        "breadth": np.ones(9),
        "buckets": 1 + rng.random(9),
        "wide buckets": rng.permutation([0, 0.1, 1, 900, 1000, 1100, 1200, 1300, 1400]),
        "heap": rng.permutation([0, 0, 1, 1e9, 2, 3, 4, 5, 6]),
    }
    ring = np.arange(9)
    search = searched(9, ring, (ring + 1) % 9, -costs[order])
    assert search.order == order
    np.testing.assert_allclose(search.column(0)[1], -costs[order][1:].sum(), rtol=1e-12)


def test_loops_do_not_change_the_order():
    search = searched(3, [0, 1, 1, 2], [1, 2, 1, 2], [-1.0, -1.0, 0.0, -1e9])
    assert search.order == "breadth"
    assert search.column(2).tolist() == [-2.0, -1.0, 0.0]


LARGE = {
    "breadth": lambda rng, E: np.full(E, 0.3),
    "buckets": lambda rng, E: 1 + rng.random(E) / 2,
    "wide buckets": lambda rng, E: 1000 * rng.random(E) * (rng.random(E) > 0.05),
    "heap": lambda rng, E: np.exp(rng.normal(0, 5, E)),
}


@pytest.mark.parametrize("order", LARGE)
def test_columns_of_a_large_graph_agree_with_scipy(order):
    rng = np.random.default_rng(3)
    S, E = 5000, 20_000
    sources, targets = rng.integers(0, S, E), rng.integers(0, S, E)
    cost = LARGE[order](rng, E)
    # scipy adds parallel edges up, so only one of each pair is kept.
    _, kept = np.unique(sources * S + targets, return_index=True)
    sources, targets, cost = sources[kept], targets[kept], cost[kept]
    search = searched(S, sources, targets, -cost)
    assert search.order == order
    backward = csr_array((cost, (targets, sources)), shape=(S, S))
    for g in rng.integers(0, S, 5):
        np.testing.assert_allclose(search.column(g), -dijkstra(backward, indices=g), rtol=1e-12)


@st.composite
def gaining(draw):
    """Rewards of either sign made from costs by a potential, so that no cycle is positive but by rounding."""
    S, sources, targets, rewards = draw(graphs("heap"))
    h = draw(st.lists(st.one_of(st.integers(-5, 5), st.floats(-5, 5)), min_size=S, max_size=S))
    return S, sources, targets, [r + h[s] - h[n] for s, n, r in zip(sources, targets, rewards, strict=True)], h


@given(gaining())
@examples(200)
def test_positive_rewards_give_the_best_path_too(case):
    S, sources, targets, rewards, h = case
    search = searched(S, sources, targets, rewards)
    costs = [h[s] - h[n] - r for s, n, r in zip(sources, targets, rewards, strict=True)]
    V = reference(S, sources, targets, [-max(0.0, round(c, 14)) for c in costs])
    h = np.array(h, float)
    for g in range(S):
        np.testing.assert_allclose(search.column(g), V[:, g] + h - h[g], rtol=1e-9, atol=1e-9)


@given(gaining(), st.data())
@examples(100)
def test_a_positive_cycle_is_named(case, data):
    S, sources, targets, rewards, _ = case
    length = data.draw(st.integers(1, S))
    cycle = data.draw(st.permutations(range(S)))[:length]
    gains = data.draw(st.lists(st.floats(-3, 3), min_size=length - 1, max_size=length - 1))
    gains.append(data.draw(st.sampled_from([2e-9, 1e-6, 1.0, 50.0])) - sum(gains))
    sources, targets = [*sources, *cycle], [*targets, *cycle[1:], cycle[0]]
    rewards = [*rewards, *gains]
    with pytest.raises(PositiveCycleError, match=r"the states .* form a positive cycle") as caught:
        searched(S, sources, targets, rewards)
    named = caught.value.states
    best: dict[tuple[int, int], float] = {}
    for s, n, r in zip(sources, targets, rewards, strict=True):
        best[s, n] = max(best.get((s, n), -np.inf), r)
    assert len(set(named)) == len(named)
    assert sum(best[pair] for pair in zip(named, (*named[1:], named[0]), strict=True)) > 1e-9


def test_a_cycle_that_is_positive_by_rounding_alone_is_not_one():
    search = searched(3, [0, 1, 2], [1, 2, 0], [0.1, 0.2, -0.3])  # 0.1 + 0.2 - 0.3 > 0 in floating point
    np.testing.assert_allclose(search.column(2), [0.3, 0.2, 0.0])
    search = searched(3, [0, 1, 2], [1, 2, 0], [1e5 + 0.1, 2e5 + 0.2, -(3e5 + 0.3)])
    np.testing.assert_allclose(search.column(2), [3e5 + 0.3, 2e5 + 0.2, 0.0])


@given(st.one_of(graphs("heap"), graphs("breadth"), gaining().map(lambda case: case[:4])))
@examples(200)
def test_routes_end_at_the_goal_with_the_value_promised(case):
    S, sources, targets, rewards = case
    edges, given_ = incoming_csr(S, sources, targets, rewards)
    search = ShortestPaths(edges)
    for g in range(S):
        routes = search.routes(g)
        np.testing.assert_array_equal(routes.steps >= 0, routes.value > -np.inf)
        for start in np.flatnonzero(routes.steps >= 0):
            x, total, taken = int(start), 0.0, 0
            while x != g:
                e = given_[routes.edge[x]]
                assert sources[e] == x
                x, total, taken = targets[e], total + rewards[e], taken + 1
                assert taken <= S
            assert taken == routes.steps[start]
            np.testing.assert_allclose(total, routes.value[start], rtol=1e-8, atol=1e-8)


@given(graphs("breadth"))
@examples(50)
def test_routes_take_the_fewest_steps_among_ties(case):
    # Where nothing costs anything every path ties, so the fewest steps are the hops of the graph.
    S, sources, targets, _ = case
    graph = nx.DiGraph()
    graph.add_nodes_from(range(S))
    graph.add_edges_from(zip(targets, sources, strict=True))
    search = searched(S, sources, targets, np.zeros(len(sources)))
    for g in range(S):
        hops = nx.single_source_shortest_path_length(graph, g)
        assert search.routes(g).steps.tolist() == [hops.get(x, -1) for x in range(S)]


def test_edges_that_cannot_be_are_refused_in_words():
    with pytest.raises(OptionError, match="sources from 0 to 2, got 0 to 3"):
        incoming_csr(3, [0, 3], [1, 1], [0.0, 0.0])
    with pytest.raises(OptionError, match="targets from 0 to 2, got -1 to 1"):
        incoming_csr(3, [0, 2], [1, -1], [0.0, 0.0])
    with pytest.raises(OptionError, match="2 sources, 1 targets, 2 rewards"):
        incoming_csr(3, [0, 2], [1], [0.0, 0.0])
    with pytest.raises(OptionError, match="goal from 0 to 2, got 3"):
        searched(3, [0], [1], [-1.0]).column(3)


@pytest.mark.parametrize(
    "rewards", [[-1e308] * 5, [-1e308, -1.1e308, -1.2e308, -1e308, -1e308], [-1e308, 1.0, -1e308, -1e308, -1e308]]
)
def test_sums_beyond_floating_point_count_as_no_path(rewards):
    search = searched(5, [1, 2, 3, 4, 0], [0, 1, 2, 3, 4], rewards)  # a ring, each state leads to the one before
    with np.errstate(over="ignore"):
        known = np.concatenate([[0.0], np.cumsum(rewards[:4])])
    np.testing.assert_array_equal(search.column(0), known)
    routes = search.routes(0)
    assert (routes.steps[np.isfinite(known)] == np.flatnonzero(np.isfinite(known))).all()
