"""The paper's schedule of epsilon, and what epsilon-greedy does with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples, from_python

from fwrl.kernels.exploration import EXPLORE, STEP, STEPS, epsilon, epsilon_greedy, explores

epsilon, explores = from_python(epsilon), from_python(explores)


@pytest.mark.parametrize("T", [1, 40, 400, 1000])
def test_epsilon_falls_from_a_half_to_a_thousandth(T):
    assert epsilon(0, T) == pytest.approx(0.5)
    assert epsilon(T, T) == pytest.approx(0.001)
    assert epsilon(10 * T, T) == pytest.approx(0.001)
    values = [epsilon(t, T) for t in range(T + 1)]
    assert np.all(np.diff(values) < 0)


def test_epsilon_at_a_tenth_of_the_episode_by_hand():
    by_hand = 0.001 + 0.499 * (np.exp(-2) - np.exp(-20)) / (1 - np.exp(-20))
    assert epsilon(40, 400) == pytest.approx(by_hand, rel=1e-14)


def test_without_exploring_only_the_best_is_taken():
    rng = np.random.default_rng(0)
    episode = np.array([0, 0, 10, 0])
    assert {epsilon_greedy(np.array([0.0, 1.0, 0.5]), episode, rng) for _ in range(200)} == {1}
    assert episode[STEP] == 200


def test_at_the_beginning_half_of_the_actions_are_random():
    rng = np.random.default_rng(0)
    taken = [epsilon_greedy(np.array([0.0, 1.0]), np.array([0, 0, 400, 1]), rng) for _ in range(4000)]
    # eps = 1/2 over two actions: the worse one a quarter of the time; 5 standard deviations.
    assert abs(taken.count(0) - 1000) < 5 * np.sqrt(4000 * 3 / 16)


@given(st.integers(0, 60), st.integers(1, 50), st.floats(0, 1, exclude_max=True), st.booleans())
@examples(200)
def test_a_draw_explores_where_it_is_below_the_papers_epsilon(t, T, u, explore):
    schedule = 0.001 + 0.499 * (np.exp(-20 * min(t / T, 1)) - np.exp(-20)) / (1 - np.exp(-20))
    assert epsilon(t, T) == pytest.approx(schedule, rel=1e-12)
    episode = np.zeros(4, np.int64)
    episode[STEP], episode[STEPS], episode[EXPLORE] = t, T, explore
    assert explores(u, episode) == (explore and u < epsilon(t, T))
    assert episode[STEP] == t + 1
