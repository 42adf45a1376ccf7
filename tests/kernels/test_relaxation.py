"""Relaxing through a state is the paper's assignment, written in numpy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from kernel_examples import examples

from fwrl.kernels.relaxation import relax_through

VALUES = st.sampled_from([-np.inf, -3.0, -1.0, -0.25, 0.0, 2.0])


@given(st.data(), st.integers(1, 5), st.integers(1, 3))
@examples(150)
def test_relaxing_is_the_maximum_with_the_path_through_k(data, S, A):
    F = data.draw(arrays(np.float64, (S, A, S), elements=VALUES))
    k = data.draw(st.integers(0, S - 1))
    expected = np.maximum(F, F[:, :, k, None] + F[k].max(axis=0)[None, None, :])
    rose = bool((expected > F).any())
    assert relax_through(F, k, np.empty(S)) is rose
    np.testing.assert_array_equal(F, expected)


@given(st.data(), st.integers(1, 5), st.integers(1, 3))
@examples(100)
def test_without_positive_rewards_relaxing_twice_changes_nothing(data, S, A):
    F = data.draw(arrays(np.float64, (S, A, S), elements=VALUES.filter(lambda value: value <= 0)))
    k = data.draw(st.integers(0, S - 1))
    relax_through(F, k, np.empty(S))
    assert not relax_through(F, k, np.empty(S))
