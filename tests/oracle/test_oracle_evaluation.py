from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_reference import chain_answer, dense, worlds

from fwrl.errors import FwrlError
from fwrl.oracle import evaluate, optimum, path_function
from fwrl.worlds import World, from_outcomes


def drawn_policy(data: st.DataObject, world: World) -> np.ndarray:
    weights = st.lists(st.integers(0, 3), min_size=world.n_actions, max_size=world.n_actions)
    rows = [data.draw(weights.filter(any)) for _ in range(world.n_states)]
    policy: np.ndarray = np.array(rows) / np.sum(rows, axis=1, keepdims=True)
    return policy


@settings(max_examples=150)
@given(worlds(), st.data())
def test_a_stochastic_policy_is_worth_what_its_markov_chain_is(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    policy = drawn_policy(data, world)
    P, paid = dense(world)
    chances = policy[:, None, :]
    p, v, steps = chain_answer((chances @ P)[:, 0], (chances @ paid)[:, 0], goal)
    found = evaluate(world, policy, goal)
    np.testing.assert_allclose(found.arrival, p, rtol=1e-10)
    np.testing.assert_allclose(found.value, v, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.steps, steps, rtol=1e-8)


@settings(max_examples=100)
@given(worlds(), st.data())
def test_actions_and_their_certain_probabilities_are_the_same_policy(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    action = st.integers(0, world.n_actions - 1)
    S = world.n_states
    policy = np.array(data.draw(st.lists(action, min_size=S, max_size=S)))
    listed = evaluate(world, policy, goal)
    certain = evaluate(world, np.eye(world.n_actions)[policy], goal)
    np.testing.assert_array_equal(listed.arrival, certain.arrival)
    np.testing.assert_array_equal(listed.value, certain.value)


@settings(max_examples=100)
@given(worlds(), st.data())
def test_the_path_function_is_the_first_step_weighted_by_who_arrives(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    policy = drawn_policy(data, world)
    P, paid = dense(world)
    chances = policy[:, None, :]
    p, v, _ = chain_answer((chances @ P)[:, 0], (chances @ paid)[:, 0], goal)
    arrival = P @ p
    total = paid @ p + P @ np.where(p > 0, p * np.where(p > 0, v, 0), 0)
    expected = np.full_like(total, -np.inf)
    np.divide(total, arrival, out=expected, where=arrival > 0)
    found = path_function(world, policy, goal)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_the_path_function_of_the_best_policy_is_the_best_action_value():
    # Action 1 goes round through state 1 at twice the price.
    fork = from_outcomes("fork", [[[(1, 2, -1)], [(1, 1, -1)]], [[(1, 2, -1)]] * 2, [[(1, 2, 0)]] * 2])
    best = optimum(fork, 2)
    assert path_function(fork, best.policy, 2).tolist() == [[-1, -2], [-1, -1], [0, 0]]
    assert best.action_value.tolist() == [[-1, -2], [-1, -1], [0, 0]]


@pytest.mark.parametrize("n", [2, 5, 12])
def test_a_gambler_is_ruined_as_the_textbook_says(n):
    # Fair coin from i: reaches n before 0 with probability i / n, then in (n^2 - i^2) / 3 steps.
    row = [[[(0.5, i - 1, -2), (0.5, i + 1, -2)]] for i in range(1, n)]
    walk = from_outcomes("walk", [[[(1, 0, 0)]], *row, [[(1, n, 0)]]])
    found = evaluate(walk, np.zeros(n + 1, dtype=int), n)
    i = np.arange(1, n + 1)
    np.testing.assert_allclose(found.arrival, np.arange(n + 1) / n, atol=1e-12)
    np.testing.assert_allclose(found.steps[1:], (n**2 - i**2) / 3, atol=1e-9)
    np.testing.assert_allclose(found.value[1:], -2 * (n**2 - i**2) / 3, atol=1e-9)
    assert (found.value[0], found.steps[0]) == (-np.inf, np.inf)


@pytest.mark.parametrize(
    "policy",
    [
        [0, 2],
        [-1, 0],
        [0.0, 1.0],
        [0],
        [[0.5, 0.4], [1, 0]],
        [[1.5, -0.5], [1, 0]],
        [[np.nan] * 2] * 2,
    ],
)
def test_what_is_no_policy_is_refused(policy):
    world = from_outcomes("two", [[[(1, 1, 0)]] * 2, [[(1, 1, 0)]] * 2])
    with pytest.raises(FwrlError, match=r"expected a|must be probabilities"):
        evaluate(world, policy, 1)
