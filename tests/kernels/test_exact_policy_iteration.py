"""Properness, switching and positive cycles against networkx and brute force over all policies."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from counted_models import exactly_evaluated, known_part, models
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import examples
from test_evaluation import first_policy

from fwrl.kernels.mdp.policy_iteration import PositiveMeanError, iterate, never_arriving

REWARDS = st.sampled_from([-1.0, -0.5, 0.0, 0.5])


@given(models(), st.data())
@examples(100)
def test_states_that_never_arrive_are_those_without_a_path(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    _, equations, order, policy, _ = first_policy(model, goal)
    for i in range(1, len(order)):
        policy[i] = data.draw(st.integers(int(equations.first_pair[i]), int(equations.first_pair[i + 1]) - 1))
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(order)))
    for i in range(1, len(order)):
        edges = slice(equations.first[policy[i]], equations.first[policy[i] + 1])
        graph.add_edges_from((i, int(y)) for y in equations.target[edges])
    arriving = nx.ancestors(graph, 0) | {0}
    assert never_arriving(equations, policy).tolist() == sorted(set(range(len(order))) - arriving)


@given(models(most_states=4, rewards=REWARDS), st.data())
@examples(150)
def test_the_best_of_all_policies_is_found_or_a_positive_cycle_refused(model, data):
    goal = data.draw(st.integers(0, len(model) - 1))
    model = [[{y: (min(n, 5), r) for y, (n, r) in action.items()} for action in actions] for actions in model]
    outcomes, equations, order, policy, _ = first_policy(model, goal)
    x = np.zeros(len(order))
    kept, _ = known_part(model, goal, set())
    try:
        iterate(equations, policy, x)
    except PositiveMeanError as found:
        # Following the refused pairs for ever stays among their states, and gains.
        pairs = {int(outcomes.source[k]): int(k - outcomes.first_pair[outcomes.source[k]]) for k in found.pairs}
        assert all(set(kept[s][a]) <= set(pairs) for s, a in pairs.items())
        P, r = np.zeros((len(pairs), len(pairs))), np.zeros(len(pairs))
        place = {s: i for i, s in enumerate(pairs)}
        for s, a in pairs.items():
            total = sum(n for n, _ in kept[s][a].values())
            for y, (n, reward) in kept[s][a].items():
                P[place[s], place[y]] += n / total
                r[place[s]] += n / total * reward
        gain = np.linalg.lstsq(
            np.vstack([P.T - np.eye(len(r)), np.ones(len(r))]), np.append(np.zeros(len(r)), 1), rcond=None
        )
        assert gain[0] @ r > 0
        return
    choices = [range(int(equations.first_pair[i]), int(equations.first_pair[i + 1])) for i in range(1, len(order))]
    best = np.full(len(order), -np.inf)
    for chosen in itertools.product(*choices):
        trial = np.array([0, *chosen], np.int64)
        if len(never_arriving(equations, trial)):
            continue
        pairs = {
            int(order[i]): int(equations.pair[trial[i]] - outcomes.first_pair[order[i]]) for i in range(1, len(order))
        }
        _, v = exactly_evaluated(kept, goal, pairs)
        best = np.maximum(best, [float(v[int(s)]) for s in order])
    np.testing.assert_allclose(x, best, rtol=1e-9, atol=1e-9)


def test_a_zero_reward_loop_is_no_reason_to_stay():
    model = [[{1: (1, 0.0)}, {2: (1, -1.0)}], [{0: (1, 0.0)}], []]
    _, equations, _, policy, _ = first_policy(model, 2)
    x = np.zeros(3)
    iterate(equations, policy, x)
    assert x.tolist() == pytest.approx([0.0, -1.0, -1.0])
