"""The linear model of motion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwrl.cells.motion import LinearMotion


def data(seed, n=60, noise=0.1):
    rng = np.random.default_rng(seed)
    actions = rng.uniform(-1, 1, (n, 3))
    return actions, actions @ rng.normal(size=(3, 2)) + noise * rng.normal(size=(n, 2))


@given(st.integers(0, 10_000))
def test_it_is_the_least_squares_solution(seed):
    actions, moved = data(seed)
    expected, residual, *_ = np.linalg.lstsq(actions, moved, rcond=None)
    motion = LinearMotion.of(actions, moved)
    np.testing.assert_allclose(motion.forward, expected, atol=1e-9)
    np.testing.assert_allclose(motion.explained, 1 - residual.sum() / np.square(moved).sum(), atol=1e-9)


@given(st.integers(0, 10_000), st.integers(0, 60))
def test_updates_equal_one_fit_of_everything(seed, cut):
    actions, moved = data(seed)
    parts = LinearMotion.of(actions[:cut], moved[:cut]).updated(LinearMotion.of(actions[cut:], moved[cut:]))
    whole = LinearMotion.of(actions, moved)
    np.testing.assert_allclose(parts.forward, whole.forward, atol=1e-9)
    np.testing.assert_allclose(parts.explained, whole.explained, atol=1e-9)
    assert parts.low.tolist() == whole.low.tolist()
    assert parts.high.tolist() == whole.high.tolist()


def test_the_inverse_gives_the_action_of_a_displacement():
    actions, moved = data(0, noise=0.0)
    motion = LinearMotion.of(actions, moved)
    wanted = np.array([0.3, -0.2])
    np.testing.assert_allclose(wanted @ motion.inverse @ motion.forward, wanted)
    assert motion.explained == pytest.approx(1.0)


def test_nothing_is_explained_where_nothing_moves():
    assert LinearMotion.of(np.ones((4, 1)), np.zeros((4, 2))).explained == 0.0
