from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_reference import dense, worlds

from fwrl.errors import FwrlError
from fwrl.oracle import by_final_state, q_from_f
from fwrl.worlds import from_outcomes


def expected_total(world, policy, steps):
    """Q(s, a) by looking `steps` steps ahead, from the last one backwards."""
    P, paid = dense(world)
    V = np.zeros(world.n_states)
    for _ in range(steps):
        Q = paid.sum(axis=-1) + P @ V
        V = Q[np.arange(world.n_states), policy]
    return Q


@settings(max_examples=100)
@given(worlds(), st.integers(1, 7), st.data())
def test_q_is_the_sum_of_p_times_f_over_final_states(world, steps, data):
    action = st.integers(0, world.n_actions - 1)
    S = world.n_states
    policy = np.array(data.draw(st.lists(action, min_size=S, max_size=S)))
    P, F = by_final_state(world, policy, steps)
    np.testing.assert_allclose(P.sum(axis=-1), 1, rtol=1e-12)
    np.testing.assert_array_equal(np.isneginf(F), P == 0)
    assert not np.isnan(F).any()
    expected = expected_total(world, policy, steps)
    np.testing.assert_allclose(q_from_f(P, F), expected, rtol=1e-9, atol=1e-9)


def test_final_states_of_two_throws_as_drawn_by_hand():
    # Heads keeps playing at -1, tails leaves with +2: HH, HT and T are all there is in two steps.
    coin = from_outcomes("coin", [[[(0.5, 0, -1), (0.5, 1, 2)]], [[(1, 1, 0)]]])
    P, F = by_final_state(coin, [0, 0], steps=2)
    np.testing.assert_allclose(P[0, 0], [1 / 4, 3 / 4])
    np.testing.assert_allclose(F[0, 0], [-2, (1 / 4 * 1 + 1 / 2 * 2) / (3 / 4)])


def test_with_the_chance_of_arriving_within_the_episode_the_relation_is_false():
    # 0 -> 1 -> 2 for certain, -1 a step, in an episode of two steps: the total reward is -2. Both 1
    # and 2 are arrived at within the episode, at path rewards -1 and -2, so that sum says -3.
    line = from_outcomes("line", [[[(1, 1, -1)]], [[(1, 2, -1)]], [[(1, 2, 0)]]])
    arrived = np.array([[[0.0, 1.0, 1.0]]])
    path_reward = np.array([[[-np.inf, -1.0, -2.0]]])
    assert arrived.sum() == 2
    assert q_from_f(arrived, path_reward).item() == -3
    P, F = by_final_state(line, [0, 0, 0], steps=2)
    assert q_from_f(P, F)[0, 0] == -2


def test_an_episode_has_at_least_the_step_that_takes_the_action():
    line = from_outcomes("line", [[[(1, 0, -1)]]])
    with pytest.raises(FwrlError, match="at least 1 step"):
        by_final_state(line, [0], steps=0)


def test_p_and_f_of_different_shapes_are_refused():
    with pytest.raises(FwrlError, match="same shape"):
        q_from_f(np.ones((1, 1, 2)), np.ones((1, 1, 1)))
