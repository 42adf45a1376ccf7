"""The plan that is kept current equals a plan from scratch, and an independent solution of the counted model."""

import contextlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import compiled_only, examples

from counted_reference import counted
from fwrl.agents import make_agent
from fwrl.errors import PositiveCycleError
from fwrl.kernels.graph.edges import NONE, count_edge, find_edge, no_edges, with_capacity
from fwrl.kernels.graph.heap import OPEN
from fwrl.kernels.model.envelope import no_envelope
from fwrl.kernels.model.plan import ARRIVING, BUDGET, EVALUATIONS, STALE, TOUCHED, no_plan, touch
from fwrl.kernels.model.plan_equations import outcome_of
from fwrl.kernels.model.plan_updates import make_stale, update_plan
from fwrl.kernels.model.planning import make_plan
from fwrl.kernels.model.reachability import UNKNOWN
from fwrl.oracle import optimum

COSTS = [0.0, -1.0, -0.25, -2.5e-4, -3.0]


@st.composite
def histories(draw, certain=False, rewards=COSTS):
    """(S, A, steps): outcomes vary, with wall bumps, traps, free steps and loops without cost."""
    S, A = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    step = st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), st.sampled_from(rewards), st.integers(0, S - 1))
    steps = draw(st.lists(step, min_size=1, max_size=25))
    if certain:
        seen: dict[tuple[int, int], tuple[float, int]] = {}
        steps = [(s, a, *seen.setdefault((s, a), (r, n))) for s, a, r, n in steps]
    return S, A, steps


def assert_settled(plan):
    assert plan.size[STALE] == plan.size[TOUCHED] == plan.queue.size[OPEN] == 0
    assert not plan.is_touched.any()
    assert not plan.queue.place.any()


@given(histories(), st.data())
@examples(200)
def test_the_plan_equals_the_oracle_of_the_counted_model_after_every_step(history, data):
    S, A, steps = history
    goal = data.draw(st.integers(0, S - 1))
    agent = make_agent("mbrl", S, A)
    agent.begin_episode(goal)
    terminated: list[int] = []
    for n, (s, a, r, following) in enumerate(steps):
        ends = data.draw(st.integers(0, 9)) == 0
        agent.observe(s, a, r, following, terminated=ends)
        terminated += [following] * ends
        truth = optimum(counted(S, A, steps[: n + 1], goal, terminated), goal)
        np.testing.assert_allclose(agent.arrivals(goal), truth.arrival, atol=1e-9)
        np.testing.assert_allclose(agent.values(goal), truth.value, rtol=1e-8, atol=1e-9)


@given(histories(rewards=[*COSTS, 0.5]), st.sampled_from([np.inf, 0.5, 4.0, 50.0]), st.data())
@examples(200)
def test_a_plan_updated_equals_one_from_scratch_after_every_step(history, penalty, data):
    """Arriving first, or with a cost of giving up; a positive cycle is one for both."""
    S, A, steps = history
    goal = data.draw(st.integers(0, S - 1))
    agent = make_agent("mbrl", S, A, give_up=None if penalty == np.inf else penalty)
    agent.begin_episode(goal)
    for step in steps:
        with contextlib.suppress(PositiveCycleError):
            agent.observe(*step)
        agent.settle()
        tables, scratch = agent.tables, no_plan(S, penalty=penalty)
        make_plan(tables.edges, scratch, tables.terminated, goal)
        assert_settled(tables.plan)
        assert tables.plan.size[ARRIVING] == scratch.size[ARRIVING]
        if scratch.size[ARRIVING] == 1:
            continue  # only the goal arrives, and no other status is of use
        np.testing.assert_array_equal(tables.plan.status, scratch.status)
        np.testing.assert_allclose(tables.plan.p, scratch.p, atol=1e-9)
        np.testing.assert_allclose(tables.plan.v, scratch.v, rtol=1e-8, atol=1e-9)


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


@compiled_only
@pytest.mark.parametrize("windy", [False, True])
def test_no_update_takes_more_evaluations_than_a_new_plan(windy):
    """A random walk on a ring of 200 states, one action, mixes slowly; a corridor with some wind does not."""
    rng = np.random.default_rng(0)
    S, goal = 200, 0
    agent = make_agent("mbrl", S, 1)
    agent.observe_many(np.arange(S), np.zeros(S, int), np.full(S, -1.0), (np.arange(S) - 1) % S)
    agent.begin_episode(goal)
    plan, s = agent.tables.plan, S // 2
    used, budgets = [], [plan.size[BUDGET]]
    for _ in range(500):
        back = rng.random() < (0.1 if windy else 0.5)
        before = plan.size[EVALUATIONS]
        agent.observe(s, 0, -1.0, (s + 1) % S if back else (s - 1) % S)
        used.append(plan.size[EVALUATIONS] - before)
        s = (s + 1) % S if back else (s - 1) % S
        budgets.append(plan.size[BUDGET])
    assert max(used) <= max(budgets) + 1
    agent.settle()
    scratch = no_plan(S)
    make_plan(agent.tables.edges, scratch, agent.tables.terminated, goal)
    np.testing.assert_allclose(plan.v, scratch.v, rtol=1e-8)


def test_a_loop_hardly_ever_left_is_solved_exactly():
    """0 and 1 lead to each other, and once in 2^40 to the goal 2."""
    edges = with_capacity(no_edges(3, 1), 4)
    for s, n in ((0, 1), (1, 0), (1, 2)):
        count_edge(edges, s, n, -1.0)
    plan, closed = no_plan(3), np.zeros(3, np.int8)
    e = find_edge(edges, 1, 0)
    edges.times[e] = 2**40
    edges.total[e] *= 2.0**40
    make_plan(edges, plan, closed, 2)
    np.testing.assert_allclose(plan.v, [-(2.0**41) - 2, -(2.0**41) - 1, 0.0], rtol=1e-12)
    assert plan.p.tolist() == [1.0, 1.0, 1.0]


@given(histories(), st.data())
@examples(100)
def test_the_policy_of_an_updated_plan_is_greedy_on_its_values(history, data):
    S, A, steps = history
    goal = data.draw(st.integers(0, S - 1))
    edges, plan, closed = with_capacity(no_edges(S, A), len(steps)), no_plan(S), np.zeros(S, np.int8)
    for s, a, r, n in steps:
        new = find_edge(edges, s * A + a, n) < 0
        count_edge(edges, s * A + a, n, r)
        if not update_plan(edges, plan, no_envelope(S, A), closed, s, a, n, new, goal, False, NONE):
            make_plan(edges, plan, closed, goal)
    for s in set(range(S)) - {goal}:
        p, v = zip(*(outcome_of(edges, plan, s * A + a) for a in range(A)), strict=True)
        if plan.status[s] == UNKNOWN:
            continue
        assert max(p) == pytest.approx(plan.p[s], abs=1e-9)
        if plan.p[s] > 0:
            likely = [v[a] for a in range(A) if p[a] >= max(p) - 1e-9]
            assert max(likely) == pytest.approx(plan.v[s], rel=1e-8, abs=1e-9)
            assert v[plan.pi[s]] == pytest.approx(plan.v[s], rel=1e-8, abs=1e-9)


def test_a_stale_plan_has_no_work_left():
    plan = no_plan(4)
    touch(plan, 2)
    make_stale(plan)
    assert plan.size[STALE] == 1
    assert plan.size[TOUCHED] == 0
    assert not plan.is_touched.any()
