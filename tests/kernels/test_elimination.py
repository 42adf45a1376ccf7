"""Elimination without subtractions against exact fractions: values, switches, and the accuracy it claims."""

from __future__ import annotations

from decimal import localcontext

import numpy as np
import pytest
from counted_models import exactly_evaluated, known_part, models
from hypothesis import assume, given
from hypothesis import strategies as st
from kernel_examples import examples
from test_evaluation import first_policy

from fwrl.kernels.model import elimination
from fwrl.kernels.model.elimination import evaluate_exactly, iterate_exactly
from fwrl.kernels.model.exact_policy_iteration import iterate
from fwrl.kernels.model.outcomes import outcomes_of
from fwrl.kernels.model.solver import solve

COUNTS = st.sampled_from([1, 2, 7, 10**6, 2**40, 10**25])


@given(models(times=COUNTS), st.data())
@examples(150)
def test_values_are_those_of_exact_fractions_however_rarely_loops_are_left(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    outcomes, equations, order, policy, choice = first_policy(model, goal)
    assume(len(order) > 1)
    x = np.zeros(len(order))
    assert evaluate_exactly(equations, policy, x) <= 1e-15
    chosen = {int(s): int(choice[s] - outcomes.first_pair[s]) for s in order[1:]}
    _, truth = exactly_evaluated(known_part(model, goal, set())[0], goal, chosen)
    for i, s in enumerate(order.tolist()):
        assert x[i] == pytest.approx(float(truth[s]), rel=1e-13)  # probabilities are rounded before


@given(models(), st.data())
@examples(100)
def test_policy_iteration_ends_where_that_in_floating_point_does(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    _, equations, order, policy, _ = first_policy(model, goal)
    x, in_floats = np.zeros(len(order)), np.zeros(len(order))
    iterate(equations, policy.copy(), in_floats)
    iterate_exactly(equations, policy, x)
    np.testing.assert_allclose(x, in_floats, rtol=1e-9)


@given(models(times=COUNTS), st.data())
@examples(60)
def test_the_bound_holds_with_few_digits(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    _, equations, order, policy, _ = first_policy(model, goal)
    with localcontext(prec=60):
        exact = elimination._evaluate(equations, policy)
    with localcontext(prec=12):
        rounded = elimination._evaluate(equations, policy)
    with localcontext(prec=60):
        for i in range(1, len(order)):
            assert abs(rounded.x[i] - exact.x[i]) <= rounded.error * exact.scale[i]
            assert abs(rounded.steps[i] - exact.steps[i]) <= rounded.error * exact.steps[i]


def test_digits_are_doubled_until_a_likelier_exit_is_told_from_a_rarer_one():
    """Two exits of a loop of three states, one of them half as rare: the difference is in the 45th digit."""
    rare = 10**22
    loop = [{1: (rare, -1.0), 3: (1, -1.0)}]
    exits = [{0: (2 * rare, -1.0), 3: (1, -1.0)}, {0: (rare, -1.0), 3: (1, -1.0)}]
    _, equations, order, policy, _ = first_policy([loop, [{2: (1, -1.0)}], exits, []], 3)
    policy[order.tolist().index(2)] = equations.first_pair[order.tolist().index(2)]  # the rarer one
    x = np.zeros(4)
    iterate_exactly(equations, policy, x)
    assert x[order.tolist().index(0)] == pytest.approx(-1.5 * rare, rel=1e-9)


def test_a_long_chain_with_a_loop_hardly_ever_left_at_its_end():
    """From 0 one step at a time to n, from where all but one in 2^44 lead back to 0."""
    n, often = 3000, 2.0**44
    states = np.arange(n + 1)
    pair = np.append(states, n)
    target = np.append(states + 1, 0)
    times = np.append(np.ones(n + 1), often)
    found = solve(outcomes_of(n + 2, states, pair, target, times, -np.ones(n + 2)), n + 1)
    truth = -((often + 1) * (n + 1) - states)
    np.testing.assert_allclose(found.v[:-1], truth, rtol=1e-12)
    assert found.error <= 1e-9
