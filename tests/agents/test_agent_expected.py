"""FWRL with `backup="expected"`: the values of the observed model, and their accuracy in the wind."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_reference import brute_force

import fwrl
from counted_reference import counted
from fwrl.errors import OptionError
from fwrl.experiment.audit import greedy_policy
from fwrl.oracle import evaluate, optimum

STEP = -2.5e-4


@st.composite
def histories(draw, certain=False):
    """(S, A, steps): outcomes and rewards vary, with wall bumps, traps, and loops without cost."""
    S, A = draw(st.integers(2, 6)), draw(st.integers(1, 3))
    reward = st.sampled_from([0.0, -1.0, -0.25, STEP, -3.0])
    step = st.tuples(st.integers(0, S - 1), st.integers(0, A - 1), reward, st.integers(0, S - 1))
    steps = draw(st.lists(step, min_size=1, max_size=25))
    if certain:
        seen: dict[tuple[int, int], tuple[float, int]] = {}
        steps = [(s, a, *seen.setdefault((s, a), (r, n))) for s, a, r, n in steps]
    return S, A, steps


@given(histories(), st.data())
@settings(max_examples=400, deadline=None)
def test_after_every_step_values_and_arrival_are_those_of_the_counted_model(history, data):
    S, A, steps = history
    goal = data.draw(st.integers(0, S - 1))
    agent = fwrl.make_agent("fwrl", S, A, backup="expected")
    agent.begin_episode(goal)
    for n, step in enumerate(steps):
        agent.observe(*step)
        model = counted(S, A, steps[: n + 1], goal)
        arrival = [agent.arrival(s, goal) for s in range(S)]
        answers = [(o.arrival, o.value) for o in [optimum(model, goal)]]
        if A**S <= 100:
            answers.append(brute_force(model, goal))
        for p, v in answers:
            np.testing.assert_allclose(arrival, p, atol=1e-7)
            np.testing.assert_allclose(agent.values(goal), v, rtol=1e-6, atol=1e-6)


def test_values_fall_as_well_as_rise():
    agent = fwrl.make_agent("fwrl", 2, 1, backup="expected")
    agent.begin_episode(1)
    seen, values = [1, 0, 0, 1, 1], []
    for next_state in seen:
        agent.observe(0, 0, -1.0, next_state)
        values.append(agent.value(0, 1))
    # Tries over arrivals, each try for -1.
    np.testing.assert_allclose(values, [-1, -2, -3, -2, -5 / 3])
    assert {a < b for a, b in pairwise(values)} == {True, False}


def test_a_trap_lowers_the_arrival_probability_and_not_the_reward_given_arrival():
    agent = fwrl.make_agent("fwrl", 3, 1, backup="expected")
    agent.observe_many([0, 0, 0, 0, 1], [0] * 5, [-1.0, -1.0, -1.0, -9.0, 0.0], [2, 2, 2, 1, 1])
    assert (agent.arrival(0, 2), agent.value(0, 2)) == (0.75, -1.0)
    assert (agent.arrival(1, 2), agent.value(1, 2)) == (0.0, -np.inf)


@given(histories(certain=True))
@settings(max_examples=200, deadline=None)
def test_where_outcomes_are_certain_expected_and_best_agree_in_values_and_ties(history):
    S, A, steps = history
    best, expected = (fwrl.make_agent("fwrl", S, A, backup=backup) for backup in ("best", "expected"))
    for step in steps:
        best.observe(*step)
        expected.observe(*step)
    for goal in range(S):
        np.testing.assert_allclose(expected.values(goal), best.values(goal), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(greedy_policy(expected, goal) > 0, greedy_policy(best, goal) > 0)


def experience(world, seed):
    """20,000 steps of the agent that acts at random, without its jumps to fresh starts."""
    agent = fwrl.make_agent("random", world.n_states, world.n_actions, seed=seed)
    steps = fwrl.run(world, agent, episodes=20, steps=1000, seed=seed, trajectory=True).trajectory
    assert steps is not None
    learned = ~steps.arrived
    return tuple(column[learned] for column in (steps.state, steps.action, steps.reward, steps.next_state))


def audited(world, backup, seed):
    """(estimated, true, least): costs in steps for every pair, goal by goal, (S, S) each; all pairs arrive."""
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, backup=backup)
    agent.observe_many(*experience(world, seed))
    goals = range(world.n_states)
    truth = [evaluate(world, greedy_policy(agent, g), g) for g in goals]
    assert min(each.arrival.min() for each in truth) == pytest.approx(1)
    tables = [agent.values(g) for g in goals], [t.value for t in truth], [optimum(world, g).value for g in goals]
    return tuple(np.array(table) / STEP for table in tables)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("world", ["windy-four-rooms", "risky-bridge"])
def test_from_random_experience_the_expected_policy_is_optimal_within_a_percent_and_so_are_its_values(world, seed):
    estimated, true, least = audited(fwrl.load_world(world), "expected", seed)
    assert 1 <= true.mean() / least.mean() < 1.01
    assert estimated.mean() == pytest.approx(true.mean(), rel=0.02)


def test_from_random_experience_only_the_best_backup_takes_lucky_outcomes_as_certain():
    world = fwrl.load_world("risky-bridge")
    pair = world.state_at(12, 0), world.state_at(0, 0)
    estimated, true, least = (table[pair] for table in audited(world, "best", 0))
    assert (estimated, true / least > 4) == (pytest.approx(10), True)
    estimated, true, least = (table[pair] for table in audited(world, "expected", 0))
    assert [estimated, true] == pytest.approx([least, least])


@pytest.mark.parametrize("options", [{"backup": "expected"}, {"explorer": "optimistic"}])
def test_the_papers_relaxation_goes_with_the_papers_backup_and_explorer_only(options):
    with pytest.raises(OptionError, match=f"with relaxation='paper', got .*{next(iter(options.values()))}"):
        fwrl.make_agent("fwrl", 3, 2, relaxation="paper", **options)


def test_the_expected_backup_keeps_no_dense_table():
    with pytest.raises(OptionError, match="storage='columns' or 'auto' with backup='expected', got 'dense'"):
        fwrl.make_agent("fwrl", 3, 2, backup="expected", storage="dense")


def test_a_cost_of_giving_up_is_positive_and_goes_with_the_expected_backup():
    with pytest.raises(OptionError, match="expected backup='expected' with give_up"):
        fwrl.make_agent("fwrl", 3, 2, give_up=3.0)
    with pytest.raises(OptionError, match="positive cost or None, got -3"):
        fwrl.make_agent("fwrl", 3, 2, backup="expected", give_up=-3)


@pytest.mark.parametrize("name", ["fwrl", "mbrl", "sweeping"])
def test_an_unknown_explorer_is_refused_with_the_choices(name):
    with pytest.raises(OptionError, match=r"explorer to be one of .*'optimistic'.*, got 'bold'"):
        fwrl.make_agent(name, 3, 2, explorer="bold")
