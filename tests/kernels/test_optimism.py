"""The optimistic plan equals a dense solution of the model with the unseen outcome written into it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_examples import compiled_only, examples
from oracle_reference import brute_force

import fwrl
from fwrl.agents import make_agent
from fwrl.kernels.graph.edges import NONE, count_edge, find_edge, no_edges, with_capacity
from fwrl.kernels.model.envelope import no_envelope
from fwrl.kernels.model.optimism import (
    LEVELS,
    NEGLIGIBLE,
    count_try,
    level_of,
    no_optimism,
    optimism_ends,
    refresh,
    unseen_probability,
)
from fwrl.kernels.model.plan import no_plan
from fwrl.kernels.model.plan_updates import update_plan
from fwrl.kernels.model.planning import make_plan
from fwrl.oracle import optimum
from fwrl.worlds import from_outcomes

REWARDS = [-1.0, -0.25, -2.5e-4, -3.0]
SHARES = st.lists(st.just(0.0) | st.floats(0.001, 0.9), min_size=LEVELS, max_size=LEVELS)


def counted(S, A, steps):
    """{(s, a): {s': [rewards]}}."""
    seen: dict[tuple[int, int], dict[int, list[float]]] = {}
    for s, a, r, n in steps:
        seen.setdefault((s, a), {}).setdefault(n, []).append(r)
    return seen


def optimistic(S, A, steps, goal, shares, reward):
    """The world in which every action leads straight to the goal with probability q(n), all else scaled by 1 - q."""
    seen = counted(S, A, steps)
    outcomes: list[list[list[tuple[float, int, float]]]] = []
    for s in range(S):
        outcomes.append([])
        for a in range(A):
            known = seen.get((s, a), {})
            n = sum(map(len, known.values()))
            q = 1.0 if n == 0 else shares[int(np.log2(n))] if n < 2**LEVELS else 0.0
            listed = [((1 - q) * len(rs) / n, t, float(np.mean(rs))) for t, rs in known.items()]
            outcomes[s].append([*listed, (q, goal, reward)])
    return from_outcomes("optimistic", outcomes)


def assert_solves(plan, S, A, steps, goal, solve=optimum):
    truth = solve(optimistic(S, A, steps, goal, plan.optimism.unseen, plan.optimism.reward[0]), goal)
    p, v = (truth.arrival, truth.value) if solve is optimum else truth
    np.testing.assert_allclose(plan.p, p, atol=1e-7)
    np.testing.assert_allclose(plan.v, v, rtol=1e-6, atol=1e-9)


def edges_of(S, A, steps):
    edges = with_capacity(no_edges(S, A), len(steps))
    for s, a, r, n in steps:
        count_edge(edges, s * A + a, n, r)
    return edges


def optimistic_plan(S, share, reward):
    plan = no_plan(S)
    plan.optimism.on[0], plan.optimism.reward[0] = 1, reward
    plan.optimism.unseen[:] = share
    return plan


def drawn_steps(S, A, rewards=REWARDS, most=40):
    return st.lists(
        st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), st.sampled_from(rewards), st.integers(0, S - 1)),
        min_size=1,
        max_size=most,
    )


@given(st.data())
@examples(400)
def test_the_optimistic_plan_solves_the_optimistic_model(data):
    S, A = data.draw(st.integers(2, 7)), data.draw(st.integers(1, 3))
    steps = data.draw(drawn_steps(S, A))
    share = data.draw(SHARES)
    plan, goal = optimistic_plan(S, share, max(r for _, _, r, _ in steps)), data.draw(st.integers(0, S - 1))
    make_plan(edges_of(S, A, steps), plan, np.zeros(S, np.int8), goal)
    assert_solves(plan, S, A, steps, goal)
    if A**S <= 300:
        assert_solves(plan, S, A, steps, goal, solve=brute_force)


@given(st.data())
@examples(120)
def test_updated_the_optimistic_plan_solves_it_too_after_every_step(data):
    S, A = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 3))
    steps = data.draw(drawn_steps(S, A, most=25))
    share = data.draw(SHARES)
    goal = data.draw(st.integers(0, S - 1))
    plan = optimistic_plan(S, share, max(REWARDS))
    edges = with_capacity(no_edges(S, A), len(steps))
    closed = np.zeros(S, np.int8)
    make_plan(edges, plan, closed, goal)
    for k, (s, a, r, n) in enumerate(steps):
        new = find_edge(edges, s * A + a, n) < 0
        count_edge(edges, s * A + a, n, r)
        if not update_plan(edges, plan, no_envelope(S, A), closed, s, a, n, new, goal, False, NONE):
            make_plan(edges, plan, closed, goal)
        assert_solves(plan, S, A, steps[: k + 1], goal)


@given(st.data())
@examples(150)
def test_an_optimistic_agent_has_the_plan_of_its_evidence_after_every_step(data):
    """Probabilities follow the evidence; the plan is that from scratch, and the dense one."""
    S, A = data.draw(st.integers(2, 5)), data.draw(st.integers(1, 3))
    steps = data.draw(drawn_steps(S, A, rewards=[*REWARDS, 0.0], most=30))
    agent = make_agent("fwrl", S, A, backup="expected", explorer="optimistic")
    goal = data.draw(st.integers(0, S - 1))
    # As if many tries elsewhere had shown nothing new.
    agent.tables.plan.optimism.tries[:] = data.draw(
        st.lists(st.sampled_from([0.0, 500.0]), min_size=LEVELS, max_size=LEVELS)
    )
    agent.begin_episode(goal)
    for k, step in enumerate(steps):
        agent.observe(*step)
        plan = agent.tables.plan
        agent.settle()
        fresh = no_plan(S, plan.optimism)
        make_plan(agent.tables.edges, fresh, agent.tables.terminated, goal)
        np.testing.assert_allclose(plan.p, fresh.p, atol=1e-8)
        np.testing.assert_allclose(plan.v, fresh.v, rtol=1e-7, atol=1e-9)
        assert plan.optimism.reward[0] == 0.0  # no step pays more
        assert_solves(plan, S, A, steps[: k + 1], goal)


@pytest.mark.parametrize("world", ["four-rooms", "windy-four-rooms"])
@pytest.mark.parametrize("count", [60, 400, 3000])
def test_on_the_papers_maps_the_optimistic_plan_is_the_dense_one_for_every_goal(world, count):
    """A regression: an action whose value had risen was compared at its old value, and a worse one was chosen."""
    world = fwrl.load_world(world)
    S, A = world.n_states, world.n_actions
    rng = np.random.default_rng(count)
    steps, s = [], 0
    for _ in range(count):
        a = int(rng.integers(A))
        outcomes = world.outcomes(s, a)
        _, n, r = outcomes[rng.choice(len(outcomes), p=[o.probability for o in outcomes])]
        steps.append((s, a, r, n))
        s = n
    edges = edges_of(S, A, steps)
    plan = optimistic_plan(S, [0.1 / 2**j for j in range(LEVELS)], world.step_reward)
    for goal in range(S):
        make_plan(edges, plan, np.zeros(S, np.int8), goal)
        assert_solves(plan, S, A, steps, goal)


def test_the_probability_of_an_unseen_outcome_is_the_share_of_tries_that_showed_one():
    optimism = no_optimism(prior=0.1)
    assert unseen_probability(optimism, 0) == 0.0  # optimism is off
    optimism.on[0] = 1
    refresh(optimism)
    assert unseen_probability(optimism, 0) == 1.0
    np.testing.assert_allclose(
        [unseen_probability(optimism, n) for n in (1, 2, 3, 4, 63, 64)], [0.1, 0.05, 0.05, 0.025, 0.1 / 32, 0]
    )
    for k in range(9):  # of nine second tries, three show something new
        count_try(optimism, 1, k < 3)
    assert unseen_probability(optimism, 1) == 0.1  # until refreshed
    refresh(optimism)
    assert unseen_probability(optimism, 1) == pytest.approx(3.1 / 10)
    assert unseen_probability(optimism, 2) == 0.05


def test_probabilities_are_refreshed_at_powers_of_two():
    optimism = no_optimism(prior=0.1)
    assert [count_try(optimism, 5, False) for _ in range(9)] == [
        True,
        True,
        False,
        True,
        False,
        False,
        False,
        True,
        False,
    ]
    assert [level_of(n) for n in (1, 2, 3, 4, 7, 8)] == [0, 1, 1, 2, 2, 3]
    assert not count_try(optimism, 64, True)


def test_optimism_ends_after_many_tries_and_where_it_is_negligible():
    optimism = no_optimism(prior=0.1)
    optimism.on[0] = 1
    refresh(optimism)
    assert [n for n in range(70) if optimism_ends(optimism, n)] == [63]
    for _ in range(200):  # nothing new in two hundred second tries: a probability below one in a thousand
        count_try(optimism, 1, False)
    refresh(optimism)
    assert unseen_probability(optimism, 1) == 0.0
    assert [n for n in range(70) if optimism_ends(optimism, n)] == [0, 63]


@compiled_only
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_on_slippery_ice_no_negligible_probability_is_in_use(seed):
    """Bumping into the top wall never falls into a hole: with small probabilities it looked like the surest way."""
    world = fwrl.load_world("gymnasium:FrozenLake-v1")
    agent = make_agent("mbrl", world.n_states, world.n_actions, seed, explorer="optimistic")
    fwrl.run(world, agent, episodes=20, steps=400, seed=seed)
    share = agent.tables.plan.optimism.unseen
    assert np.all((share == 0) | (share >= NEGLIGIBLE))


@pytest.mark.parametrize("reward", [-1.0, 0.0])
@pytest.mark.parametrize("name", ["mbrl", "sweeping"])
def test_optimism_about_a_trap_ends(name, reward):
    """States 0 and 1 lead only to each other; 2 leads to the goal 3."""
    agent = make_agent(name, 4, 1, explorer="optimistic")
    agent.begin_episode(3)
    agent.observe(2, 0, -1.0, 3)
    for _ in range(100):
        agent.observe(0, 0, reward, 1)
        agent.observe(1, 0, reward, 0)
    agent.settle()
    if name == "mbrl":
        assert agent.tables.plan.p[:2].tolist() == [0.0, 0.0]
    agent.begin_episode(3, explore=False)
    never = -np.inf if name == "mbrl" else -1000.0
    assert agent.values(3).tolist() == [never, never, -1.0, 0.0]
