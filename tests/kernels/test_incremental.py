"""A column and a potential that are updated edge by edge are those of a search from scratch."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.graph.compact_edges import NONE, add_edge, find_edge, no_compact_edges, set_best, sort, with_capacity
from fwrl.kernels.graph.heap import OPEN, empty_heap
from fwrl.kernels.graph.incremental import fits_potential, raise_potential, relax_changes, settle, settle_once

S, A, GOAL, EVERYTHING = 6, 2, 0, 1 << 40


def steps(rewards):
    step = st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), rewards, st.integers(0, S - 1))
    return st.lists(st.one_of(step, step, step, st.just("sort")), max_size=40)


def reference(best):
    """V(., GOAL) by networkx's Bellman-Ford."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(S))
    for (x, _, y), r in best.items():
        if x != y and (not graph.has_edge(y, x) or graph[y][x]["cost"] > -r):
            graph.add_edge(y, x, cost=-r)
    V = np.full(S, -np.inf)
    for x, cost in nx.single_source_bellman_ford_path_length(graph, GOAL, weight="cost").items():
        V[x] = -cost
    return V


def no_column():
    V = np.full(S, -np.inf)
    V[GOAL] = 0.0
    return V


def improve(edges, best, s, a, r, y):
    """Keep the best reward of an edge; whether it is new or better."""
    if r <= best.get((s, a, y), -np.inf):
        return False
    e = find_edge(edges, s * A + a, y)
    set_best(edges, add_edge(edges, s * A + a, y) if e == NONE else e, r)
    best[s, a, y] = r
    return True


@given(steps(st.sampled_from([0, -1, -2, -5])), st.integers(1, 3))
@examples(200)
def test_a_settled_column_is_that_of_bellman_ford(events, every):
    edges = with_capacity(no_compact_edges(S, A), len(events))
    heap, V, h = empty_heap(S), no_column(), np.zeros(S)
    best: dict[tuple[int, int, int], float] = {}
    since = 0
    for number, event in enumerate(events):
        if event == "sort":
            sort(edges)
        else:
            improve(edges, best, *event)
        if number % every == 0:
            relax_changes(V, h, edges, heap, GOAL, since, False)
            since = int(edges.changes[0])
        if number % 5 == 4:  # all above -3 are exact once those in the heap are
            settle(V, h, edges, heap, GOAL, -3.0, EVERYTHING)
            if since == edges.changes[0]:
                exact = reference(best)
                np.testing.assert_array_equal(V[exact > -3.0], exact[exact > -3.0])
    relax_changes(V, h, edges, heap, GOAL, since, False)
    while heap.size[OPEN] > 0:
        assert settle(V, h, edges, heap, GOAL, -np.inf, 1) == 1
    np.testing.assert_array_equal(V, reference(best))


@given(steps(st.integers(-4, 2)))
@examples(200)
def test_with_positive_rewards_too_and_positive_cycles_are_refused(events):
    edges = with_capacity(no_compact_edges(S, A), len(events))
    heap, V, h = empty_heap(S), no_column(), np.zeros(S)
    best: dict[tuple[int, int, int], float] = {}
    since = 0
    for event in events:
        if event == "sort":
            sort(edges)
            continue
        s, a, r, y = event
        if r <= best.get((s, a, y), -np.inf):
            continue
        if not fits_potential(h, s, r, y):
            graph = nx.MultiDiGraph((x, z, {"cost": -c}) for (x, _, z), c in best.items())
            graph.add_edge(s, y, cost=-r)
            before = h.copy()
            if not raise_potential(h, edges, heap, s, r, y):
                assert nx.negative_edge_cycle(graph, weight="cost")
                np.testing.assert_array_equal(h, before)
                continue
            assert not nx.negative_edge_cycle(graph, weight="cost")
        improve(edges, best, s, a, r, y)
        assert all(r + h[z] - h[x] <= 1e-9 for (x, _, z), r in best.items())
        relax_changes(V, h, edges, heap, GOAL, since, True)
        since = int(edges.changes[0])
        settle_once(V, h, edges, heap, GOAL)
        np.testing.assert_array_equal(V, reference(best))
