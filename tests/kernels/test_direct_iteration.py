"""Elimination solves the equations of a policy, and updates of small plans that mix slowly need no new plan."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import compiled_only, examples

from fwrl.agents import make_agent
from fwrl.kernels.graph.edges import count_edge, no_edges, with_capacity
from fwrl.kernels.model import planning
from fwrl.kernels.model.direct_iteration import evaluate_policy
from fwrl.kernels.model.plan import FEW, no_plan
from fwrl.kernels.model.planning import make_plan
from fwrl.kernels.model.reachability import ARRIVES

A = 2


@given(st.data(), st.integers(2, 9))
@examples(150)
def test_values_of_a_policy_are_those_of_the_linear_system(data, S):
    step = st.tuples(
        st.integers(0, S - 1), st.integers(0, A - 1), st.sampled_from([-0.5, -1.0, -3.0]), st.integers(0, S - 1)
    )
    steps, g = data.draw(st.lists(step, min_size=1, max_size=60)), data.draw(st.integers(0, S - 1))
    edges = with_capacity(no_edges(S, A), len(steps))
    for s, a, r, y in steps:
        count_edge(edges, s * A + a, y, r)
    plan, closed = no_plan(S), np.zeros(S, np.int8)
    make_plan(edges, plan, closed, g)
    p, v = plan.p.copy(), plan.v.copy()
    acts = (plan.status == ARRIVES) & (plan.pi >= 0)
    plan.p[acts], plan.v[acts] = 0.5, -7.0  # to be found anew
    assert evaluate_policy(edges, plan, g)
    np.testing.assert_allclose(plan.p, p, rtol=1e-9)
    np.testing.assert_allclose(plan.v[acts], v[acts], rtol=1e-9)


@compiled_only
@pytest.mark.parametrize("S", [5, 20, FEW])
@pytest.mark.parametrize("explorer", ["epsilon-greedy", "optimistic"])
def test_a_fair_walk_on_few_states_is_updated_without_new_plans(monkeypatch, S, explorer):
    """A regression: every observation of a walk that mixes slowly took a new plan, which costs milliseconds."""
    agent = make_agent("mbrl", S, A, explorer=explorer)
    rng, s = np.random.default_rng(0), S // 2
    agent.begin_episode(S - 1)
    for _ in range(300):
        y = int(np.clip(s + rng.choice([-1, 1]), 0, S - 1))
        agent.observe(s, int(rng.integers(A)), -1.0, y)
        s = y if y != S - 1 else S // 2
    agent.settle()
    made: list[int] = []

    def counted(edges, plan, closed, goal):
        made.append(goal)
        planning.make_plan(edges, plan, closed, goal)

    monkeypatch.setattr("fwrl.agents.model.make_plan", counted)
    for _ in range(200):
        y = int(np.clip(s + rng.choice([-1, 1]), 0, S - 1))
        agent.observe(s, int(rng.integers(A)), -1.0, y)
        s = y if y != S - 1 else S // 2
    agent.settle()
    assert len(made) <= 40  # states met for the first time may need one
    tables, anew = agent.tables, no_plan(S, agent.tables.plan.optimism)
    make_plan(tables.edges, anew, tables.terminated, S - 1)
    np.testing.assert_allclose(tables.plan.v, anew.v, rtol=1e-8)
    np.testing.assert_allclose(tables.plan.p, anew.p, rtol=1e-9)
