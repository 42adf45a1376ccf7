"""The update of Q-learning is its equation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from kernel_examples import examples

from fwrl.kernels.qlearning import q_update

S, A = 3, 2


@given(
    arrays(np.float64, (S, A), elements=st.floats(-100, 100)),
    st.integers(0, S - 1),
    st.integers(0, A - 1),
    st.floats(-10, 10),
    st.integers(0, S - 1),
    st.booleans(),
    st.floats(0, 1),
)
@examples(150)
def test_one_entry_moves_towards_its_target(Q, s, a, r, next_s, arrived, alpha):
    before = Q.copy()
    q_update(Q, s, a, r, next_s, arrived, alpha)
    target = r if arrived else (1 - alpha) * before[s, a] + alpha * (r + before[next_s].max())
    assert Q[s, a] == pytest.approx(target, abs=1e-9)
    Q[s, a] = before[s, a]
    np.testing.assert_array_equal(Q, before)
