"""The solver against linear programs, exact fractions and closed forms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from counted_models import (
    Floats,
    Model,
    best_arrival,
    exactly_evaluated,
    known_part,
    least_above,
    models,
    outcomes_in,
)
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import compiled_only, examples

from fwrl.errors import UncertifiedError
from fwrl.kernels.mdp import evaluation, policy_iteration
from fwrl.kernels.mdp.counts import outcomes_of
from fwrl.kernels.mdp.policy_iteration import PositiveMeanError
from fwrl.kernels.mdp.solver import solve

TIE = Fraction(1, 10**9)
ANY = st.sampled_from([0.0, 0.0, -1.0, -0.25, -3.0])


def best_rewards(model: Model, goal: int, p: Floats) -> Floats:
    """(S,) the least v with v >= r + sum w v over the actions that attain p: a linear program."""
    rows, right, S = [], [], len(model)
    for s, actions in enumerate(model):
        for action in filter(None, actions):
            total = sum(n for n, _ in action.values())
            mass = {y: n * p[y] for y, (n, _) in action.items() if p[y] > 1e-12}
            if p[s] <= 1e-12 or sum(mass.values()) < total * p[s] * (1 - 1e-9):
                continue
            row = np.zeros(S)
            row[s] -= 1.0
            for y, m in mass.items():
                row[y] += m / sum(mass.values())
            rows.append(row)
            right.append(-sum(m / sum(mass.values()) * action[y][1] for y, m in mass.items()))
    bounds = [(0, 0) if s == goal or p[s] <= 1e-12 else (None, 0) for s in range(S)]
    return np.where(p > 1e-12, least_above(rows, right, bounds), -np.inf)


def rarest(model: Model) -> float:
    """The product of the least probability of an outcome of each state: about how rarely a loop may be left."""
    least = 1.0
    for actions in model:
        shares = [
            n / sum(m for m, _ in action.values()) for action in filter(None, actions) for n, _ in action.values()
        ]
        least *= min(shares, default=1.0)
    return least


def check_exactly(model: Model, goal: int, closed: set[int]) -> None:
    """In exact arithmetic the policy is worth what the solver says, and no action improves on it.

    Or the solver refuses, which it may only where a loop is hardly ever left.
    """
    mask = np.isin(np.arange(len(model)), list(closed))
    try:
        found = solve(outcomes_in(model), goal, mask)
    except UncertifiedError:
        assert rarest(model) < 1e-7
        return
    kept, arrives = known_part(model, goal, closed)
    first = outcomes_in(model).first_pair
    choice = {s: int(found.pair[s] - first[s]) for s in np.flatnonzero(found.pair >= 0).tolist()}
    assert set(choice) == arrives - {goal}
    p, v = exactly_evaluated(kept, goal, choice)
    for s in choice:
        assert found.p[s] == pytest.approx(float(p[s]), rel=float(2 * TIE))  # the policy may take an action that ties
        assert found.v[s] == pytest.approx(float(v[s]), rel=1e-9, abs=1e-12)
        for action in filter(None, kept[s]):
            mass = {y: n * p.get(y, Fraction(0)) for y, (n, _) in action.items()}
            chance = sum(mass.values()) / sum(n for n, _ in action.values())
            assert chance <= p[s] * (1 + TIE)
            if chance == p[s]:
                worth = sum(m * (Fraction(action[y][1]) + v[y]) for y, m in mass.items() if m) / sum(mass.values())
                assert worth <= v[s] + TIE * max(abs(v[s]), Fraction(1, 1000))
    rest = [s for s in range(len(model)) if s not in arrives]
    assert np.all(found.p[rest] == 0)
    assert np.all(np.isneginf(found.v[rest]))


@given(models(), st.data())
@examples(300)
def test_the_policy_is_worth_what_is_said_and_no_action_improves_on_it(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    closed = data.draw(st.sets(st.integers(0, len(model) - 1), max_size=2))
    check_exactly(model, goal, closed)


@given(models(rewards=ANY), st.data())
@examples(200)
def test_loops_without_reward_hold_nothing_up(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    check_exactly(model, goal, set())


@given(models(most_states=6), st.data())
@examples(150)
def test_rewards_given_arrival_are_the_linear_programs(model, data):
    model = [[{y: (min(n, 5), r) for y, (n, r) in action.items()} for action in actions] for actions in model]
    goal = data.draw(st.integers(0, len(model) - 1))
    kept, _ = known_part(model, goal, set())
    found = solve(outcomes_in(model), goal)
    v = best_rewards(kept, goal, best_arrival(kept, goal))
    np.testing.assert_allclose(found.v, v, rtol=1e-6, atol=1e-6)


@given(models(most_states=6), st.floats(0.5, 40.0), st.data())
@examples(150)
def test_with_a_penalty_values_are_the_linear_programs(model, cost, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    kept, arrives = known_part(model, goal, set())
    rows, right, S = [], [], len(model)
    for s, actions in enumerate(kept):
        for action in filter(None, actions if s in arrives else ()):  # who cannot arrive gives up at once
            total = sum(n for n, _ in action.values())
            row = np.zeros(S)
            row[s] -= 1.0
            for y, (n, _) in action.items():
                row[y] += n / total
            rows.append(row)
            right.append(-sum(n * r for n, r in action.values()) / total)
    bounds = [(0, 0) if s == goal else (-cost, None if s in arrives else -cost) for s in range(S)]
    truth = least_above(rows, right, bounds)
    np.testing.assert_allclose(solve(outcomes_in(model), goal, penalty=cost).v, truth, rtol=1e-6, atol=1e-6)


EXTREME = st.sampled_from([1, 10**5, 10**9, 10**14])


@given(models(rewards=ANY, times=EXTREME), st.data())
@examples(300)
def test_counts_of_every_size_are_solved_exactly(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    check_exactly(model, goal, set())


@pytest.mark.parametrize("rare", [100, 10**4, 2**40, 10**14, 10**30])
def test_nested_loops_left_once_in_a_large_number_are_solved_or_refused(rare):
    """The inner loop of 0 and 1 is left once in `rare` for 2, and 2 is left once in `rare` for the goal 3."""
    model: Model = [[{1: (rare, -1.0), 2: (1, -1.0)}], [{0: (1, -1.0)}], [{0: (rare, -1.0), 3: (1, -1.0)}], []]
    if rare > 10**5:
        with pytest.raises(UncertifiedError, match="some loop is hardly ever left"):
            solve(outcomes_in(model), 3)
        return
    found = solve(outcomes_in(model), 3)
    inner = 2 * rare + 1  # steps from 0 to 2
    outer = rare * (inner + 1) + 1  # steps from 2 to 3
    np.testing.assert_allclose(
        found.v[:3], [-float(inner + outer), -float(inner + outer + 1), -float(outer)], rtol=1e-9
    )
    assert found.error <= 1e-9


def test_of_two_pairs_that_seldom_leave_a_loop_the_likelier_is_taken():
    """Both come back to 0 but once in 2^20 and once in 3 * 2^20."""
    often = 2**20
    leaves = [{1: (3 * often, -1.0), 2: (1, -1.0)}, {1: (often, -1.0), 2: (1, -1.0)}]
    found = solve(outcomes_in([leaves, [{0: (1, -1.0)}], []]), 2)
    assert found.pair[0] == 1
    assert found.v[0] == pytest.approx(-(2.0 * often + 1), rel=1e-9)


def test_where_arriving_is_certain_not_even_a_tiny_chance_of_failing_is_taken():
    cheap = {1: (10_000_000_000, -1.0), 2: (1, -1.0)}
    found = solve(outcomes_in([[{1: (1, -100.0)}, cheap], [], [{2: (1, 0.0)}]]), 1)
    assert found.p[0] == 1.0
    assert found.v[0] == -100.0


@pytest.mark.parametrize("rare", [10**3, 10**14])
def test_a_positive_loop_left_once_in_a_large_number_is_solved_or_refused(rare):
    """Round the loop of the first two states gains 1, and it is left once in `rare` either way."""
    loop = [[{1: (rare, 2.0), 2: (1, -1.0)}], [{0: (rare, -1.0), 2: (1, -1.0)}]]
    check_exactly([*loop, [{0: (rare, -1.0), 3: (1, -1.0)}, {3: (1, -5.0)}], []], 3, set())


def test_a_penalty_may_be_an_integer():
    model: Model = [[{1: (3, -1.0), 2: (1, -1.0)}], [], [{2: (1, -1.0)}]]
    assert solve(outcomes_in(model), 1, penalty=10).v[0] == -3.5


def test_values_near_zero_by_cancellation_are_certified():
    # Round the loop: 0.3 there and 0.1 back on average, and it is left every other time.
    model: Model = [[{1: (1, 0.1)}], [{2: (1, 0.2)}], [{0: (1, -0.7), 3: (1, 0.1)}], []]
    np.testing.assert_allclose(solve(outcomes_in(model), 3).v[:3], [0.0, -0.1, -0.3], atol=1e-9)


def walk(n: int):
    """A fair random walk on 0 .. n that is reflected at 0, one action."""
    states = np.arange(n)
    target = np.stack([np.maximum(states - 1, 0), states + 1], axis=1).ravel()
    return outcomes_of(n + 1, states, np.repeat(states, 2), target, np.ones(2 * n), -np.ones(2 * n))


@compiled_only
@pytest.mark.parametrize("n", [1, 2, 300, 1000, 10_000])
def test_a_random_walk_takes_the_square_of_its_length(n):
    found = solve(walk(n), n)
    s = np.arange(n + 1, dtype=float)
    np.testing.assert_allclose(found.v, -(n * (n + 1) - s * (s + 1)), rtol=1e-9)
    assert np.all(found.p == 1.0)
    assert found.error <= 1e-9


@compiled_only
@pytest.mark.parametrize(("n", "up"), [(10, 1), (400, 1), (400, 3)])
def test_gamblers_ruin(n, up):
    states = np.arange(1, n)
    target = np.stack([states - 1, states + 1], axis=1).ravel()
    times = np.tile([1.0, up], n - 1)
    stay = outcomes_of(
        n + 1,
        np.arange(n),  # ruin at 0 is never left
        np.concatenate([[0], np.repeat(states, 2)]),
        np.concatenate([[0], target]),
        np.concatenate([[1.0], times]),
        np.full(2 * n - 1, -1.0),
    )
    s, odds = np.arange(n + 1, dtype=float), 1.0 / up
    truth = s / n if up == 1 else (1 - odds**s) / (1 - odds**n)
    np.testing.assert_allclose(solve(stay, n).p, truth, rtol=1e-9)


@pytest.mark.parametrize("tries", [10, 10**6, 10**9])
def test_a_loop_of_two_states_that_is_left_once_in_a_billion(tries):
    model: Model = [[{1: (1, -1.0)}], [{0: (tries, -1.0), 2: (1, -1.0)}], []]
    found = solve(outcomes_in(model), 2)
    np.testing.assert_allclose(found.v, [-(2 * tries + 2), -(2 * tries + 1), 0.0], rtol=1e-9)
    assert np.all(found.p == 1.0)


@pytest.mark.parametrize("q", [0.5, 0.1, 0.001])
def test_a_corridor_with_a_portal(q):
    # The portal leads to the goal, or into a trap; walking takes n steps and arrives surely.
    n, tries = 20, 1000
    portal = {n: (round(q * tries), -1.0), n + 1: (tries - round(q * tries), -1.0)}
    model: Model = [[{s + 1: (1, -1.0)}] for s in range(n)] + [[], [{n + 1: (1, -1.0)}]]
    model[0].append(portal)
    outcomes = outcomes_in(model)
    assert solve(outcomes, n).v[0] == pytest.approx(-n)
    gambling = solve(outcomes, n, penalty=5.0)
    assert gambling.v[0] == pytest.approx(max(-5.0, -1 - (1 - q) * 5.0))
    assert gambling.p[0] == pytest.approx(q if q == 0.5 else 0.0)


def test_a_positive_cycle_is_refused_and_named():
    model: Model = [[{1: (1, 2.0)}, {2: (1, -1.0)}], [{0: (1, -1.0)}], []]
    with pytest.raises(PositiveMeanError) as refused:
        solve(outcomes_in(model), 2)
    assert sorted(refused.value.pairs.tolist()) == [0, 2]


def test_a_positive_loop_that_every_policy_leaves_is_solved():
    # Two steps round the loop gain 1, and half of the time it is left for the goal: 3 = 1 + half of 3 + half of 1.
    model: Model = [[{1: (1, 2.0)}], [{0: (1, -1.0), 2: (1, -1.0)}], []]
    found = solve(outcomes_in(model), 2)
    np.testing.assert_allclose(found.v, [2.0, 0.0, 0.0], atol=1e-9)


def test_thousands_of_actions_one_state_and_an_unreachable_goal():
    rng = np.random.default_rng(0)
    rewards = -rng.uniform(1, 2, 5000)
    many = outcomes_of(2, np.zeros(5000, int), np.arange(5000), np.ones(5000, int), np.ones(5000), rewards)
    assert solve(many, 1).v[0] == rewards.max()
    alone = outcomes_of(1, [], [], [], [], [])
    assert solve(alone, 0).v.tolist() == [0.0]
    apart = solve(outcomes_in([[{0: (1, -1.0)}], []]), 1)
    assert (apart.p.tolist(), apart.v.tolist(), apart.pair.tolist()) == ([0.0, 1.0], [-np.inf, 0.0], [-1, -1])


@given(models(most_states=7), st.data())
@examples(60)
def test_every_way_of_solving_gives_the_same(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    outcomes = outcomes_in(model)
    try:
        usual = solve(outcomes, goal)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(policy_iteration, "ROUNDS", 0)  # exact policy iteration instead of sweeps
            patch.setattr(evaluation, "PATIENCE", 0)  # and factorisations in it
            exact = solve(outcomes, goal)
    except UncertifiedError:
        assert rarest(model) < 1e-7
        return
    np.testing.assert_allclose(usual.v, exact.v, rtol=1e-8)
    np.testing.assert_allclose(usual.p, exact.p, rtol=1e-9, atol=1e-12)
