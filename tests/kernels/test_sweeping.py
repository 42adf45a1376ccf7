"""Backups are the equations over plain dictionaries, and sweeping to the end solves them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.graph.edges import count_edge, no_edges, with_capacity
from fwrl.kernels.graph.heap import OPEN, empty_heap
from fwrl.kernels.model.optimism import no_optimism, unseen_probability
from fwrl.kernels.model.sweeping import backed_up, expected, promote, queue_all, sweep

A, D = 2, -60.0
REWARDS = [-0.25, -1.0, -1.5]


@st.composite
def models(draw):
    """(S, {(s, a): [(r, s')]}, edges, optimism, terminated)."""
    S = draw(st.integers(1, 5))
    step = st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), st.sampled_from(REWARDS), st.integers(0, S - 1))
    steps = draw(st.lists(step, max_size=25))
    edges = with_capacity(no_edges(S, A), len(steps))
    seen: dict[tuple[int, int], list[tuple[float, int]]] = {}
    for s, a, r, y in steps:
        count_edge(edges, s * A + a, y, r)
        seen.setdefault((s, a), []).append((r, y))
    optimism = no_optimism()
    optimism.on[0], optimism.reward[0] = draw(st.booleans()), -0.25
    optimism.unseen[:] = draw(st.sampled_from([0.0, 0.1]))
    ends = draw(st.lists(st.booleans() | st.just(False), min_size=S, max_size=S))
    return S, seen, edges, optimism, np.array(ends, np.int8)


def value_of(outcomes, q, V, s):
    """The expected value of an action that is repeated while it stays at s; D if it always does."""
    n = max(len(outcomes), 1)
    leaving = [V[y] for _, y in outcomes if y != s]
    weight = (1 - q) * len(leaving) / n + q
    if weight == 0:
        return D
    return ((1 - q) * (sum(r for r, _ in outcomes) + sum(leaving)) / n + q * -0.25) / weight


@given(models(), st.data())
@examples(200)
def test_a_backup_is_the_bellman_equation(model, data):
    S, seen, edges, optimism, terminated = model
    V = np.array(data.draw(st.lists(st.floats(D, 0), min_size=S, max_size=S)))
    for s in range(S):
        best = D
        for a in range(A):
            outcomes = seen.get((s, a), [])
            q = unseen_probability(optimism, len(outcomes))
            best = max(best, value_of(outcomes, q, V, s))
            mean = np.mean([r + V[y] for r, y in outcomes]) if outcomes else D
            unseen = q * -0.25
            wanted = unseen + (1 - q) * mean if q < 1 else unseen
            assert expected(edges, V, optimism, s * A + a, D) == pytest.approx(wanted, abs=1e-9)
        backup = backed_up(edges, V, terminated, optimism, s, D)
        assert backup == pytest.approx(D if terminated[s] else best, abs=1e-9)


@given(models(), st.data())
@examples(100)
def test_sweeping_to_the_end_is_value_iteration(model, data):
    S, seen, edges, optimism, terminated = model
    g = data.draw(st.integers(0, S - 1))
    V, queue = np.full(S, D), empty_heap(S)
    V[g] = 0.0
    reference = V.copy()
    queue_all(edges, V, terminated, optimism, queue, g, D, 1e-9)
    for _ in range(400):
        sweep(edges, V, terminated, optimism, queue, g, D, 1e-9, 50)
    for _ in range(400):
        for s in set(range(S)) - {g, *np.flatnonzero(terminated).tolist()}:
            q = [unseen_probability(optimism, len(seen.get((s, a), []))) for a in range(A)]
            reference[s] = max(D, *(value_of(seen.get((s, a), []), q[a], reference, s) for a in range(A)))
    np.testing.assert_allclose(V, reference, atol=1e-5)


@given(models())
@examples(50)
def test_no_more_backups_are_made_than_asked_for(model):
    S, _, edges, optimism, terminated = model
    queue, V = empty_heap(S), np.full(S, D)
    for s in range(1, S):
        promote(queue, s, np.inf)
    queued = int(queue.size[OPEN])
    assert sweep(edges, V, terminated, optimism, queue, 0, D, np.inf, 2) == min(2, queued)
    assert queue.size[OPEN] == max(0, queued - 2)
