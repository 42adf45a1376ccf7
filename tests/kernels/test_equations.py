"""The optimality equations against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from counted_models import known_part, models, outcomes_in
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples

from fwrl.kernels.mdp.equations import backed_up, fill_penalty, fill_reward, follow, improve, no_equations, trimmed
from fwrl.kernels.mdp.reachability import ARRIVES, reach_of


def laid_out(model, goal, fill):
    """The equations over all states that can arrive, in the order of their numbers, the goal first."""
    outcomes, S = outcomes_in(model), len(model)
    status, _ = reach_of(outcomes, goal)
    arriving = [s for s in range(S) if status[s] == ARRIVES and s != goal]
    order = np.array([goal, *arriving], np.int32)
    rank = np.full(S, -1, np.int32)
    rank[order] = np.arange(len(order))
    equations, used = no_equations(len(order), len(outcomes.source) + S, len(outcomes.target))
    fill(outcomes, status, order, rank, equations, used)
    return trimmed(equations, used), order


@given(models(), st.data())
@examples(150)
def test_a_backup_of_the_reward_equations_is_the_mean_over_arriving_outcomes(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    p = np.zeros(len(model))

    def fill(outcomes, status, order, rank, equations, used):
        p[:] = status == ARRIVES
        fill_reward(outcomes, status, p, 0.0, order, rank, equations, used)

    equations, order = laid_out(model, goal, fill)
    x = np.array([0.0, *data.draw(st.lists(st.floats(-9, 0), min_size=len(order) - 1, max_size=len(order) - 1))])
    value = dict(zip(order.tolist(), x.tolist(), strict=True))
    outcomes = outcomes_in(model)
    kept, arrives = known_part(model, goal, set())
    for k, pair in enumerate(equations.pair.tolist()):
        s = int(outcomes.source[pair])
        action = kept[s][pair - int(outcomes.first_pair[s])]
        seen = {y: (n, r) for y, (n, r) in action.items() if y in arrives}
        away = sum(n for y, (n, _) in seen.items() if y != s)
        # The action is repeated until it leads elsewhere.
        truth = sum(n * r for n, r in seen.values()) / away
        truth += sum(n * value[y] for y, (n, _) in seen.items() if y != s) / away
        assert backed_up(equations, x, k) == pytest.approx(truth, rel=1e-9)
        assert equations.leak[k] == 0.0


@given(models(), st.floats(1.0, 20.0), st.data())
@examples(100)
def test_improving_takes_the_best_pair_and_following_the_policy_s(model, cost, data):
    goal = data.draw(st.integers(0, len(model) - 1))

    def fill(outcomes, status, order, rank, equations, used):
        fill_penalty(outcomes, status, cost, order, rank, equations, used)

    equations, order = laid_out(model, goal, fill)
    N = len(order)
    x, policy = np.concatenate([[0.0], np.full(N - 1, -cost)]), np.zeros(N, np.int64)
    sums = [
        equations.leak[k] + equations.w[equations.first[k] : equations.first[k + 1]].sum()
        for k in range(len(equations.r))
    ]
    np.testing.assert_allclose(sums, 1.0)
    before = x.copy()
    settled, change = improve(equations, x, policy, 1, N, 1e-12)
    for i in range(1, N):
        pairs = range(equations.first_pair[i], equations.first_pair[i + 1])
        swept = np.where(np.arange(N) < i, x, before)  # states before it have their new values
        values = [backed_up(equations, swept, k) for k in pairs]
        assert x[i] == max(values) >= -cost
        assert values[policy[i] - pairs[0]] == x[i]
    changes = np.abs(x[1:] - before[1:]) / np.abs(x[1:])
    assert change == changes.max(initial=0.0)
    assert settled == 1 + (int(np.argmax(changes > 1e-12)) if (changes > 1e-12).any() else N - 1)
    again = x.copy()
    follow(equations, again, policy, 1, N)
    for i in range(1, N):
        swept = np.where(np.arange(N) < i, again, x)
        assert again[i] == backed_up(equations, swept, policy[i])
