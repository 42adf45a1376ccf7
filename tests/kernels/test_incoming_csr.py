"""Sorting edges by target is numpy's stable sort."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.shortest_paths import HIGHEST, LOWEST, incoming_csr, reward_range, sorted_by


@st.composite
def edge_lists(draw):
    S = draw(st.integers(1, 8))
    state = st.integers(0, S - 1)
    edges = draw(st.lists(st.tuples(state, state, st.sampled_from([-2.0, -1.0, 0.0, 3.0])), max_size=40))
    source, target, reward = (np.array(column) for column in zip(*edges, strict=True)) if edges else [np.zeros(0)] * 3
    return S, source.astype(int), target.astype(int), reward.astype(float)


@given(edge_lists())
@examples(200)
def test_edges_are_grouped_as_a_stable_sort_groups_them(case):
    S, source, target, reward = case
    edges, given_ = incoming_csr(S, source, target, reward)
    order = np.argsort(target, kind="stable")
    assert edges.n_states == S
    np.testing.assert_array_equal(given_, order)
    np.testing.assert_array_equal(edges.first, np.searchsorted(target[order], np.arange(S + 1)))
    np.testing.assert_array_equal(edges.source, source[order])
    np.testing.assert_array_equal(edges.reward, reward[order])


@given(st.lists(st.integers(0, 5), max_size=50))
@examples(100)
def test_the_order_is_that_of_a_stable_sort(keys):
    key = np.array(keys, np.int32)
    first, order = sorted_by(key, 6)
    np.testing.assert_array_equal(order, np.argsort(key, kind="stable"))
    np.testing.assert_array_equal(np.diff(first), np.bincount(key, minlength=6))


@given(edge_lists())
@examples(100)
def test_the_range_leaves_out_loops_that_do_not_gain(case):
    S, source, target, reward = case
    edges, _ = incoming_csr(S, source, target, reward)
    extremes = np.empty(2)
    reward_range(edges, edges.reward, extremes)
    between = reward[source != target]
    counted = np.concatenate([between, reward[(source == target) & (reward > 0)]])
    assert extremes[LOWEST] == (between.min() if len(between) else -1.0)
    assert extremes[HIGHEST] == (counted.max() if len(counted) else -1.0)
