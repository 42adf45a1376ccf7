"""The exact closure is the fixed point of the triangle inequality after every observed transition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import compiled_only, examples, from_python
from scipy.sparse import csr_array
from scipy.sparse.csgraph import johnson

from fwrl.agents import make_agent
from fwrl.arrays import empty
from fwrl.errors import PositiveCycleError
from fwrl.kernels.closure import ClosureScratch, close_over, path_rewards
from fwrl.kernels.edges import Edges, count_edge, with_capacity

close_over, path_rewards = (from_python(kernel) for kernel in (close_over, path_rewards))

COSTS = st.one_of(st.sampled_from([0.0, 0.1, 0.2, 0.3, 2.5e-4, 1.0]), st.floats(0, 5))


@st.composite
def transitions(draw, one_reward=False, potential=False):
    """(S, A, [(s, a, r, s')]): several outcomes per action, self-loops, zero-cost and repeated edges."""
    S, A = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    step = st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), COSTS, st.integers(0, S - 1))
    steps = draw(st.lists(step, min_size=1, max_size=40))
    # A potential h turns costs into rewards of either sign without making a positive cycle.
    h = draw(st.lists(st.integers(-3, 3), min_size=S, max_size=S)) if potential else [0] * S
    first: dict[tuple[int, int, int], float] = {}
    return (
        S,
        A,
        [(s, a, h[s] - h[n] - (first.setdefault((s, a, n), c) if one_reward else c), n) for s, a, c, n in steps],
    )


def fixed_point(S, edges):
    """V(s, g) by scipy's Johnson on the best observed reward of each pair of states, sparse input."""
    best: dict[tuple[int, int], float] = {}
    for (s, _, n), r in edges.items():
        if s != n:
            best[s, n] = max(best.get((s, n), -np.inf), r)
    rows, columns = zip(*best, strict=True) if best else ((), ())
    costs = [-r for r in best.values()]
    graph = csr_array((costs, (rows, columns)), shape=(S, S)) if best else csr_array((S, S))
    return -johnson(graph, directed=True)


def believed(agent):
    return np.array([agent.values(g) for g in range(agent.n_states)]).T


@given(transitions(potential=True))
@examples(150)
def test_exact_is_the_fixed_point_after_every_transition(case):
    S, A, steps = case
    agent = make_agent("fwrl", S, A)
    edges: dict[tuple[int, int, int], float] = {}
    for s, a, r, n in steps:
        try:
            agent.observe(s, a, r, n)
        except PositiveCycleError:
            continue  # a cycle of the potential's own rounding
        edges[s, a, n] = max(edges.get((s, a, n), -np.inf), r)
        V = fixed_point(S, edges)
        np.testing.assert_allclose(believed(agent), V, rtol=1e-8, atol=1e-8)
        for (i, b), outcomes in pairs(edges).items():
            F = np.max([reward + V[k] for k, reward in outcomes], axis=0)
            for g in range(S):
                np.testing.assert_allclose(agent.action_values(i, g)[b], F[g], rtol=1e-8, atol=1e-8)


def pairs(edges):
    out: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for (s, a, n), r in edges.items():
        out.setdefault((s, a), []).append((n, r))
    return out


@given(transitions(potential=True))
@examples(100)
def test_exact_obeys_the_triangle_inequality(case):
    S, A, steps = case
    agent = make_agent("fwrl", S, A)
    for s, a, r, n in steps:
        agent.observe(s, a, r, n)
        V = believed(agent)
        F = np.array([[agent.action_values(i, j) for j in range(S)] for i in range(S)])  # i, j, a
        for k in range(S):
            through = F[:, k, None, :] + V[k][None, :, None]
            assert np.all(through <= F + 1e-8)


@given(transitions(one_reward=True))
@examples(100)
def test_with_one_reward_per_edge_the_paper_is_never_above_exact(case):
    S, A, steps = case
    exact, paper = make_agent("fwrl", S, A), make_agent("fwrl", S, A, relaxation="paper")
    for s, a, r, n in steps:
        exact.observe(s, a, r, n)
        paper.observe(s, a, r, n)
        off = ~np.eye(S, dtype=bool)
        assert np.all(believed(paper)[off] <= believed(exact)[off] + 1e-9)


@given(transitions())
@examples(100)
def test_paper_is_algorithm_1_to_the_letter(case):
    S, A, steps = case
    agent = make_agent("fwrl", S, A, relaxation="paper")
    F = np.full((S, A, S), -np.inf)
    for s, a, r, n in steps:
        agent.observe(s, a, r, n)
        F[s, a, n] = r
        F = np.maximum(F, F[:, :, s, None] + F[s].max(axis=0)[None, None, :])
        np.testing.assert_array_equal(agent.tables.F, F)


def test_the_paper_assigns_so_a_worse_outcome_overwrites_a_better_one():
    exact, paper = make_agent("fwrl", 2, 1), make_agent("fwrl", 2, 1, relaxation="paper")
    for agent in (exact, paper):
        agent.observe(0, 0, -1.0, 1)
        agent.observe(0, 0, -3.0, 1)
    assert exact.value(0, 1) == -1.0
    assert paper.value(0, 1) == -3.0


@compiled_only
def test_two_trips_that_share_a_state_answer_a_third():
    agent = make_agent("fwrl", 5, 1)
    agent.observe_many([0, 1], [0, 0], [-1.0, -1.0], [1, 2])  # 0 -> 1 -> 2
    agent.observe_many([3, 1], [0, 0], [-1.0, -1.0], [1, 4])  # 3 -> 1 -> 4
    assert agent.value(3, 2) == agent.value(0, 4) == -2.0


@compiled_only
def test_batches_are_learned_as_single_steps_are():
    rng = np.random.default_rng(0)
    s, a, n = rng.integers(0, 20, 500), rng.integers(0, 3, 500), rng.integers(0, 20, 500)
    r = -rng.random(500)
    one, many = make_agent("fwrl", 20, 3), make_agent("fwrl", 20, 3)
    many.observe_many(s, a, r, n)
    for step in zip(s.tolist(), a.tolist(), r.tolist(), n.tolist(), strict=True):
        one.observe(*step)
    np.testing.assert_array_equal(one.tables.V, many.tables.V)


@given(transitions())
@examples(100)
def test_closing_over_each_better_edge_gives_the_fixed_point(case):
    S, A, steps = case
    V, scratch, edges = (
        np.where(np.eye(S, dtype=bool), 0.0, -np.inf),
        empty(ClosureScratch, {"S": S}),
        with_capacity(empty(Edges, {"S": S, "P": S * A}), len(steps)),
    )
    closed = np.zeros(S, np.int8)
    best: dict[tuple[int, int, int], float] = {}
    for s, a, r, n in steps:
        count_edge(edges, s * A + a, n, r)
        if r > best.get((s, a, n), -np.inf):
            best[s, a, n] = r
            close_over(V, edges, closed, scratch, s, r, n)
    truth = fixed_point(S, best)
    np.testing.assert_allclose(V.T, truth, rtol=1e-8, atol=1e-8)
    dense = np.empty(A)
    for s in range(S):
        for g in range(S):
            path_rewards(V[g], edges, closed, s, dense)
            F = [
                max((r + V[g, n] for (x, b, n), r in best.items() if (x, b) == (s, a)), default=-np.inf)
                for a in range(A)
            ]
            np.testing.assert_array_equal(dense, F)
