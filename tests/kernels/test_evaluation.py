"""Policy evaluation against exact fractions: values, and the bound on their error."""

from __future__ import annotations

import numpy as np
import pytest
from counted_models import exactly_evaluated, known_part, models, outcomes_in
from hypothesis import assume, given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.arrays import empty
from fwrl.kernels.heap import Heap
from fwrl.kernels.mdp.equations import fill_reward, no_equations, search_reward, trimmed, weigh_pairs
from fwrl.kernels.mdp.evaluation import chain_of, evaluate, factorised
from fwrl.kernels.mdp.reachability import ARRIVES, reach_of


def first_policy(model, goal):
    """The equations of the states that arrive surely, their order, and a policy that arrives."""
    outcomes, S = outcomes_in(model), len(model)
    status, sure = reach_of(outcomes, goal)
    p = (sure == 1).astype(float)
    K = len(outcomes.source)
    mass, reward = np.empty(K), np.empty(K)
    weigh_pairs(outcomes, status, p, 1.0, mass, reward)
    guess, choice, order = np.zeros(S), np.full(S, -1), np.empty(S, np.int32)
    found = search_reward(outcomes, p, goal, mass, reward, False, empty(Heap, {"S": S}), guess, choice, order)
    order = order[:found]
    rank = np.full(S, -1, np.int32)
    rank[order] = np.arange(found)
    equations, used = no_equations(found, K, len(outcomes.target))
    fill_reward(outcomes, status, p, 1.0, order, rank, equations, used)
    equations = trimmed(equations, used)
    place = {int(pair): k for k, pair in enumerate(equations.pair)}
    policy = np.array([0, *(place[int(choice[s])] for s in order[1:])], np.int64)
    assert np.all(status[order] == ARRIVES)
    return outcomes, equations, order, policy, choice


@pytest.mark.parametrize("method", [evaluate, lambda *args: factorised(*args)[0]], ids=["sweeps", "factorised"])
@given(models(), st.data())
@examples(150)
def test_values_are_exact_within_the_bound(method, model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    outcomes, equations, order, policy, choice = first_policy(model, goal)
    assume(len(order) > 1)
    x, h = np.zeros(len(order)), np.zeros(len(order))
    bound = method(equations, policy, x, h)
    kept, _ = known_part(model, goal, set())
    chosen = {int(s): int(choice[s] - outcomes.first_pair[s]) for s in order[1:]}
    _, truth = exactly_evaluated(kept, goal, chosen)
    for i, s in enumerate(order.tolist()):
        assert x[i] == pytest.approx(float(truth[s]), rel=max(bound, 1e-11))
    assert bound <= 1e-9 or h.max() > 1e8  # where steps are counted in billions, extended precision limits the bound


@given(models(), st.data())
@examples(60)
def test_the_chain_of_a_policy_has_its_pairs_outcomes(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    _, equations, order, policy, _ = first_policy(model, goal)
    chain = chain_of(equations, policy)
    for i in range(1, len(order)):
        mine = chain.row == i - 1
        edges = slice(equations.first[policy[i]], equations.first[policy[i] + 1])
        np.testing.assert_array_equal(chain.target[mine], equations.target[edges])
        np.testing.assert_array_equal(chain.w[mine], equations.w[edges])
        assert chain.r[i - 1] == equations.r[policy[i]]
