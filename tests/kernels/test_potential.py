"""The potential is the best reward of any path, and where there is none a positive cycle is named."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.arrays import empty
from fwrl.kernels.heap import Heap
from fwrl.kernels.shortest_paths import dijkstra, incoming_csr, potential, reduce_rewards, unreduced


@st.composite
def graphs(draw):
    """(S, {(x, y): r}): whole rewards of either sign, loops among them."""
    S = draw(st.integers(1, 7))
    state = st.integers(0, S - 1)
    return S, draw(st.dictionaries(st.tuples(state, state), st.integers(-4, 2), max_size=25))


def grouped(S, rewards):
    source, target = zip(*rewards, strict=True) if rewards else ((), ())
    return incoming_csr(S, source, target, list(rewards.values()))[0]


def best_paths(S, rewards):
    """V[x, g] by networkx's Bellman-Ford; there must be no positive cycle."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(S))
    graph.add_edges_from((x, y, {"cost": -r}) for (x, y), r in rewards.items() if x != y)
    V = np.full((S, S), -np.inf)
    for x in range(S):
        for g, cost in nx.single_source_bellman_ford_path_length(graph, x, weight="cost").items():
            V[x, g] = -cost
    return V


def has_positive_cycle(S, rewards):
    graph = nx.DiGraph((x, y, {"cost": -r}) for (x, y), r in rewards.items() if x != y)
    return any(x == y and r > 0 for (x, y), r in rewards.items()) or nx.negative_edge_cycle(graph, weight="cost")


@given(graphs())
@examples(300)
def test_it_is_the_best_path_from_each_state_or_a_positive_cycle(case):
    S, rewards = case
    h, cycle = potential(grouped(S, rewards))
    if has_positive_cycle(S, rewards):
        states = cycle.tolist()
        assert len(states) == len(set(states)) > 0
        assert sum(rewards[x, y] for x, y in zip(states, states[1:] + states[:1], strict=True)) > 0
    else:
        assert len(cycle) == 0
        np.testing.assert_array_equal(h, best_paths(S, rewards).max(axis=1))


@given(graphs())
@examples(150)
def test_paths_by_reduced_rewards_have_the_value_of_the_best(case):
    S, rewards = case
    if has_positive_cycle(S, rewards):
        return
    edges = grouped(S, rewards)
    reward, reduced, V = np.empty(len(edges.source)), np.empty(S), np.empty(S)
    reduce_rewards(edges, potential(edges)[0], reward)
    assert (reward <= 0).all()
    best = best_paths(S, rewards)
    for g in range(S):
        dijkstra(edges.first, edges.source, reward, g, reduced, empty(Heap, {"S": S}))
        unreduced(edges, reward, reduced, g, V, np.empty(S, np.int32))
        np.testing.assert_array_equal(V, best[:, g])
