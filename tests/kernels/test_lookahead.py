"""A look-ahead makes the best actions of one state exact while updates are pending elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

import fwrl
from fwrl.kernels.graph.heap import OPEN
from fwrl.kernels.graph.lookahead import look_ahead

GOAL = 0


def true_actions(S, A, best):
    """(S, A) F(., ., GOAL) by SciPy, for one best reward of each (s, a, s'), none of them zero."""
    cheapest: dict[tuple[int, int], float] = {}
    for (s, _, n), r in best.items():
        cheapest[n, s] = min(-r, cheapest.get((n, s), np.inf))
    ends = np.array(list(cheapest), int).reshape(-1, 2).T
    V = -dijkstra(csr_array((np.array(list(cheapest.values())), tuple(ends)), shape=(S, S)), indices=[GOAL])[0]
    F = np.full((S, A), -np.inf)
    for (s, a, n), r in best.items():
        F[s, a] = max(F[s, a], r + V[n])
    return F


@pytest.mark.parametrize("noise", [0.0, 0.5], ids=["fixed", "noisy"])
@given(seed=st.integers(0, 2**32))
@examples(40)
def test_a_look_ahead_finds_the_best_actions_and_leaves_the_column_to_come_out_right(noise, seed):
    rng = np.random.default_rng(seed)
    S, A = int(rng.integers(2, 40)), int(rng.integers(1, 4))
    agent, at_once = (fwrl.make_agent("fwrl", S, A, storage="columns") for _ in range(2))
    agent.begin_episode(GOAL)
    best: dict[tuple[int, int, int], float] = {}
    for _ in range(200):
        s, a = int(rng.integers(S)), int(rng.integers(A))
        n, r = (s + int(rng.integers(-2, 3))) % S, -1.0 - noise * rng.random()
        best[s, a, n] = max(r, best.get((s, a, n), -np.inf))
        for one in (agent, at_once):
            one.observe(s, a, r, n)
        asked, T = int(rng.integers(S)), agent.tables
        if rng.random() < 0.2 and T.heap.size[OPEN] > 0:
            V = T.columns.V[T.columns.slot[GOAL]]
            before = V.copy()
            if look_ahead(V, T.edges, T.heap, T.ahead, asked, GOAL, int(rng.choice([1, 5, S]))):
                values = np.empty(A)
                agent.verbs.action_values(T, asked, GOAL, values)
                F = true_actions(S, A, best)[asked]
                tied = F.max() - 1e-9 * abs(F.max()) <= F if F.max() > -np.inf else np.ones(A, bool)
                np.testing.assert_allclose(values[tied], F[tied], rtol=1e-12)
                assert (values[~tied] <= F[~tied] + 1e-9).all()
            else:
                np.testing.assert_array_equal(V, before)
            assert not T.ahead.place.any()
    np.testing.assert_array_equal(agent.values(GOAL), at_once.values(GOAL))
