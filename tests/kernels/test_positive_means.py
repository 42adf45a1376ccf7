"""The share of time at each state of a closed set, beside the dense answer, and at sizes at which none is possible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fwrl.kernels.mdp.policy_iteration import stationary


def dense(P):
    """By least squares: in balance, and 1 in all."""
    N = len(P)
    return np.linalg.lstsq(np.vstack([P.T - np.eye(N), np.ones(N)]), np.append(np.zeros(N), 1.0), rcond=None)[0]


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.floats(0.0, 1.0))
def test_the_share_of_time_is_the_dense_one(N, seed, sparsity):
    rng = np.random.default_rng(seed)
    P = rng.uniform(0.01, 1.0, (N, N)) * (rng.random((N, N)) > sparsity)
    P[np.arange(N), (np.arange(N) + 1) % N] += 0.1  # a ring: all reach each other
    P /= P.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(stationary(csr_array(P)), dense(P), rtol=0, atol=1e-12)


def corridor(N, forward):
    k = np.arange(N)
    ends = np.concatenate([np.minimum(k + 1, N - 1), np.maximum(k - 1, 0)])
    weights = np.concatenate([np.full(N, forward), np.full(N, 1.0 - forward)])
    return csr_array((weights, (np.concatenate([k, k]), ends)), shape=(N, N))


@pytest.mark.parametrize("forward", [0.1, 0.5, 0.9])
def test_a_long_corridor_has_its_geometric_shares(forward):
    """The share grows by forward / back from cell to cell: at these lengths beyond the range of floats."""
    N = 20_000
    logs = np.arange(N) * np.log(forward / (1.0 - forward))
    exact = np.exp(logs - logs.max())
    share = stationary(corridor(N, forward))
    np.testing.assert_allclose(share, exact / exact.sum(), rtol=1e-6, atol=1e-12)


def test_a_ring_of_twenty_thousand_is_visited_evenly():
    k = np.arange(20_000)
    ring = csr_array((np.ones(len(k)), (k, np.roll(k, -1))), shape=(len(k), len(k)))
    np.testing.assert_allclose(stationary(ring), 1 / len(k), rtol=1e-9)
