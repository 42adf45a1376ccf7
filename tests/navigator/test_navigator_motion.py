"""The linear model of motion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwrl.navigator.motion import LinearMotion


def data(seed, n=60, noise=0.1):
    rng = np.random.default_rng(seed)
    actions, velocities = rng.uniform(-1, 1, (n, 3)), rng.normal(size=(n, 2))
    moved = actions @ rng.normal(size=(3, 2)) + velocities @ rng.normal(size=(2, 2)) + noise * rng.normal(size=(n, 2))
    return actions, velocities, moved


@given(st.integers(0, 10_000))
def test_it_is_the_least_squares_solution(seed):
    actions, velocities, moved = data(seed)
    expected, residual, *_ = np.linalg.lstsq(np.hstack([actions, velocities]), moved, rcond=None)
    motion = LinearMotion.of(actions, velocities, moved)
    np.testing.assert_allclose(np.vstack([motion.forward, motion.momentum]), expected, atol=1e-9)
    np.testing.assert_allclose(motion.predict(actions, velocities), np.hstack([actions, velocities]) @ expected)
    np.testing.assert_allclose(motion.explained, 1 - residual.sum() / np.square(moved).sum(), atol=1e-9)


@given(st.integers(0, 10_000), st.integers(0, 60))
def test_updates_equal_one_fit_of_everything(seed, cut):
    columns = data(seed)
    before, after = ([column[part] for column in columns] for part in (slice(None, cut), slice(cut, None)))
    parts = LinearMotion.of(*before).updated(LinearMotion.of(*after))
    whole = LinearMotion.of(*columns)
    np.testing.assert_allclose(parts.forward, whole.forward, atol=1e-9)
    np.testing.assert_allclose(parts.explained, whole.explained, atol=1e-9)
    assert parts.low.tolist() == whole.low.tolist()
    assert parts.high.tolist() == whole.high.tolist()


def test_the_inverse_gives_the_action_of_a_displacement():
    motion = LinearMotion.of(*data(0, noise=0.0))
    wanted = np.array([0.3, -0.2])
    np.testing.assert_allclose(wanted @ motion.inverse @ motion.forward, wanted)
    assert motion.explained == pytest.approx(1.0)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e7, 1e9, 1e12])
def test_units_of_coordinates_change_nothing_but_the_units(unit):
    actions, velocities, moved = data(1)
    motion, rescaled = (
        LinearMotion.of(actions, velocities, moved),
        LinearMotion.of(actions, velocities * unit, moved * unit),
    )
    np.testing.assert_allclose(rescaled.forward / unit, motion.forward, rtol=1e-9)
    np.testing.assert_allclose(rescaled.momentum, motion.momentum, rtol=1e-9)
    np.testing.assert_allclose(rescaled.inverse * unit, motion.inverse, rtol=1e-9)
    assert rescaled.explained == pytest.approx(motion.explained)


def test_nothing_is_explained_where_nothing_moves():
    assert LinearMotion.of(np.ones((4, 1)), np.zeros((4, 2)), np.zeros((4, 2))).explained == 0.0
