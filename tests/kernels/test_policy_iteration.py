"""The incremental plan equals an independent solution of the counted model, after every step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import UNCOMPILED, examples

from fwrl.agents import make_agent
from fwrl.kernels.graph.edges import count_edge, no_edges, with_capacity
from fwrl.kernels.model import policy_iteration
from fwrl.kernels.model.plan import QUEUED, TOUCHED, no_plan, settled
from fwrl.kernels.model.policy_iteration import outcome_of, plan_for, update_plan
from fwrl.oracle import optimum
from fwrl.worlds import from_outcomes


@st.composite
def histories(draw, certain=False):
    """(S, A, steps): outcomes vary, with wall bumps, traps, free steps and loops without cost."""
    S, A = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    reward = st.sampled_from([0.0, -1.0, -0.25, -2.5e-4, -3.0])
    step = st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), reward, st.integers(0, S - 1))
    steps = draw(st.lists(step, min_size=1, max_size=25))
    if certain:
        seen: dict[tuple[int, int], tuple[float, int]] = {}
        steps = [(s, a, *seen.setdefault((s, a), (r, n))) for s, a, r, n in steps]
    return S, A, steps


def counted(S, A, steps):
    """The empirical model as a world: frequencies and mean rewards; untried actions stay put."""
    table: list[list[dict[int, list[float]]]] = [[{} for _ in range(A)] for _ in range(S)]
    for s, a, r, n in steps:
        table[s][a].setdefault(n, []).append(r)
    outcomes: list[list[list[tuple[float, int, float]]]] = []
    for s in range(S):
        outcomes.append([])
        for a in range(A):
            total = sum(len(rewards) for rewards in table[s][a].values())
            listed = [(len(rs) / total, n, float(np.mean(rs))) for n, rs in table[s][a].items()]
            outcomes[s].append(listed or [(1.0, s, -1.0)])
    return from_outcomes("counted", outcomes)


@given(histories(), st.data())
@examples(200)
def test_the_plan_equals_the_oracle_of_the_counted_model_after_every_step(history, data):
    S, A, steps = history
    goal = data.draw(st.integers(0, S - 1))
    agent = make_agent("mbrl", S, A)
    agent.begin_episode(goal)
    for n, step in enumerate(steps):
        agent.observe(*step)
        truth = optimum(counted(S, A, steps[: n + 1]), goal)
        np.testing.assert_allclose(agent.arrivals(goal), truth.arrival, atol=1e-7)
        np.testing.assert_allclose(agent.values(goal), truth.value, rtol=1e-6, atol=1e-6)


@given(histories())
@examples(60)
def test_a_goal_asked_for_is_planned_like_a_goal_in_use(history):
    S, A, steps = history
    agent, asked = make_agent("mbrl", S, A), make_agent("mbrl", S, A)
    for step in steps:
        agent.observe(*step)
        asked.observe(*step)
    for goal in range(S):
        agent.begin_episode(goal)
        np.testing.assert_allclose(agent.values(goal), asked.values(goal), rtol=1e-9)


@given(histories(certain=True))
@examples(100)
def test_where_outcomes_are_certain_the_plan_equals_the_closure(history):
    S, A, steps = history
    model, closure = make_agent("mbrl", S, A), make_agent("fwrl", S, A)
    for step in steps:
        model.observe(*step)
        closure.observe(*step)
    for goal in range(S):
        np.testing.assert_allclose(model.values(goal), closure.values(goal), rtol=1e-9, atol=1e-9)


def test_a_slippery_step_is_worth_its_number_of_tries():
    agent = make_agent("mbrl", 2, 1)
    for next_state in [0, 0, 0, 1]:  # one try in four gets across: four tries on average
        agent.observe(0, 0, -1.0, next_state)
    assert np.isclose(agent.value(0, 1), -4.0)


@pytest.mark.parametrize("gains", [False, True])
def test_a_loop_hardly_ever_left_is_left_unsettled_and_is_no_positive_cycle(gains, monkeypatch):
    """0 and 1 lead to each other, and once in 2^31 to the goal 2."""
    if UNCOMPILED:
        monkeypatch.setattr(policy_iteration, "MOST_EVALUATIONS", 2000)
    edges = with_capacity(no_edges(3, 1), 4)
    for s, reward, n in ((0, -1.0, 1), (1, 2.0 if gains else -1.0, 0), (1, -1.0, 2)):
        count_edge(edges, s, n, reward)
    plan = no_plan(3)
    assert plan_for(edges, plan, 2)
    assert settled(plan)
    edges.times[1] = 2**31
    edges.total[1] *= 2.0**31
    assert plan_for(edges, plan, 2) is not gains
    assert not settled(plan)
    assert plan.size[QUEUED] == plan.size[TOUCHED] == 0
    assert not plan.queued.any()
    assert not plan.is_touched.any()


@given(histories(), st.data())
@examples(100)
def test_a_plan_updated_or_made_from_scratch_is_the_oracles(history, data):
    S, A, steps = history
    goal = data.draw(st.integers(0, S - 1))
    edges, plan = with_capacity(no_edges(S, A), len(steps)), no_plan(S)
    assert plan_for(edges, plan, goal)
    for s, a, r, n in steps:
        count_edge(edges, s * A + a, n, r)
        assert update_plan(edges, plan, s, a, goal)
    scratch = no_plan(S)
    assert plan_for(edges, scratch, goal)
    truth = optimum(counted(S, A, steps), goal)
    for made in (plan, scratch):
        assert settled(made)
        np.testing.assert_allclose(made.p, truth.arrival, atol=1e-7)
        np.testing.assert_allclose(made.v, truth.value, rtol=1e-6, atol=1e-6)
    for s in set(range(S)) - {goal}:
        p, v = zip(*(outcome_of(edges, plan, s * A + a) for a in range(A)), strict=True)
        assert max(p) == pytest.approx(plan.p[s], abs=1e-7)
        if plan.p[s] > 0:
            likely = [v[a] for a in range(A) if p[a] >= max(p) - 1e-9]
            assert max(likely) == pytest.approx(plan.v[s], rel=1e-6, abs=1e-6)
