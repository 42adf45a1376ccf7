"""Counted edges as a model for the solver: every outcome once, untried actions where optimism is on."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.graph.edges import count_edge, no_edges, with_capacity
from fwrl.kernels.model.optimism import no_optimism, refresh, unseen_probability
from fwrl.kernels.model.planning import counted_outcomes, solution_for

STEPS = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 2), st.sampled_from([-1.0, -0.5]), st.integers(0, 4)), max_size=30
)


def edges_of(steps):
    edges = with_capacity(no_edges(5, 3), len(steps))
    for s, a, r, n in steps:
        count_edge(edges, s * 3 + a, n, r)
    return edges


@given(STEPS)
@examples(100)
def test_the_model_has_every_counted_outcome_with_its_count_and_mean_reward(steps):
    outcomes, pairs = counted_outcomes(edges_of(steps), no_optimism(), np.zeros(5, np.int8), 0)
    seen: dict[tuple[int, int], list[float]] = {}
    for s, a, r, n in steps:
        seen.setdefault((s * 3 + a, n), []).append(r)
    listed = {
        (int(pairs[outcomes.pair[e]]), int(outcomes.target[e])): (outcomes.times[e], outcomes.reward[e])
        for e in range(len(outcomes.target))
    }
    assert set(listed) == set(seen)
    for key, rewards in seen.items():
        np.testing.assert_allclose(listed[key], (float(len(rewards)), float(np.mean(rewards))))
    assert pairs.tolist() == sorted({pair for pair, _ in seen})


@given(STEPS, st.integers(0, 4), st.integers(0, 4))
@examples(100)
def test_with_optimism_unseen_outcomes_lead_to_the_goal_but_not_from_terminated_states(steps, goal, ended):
    optimism = no_optimism(0.1)
    optimism.on[0], optimism.reward[0] = 1, -0.25
    refresh(optimism)
    closed = np.zeros(5, np.int8)
    closed[ended] = 1
    outcomes, pairs = counted_outcomes(edges_of(steps), optimism, closed, goal)
    for k, pair in enumerate(pairs.tolist()):
        n = sum(s * 3 + a == pair for s, a, _, _ in steps)
        times, reward = (
            array[outcomes.first[k] : outcomes.first[k + 1]] for array in (outcomes.times, outcomes.reward)
        )
        if pair // 3 == ended:
            assert times.sum() == n
        else:
            np.testing.assert_allclose(times[-1] / times.sum(), unseen_probability(optimism, n))
            assert reward[-1] == -0.25
    assert {int(p) // 3 for p in pairs} >= set(range(5)) - {ended}


def test_the_solution_names_pairs_by_state_and_action():
    edges = edges_of([(0, 2, -1.0, 1), (1, 1, -1.0, 4), (1, 0, -1.0, 0)])
    solution = solution_for(edges, no_optimism(), np.inf, np.zeros(5, np.int8), 4)
    assert solution.pair.tolist() == [2, 4, -1, -1, -1]
    assert solution.v[:2].tolist() == [-2.0, -1.0]
