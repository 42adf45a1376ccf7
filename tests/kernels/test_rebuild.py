"""A column made from scratch is SciPy's, and nothing is done where a heap would be needed."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from fwrl.kernels.graph.compact_edges import add_edge, no_compact_edges, set_best, with_capacity
from fwrl.kernels.graph.rebuild import SAMPLED, bucket_scratch, reached, rebuild_column

COSTS = st.one_of(
    st.just(st.just(0.3)), st.just(st.floats(0.5, 3.0)), st.just(st.sampled_from([0.0, 1.0])), st.just(st.just(0.0))
)


@given(st.data(), st.integers(1, 8), COSTS)
@examples(150)
def test_a_column_is_scipys_or_unchanged(data, S, costs):
    state = st.integers(0, S - 1)
    cost = data.draw(st.dictionaries(st.tuples(state, state), costs, max_size=20))
    edges = with_capacity(no_compact_edges(S, 1), len(cost))
    V, g = np.full(S, 7.0), data.draw(state)
    for (x, y), c in cost.items():
        set_best(edges, add_edge(edges, x, y), -c)
    between = [c for (x, y), c in cost.items() if x != y]
    if rebuild_column(V, edges, bucket_scratch(S), g):
        ends = np.array([key for key in cost if key[0] != key[1]], int).reshape(-1, 2)
        backward = csr_array((between, (ends[:, 1], ends[:, 0])), shape=(S, S))
        np.testing.assert_allclose(V, -dijkstra(backward, indices=[g])[0], rtol=1e-12)
    else:
        assert min(between, default=0.0) == 0.0
        assert (V == 7.0).all()


@given(st.lists(st.sampled_from([-np.inf, -1.0]), max_size=50))
@examples(50)
def test_of_few_states_those_reached_are_counted(values):
    V = np.array(values)
    assert reached(V) == np.count_nonzero(-np.inf < V)


def test_of_many_states_those_reached_are_estimated():
    V = np.full(10 * SAMPLED, -np.inf)
    V[: len(V) // 4] = -1.0
    assert abs(reached(V) - len(V) // 4) <= 2 * len(V) / SAMPLED
