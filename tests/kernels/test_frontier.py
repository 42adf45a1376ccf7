"""Optimistic values by way of the frontier are maxima that numpy finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from kernel_examples import examples

from fwrl.kernels.graph.edges import count_edge, no_edges, with_capacity
from fwrl.kernels.model.frontier import optimistic_rewards, reach_frontiers

VALUES = st.sampled_from([-np.inf, -4.0, -1.0, -0.5, 0.0])


@given(st.data(), st.integers(1, 5), st.integers(1, 3), st.sampled_from([-1.0, -0.25]))
@examples(150)
def test_values_are_the_best_of_known_paths_and_untried_actions(data, S, A, r):
    V = data.draw(arrays(np.float64, (S, S), elements=VALUES))  # any numbers do: the equations are maxima over them
    step = st.tuples(st.integers(0, S * A - 1), st.integers(0, S - 1), st.sampled_from([-2.0, -1.0]))
    steps = data.draw(st.lists(step, max_size=20))
    edges = with_capacity(no_edges(S, A), len(steps))
    best: dict[tuple[int, int], float] = {}
    for pair, y, reward in steps:
        count_edge(edges, pair, y, reward)
        best[pair, y] = max(reward, best.get((pair, y), -np.inf))
    tried = {pair for pair, _ in best}
    frontier = [j for j in range(S) if not tried.issuperset(range(j * A, j * A + A))]
    W = np.empty(S)
    reach_frontiers(V, edges, r, W)
    np.testing.assert_array_equal(W, (V[frontier] + r).max(axis=0, initial=-np.inf))
    values = np.empty(A)
    for s in range(S):
        for g in range(S):
            optimistic_rewards(V, edges, W, r, s, g, values)
            for a in range(A):
                outcomes = [reward + max(V[g, y], W[y]) for (pair, y), reward in best.items() if pair == s * A + a]
                assert values[a] == (max(outcomes) if outcomes else r)
