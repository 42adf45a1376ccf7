"""FWRL with `backup="expected"`: the values of the observed model, and their accuracy in the wind."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_reference import brute_force

import fwrl
from counted_reference import counted
from fwrl.errors import OptionError, PositiveCycleError
from fwrl.experiment.audit import greedy_policy
from fwrl.kernels.mdp.updates import LARGEST, OPTIMISTIC
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
@settings(max_examples=400)
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
@settings(max_examples=200)
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
    with pytest.raises(OptionError, match=f"relaxation='paper' needs .*, got .*{next(iter(options.values()))}"):
        fwrl.make_agent("fwrl", 3, 2, relaxation="paper", **options)


def test_the_expected_backup_keeps_no_dense_table():
    with pytest.raises(
        OptionError, match="backup='expected', explorer='optimistic' and objective='rate' need storage='columns'"
    ):
        fwrl.make_agent("fwrl", 3, 2, backup="expected", storage="dense")


def test_a_cost_of_giving_up_is_positive_and_goes_with_the_expected_backup():
    with pytest.raises(OptionError, match="give_up needs backup='expected'"):
        fwrl.make_agent("fwrl", 3, 2, give_up=3.0)
    with pytest.raises(OptionError, match="positive cost or None, got -3"):
        fwrl.make_agent("fwrl", 3, 2, backup="expected", give_up=-3)


@pytest.mark.parametrize("name", ["fwrl", "mbrl", "sweeping"])
def test_an_unknown_explorer_is_refused_with_the_choices(name):
    with pytest.raises(OptionError, match=r"explorer to be one of .*'optimistic'.*, got 'bold'"):
        fwrl.make_agent(name, 3, 2, explorer="bold")


@pytest.mark.parametrize("online", [False, True])
@pytest.mark.parametrize("n", [30, 300, 1000])
def test_a_fair_random_walk_takes_n_times_n_plus_one_steps_and_arrives(n, online):
    """States 0 to n in a row, each seen to step once left and once right; at 0 left stays."""
    agent = fwrl.make_agent("fwrl", n + 1, 1, backup="expected")
    if online:
        agent.begin_episode(n)
    states = np.repeat(np.arange(n), 2)
    following = np.maximum(states + np.tile([-1, 1], n), 0)
    agent.observe_many(states, np.zeros(2 * n, int), np.full(2 * n, -1.0), following)
    assert agent.value(0, n) == pytest.approx(-n * (n + 1), rel=1e-9)
    assert agent.arrival(0, n) == 1.0


def corridor(detour):
    """State 0: action 0 was seen 9,999 times to reach the goal 1 and once to reach 2, where the log ends; action 1 is
    a detour over `detour` states, seen once.
    """
    way = [0, *range(3, 3 + detour), 1]
    steps = [(0, 0, 1)] * 9999 + [(0, 0, 2)] + [(s, 1, n) for s, n in pairwise(way)]
    states, actions, following = (np.array(column) for column in zip(*steps, strict=True))
    return 3 + detour, states, actions, np.full(len(steps), -1.0), following


def test_where_experience_merely_ends_is_no_trap_and_where_it_terminated_is_one():
    S, *transitions = corridor(500)
    agent = fwrl.make_agent("fwrl", S, 2, backup="expected")
    agent.observe_many(*transitions)
    assert (agent.value(0, 1), agent.arrival(0, 1), agent.greedy(0, 1)) == (-1.0, 1.0, 0)
    agent.observe(0, 0, -1.0, 2, terminated=True)
    assert (agent.value(0, 1), agent.arrival(0, 1), agent.greedy(0, 1)) == (-501.0, 1.0, 1)


def test_with_a_cost_of_giving_up_a_small_risk_is_taken():
    S, states, actions, rewards, following = corridor(500)
    agent = fwrl.make_agent("fwrl", S, 2, backup="expected", give_up=100.0)
    agent.observe_many(states, actions, rewards, following, following == 2)
    assert agent.greedy(0, 1) == 0
    assert agent.value(0, 1) == pytest.approx(-1.0 - 100.0 / 10_000)
    assert agent.arrival(0, 1) == pytest.approx(0.9999)
    assert agent.value(3, 1) == -100.0  # the detour costs more than to give up


@pytest.mark.parametrize("give_up", [None, 50.0])
def test_terminated_states_and_the_plan_survive_a_file(give_up, tmp_path):
    S, states, actions, rewards, following = corridor(5)
    agent = fwrl.make_agent("fwrl", S, 2, backup="expected", give_up=give_up)
    agent.observe_many(states, actions, rewards, following, following == 2)
    agent.begin_episode(1)
    agent.save(tmp_path / "a.fwrl")
    loaded = fwrl.load(tmp_path / "a.fwrl")
    assert isinstance(loaded, fwrl.Agent)
    np.testing.assert_array_equal(loaded.values(1), agent.values(1))
    np.testing.assert_array_equal(loaded.arrivals(1), agent.arrivals(1))


def test_a_positive_cycle_is_refused_with_its_states_and_actions():
    agent = fwrl.make_agent("fwrl", 4, 2, backup="expected")
    agent.observe_many([0, 1, 2], [1, 0, 1], [2.0, -1.0, -1.0], [1, 0, 3])
    agent.observe(0, 0, -1.0, 2)
    with pytest.raises(PositiveCycleError, match="action 1 at state 0, action 0 at state 1"):
        agent.begin_episode(3)


def test_a_step_that_closes_a_positive_cycle_is_taken_back():
    agent = fwrl.make_agent("fwrl", 3, 2, backup="expected")
    agent.observe_many([0, 1], [0, 0], [-1.0, -1.0], [1, 2])
    agent.begin_episode(2)
    with pytest.raises(PositiveCycleError, match="state 1 by action 1 to 0 for 5"):
        agent.observe(1, 1, 5.0, 0)
    assert agent.values(2).tolist() == [-2.0, -1.0, 0.0]
    with pytest.raises(PositiveCycleError, match=r"transition 1: .*the 1 before it were learned"):
        agent.observe_many([0, 1, 0], [1, 1, 1], [-3.0, 5.0, -1.0], [2, 0, 2])
    assert agent.values(2).tolist() == [-2.0, -1.0, 0.0]


@pytest.mark.parametrize(
    "options", [{"backup": "expected"}, {"objective": "rate"}, {"backup": "expected", "objective": "rate"}]
)
def test_an_answer_from_before_growing_is_not_given_after(options):
    agent = fwrl.make_agent("fwrl", 3, 1, **options)
    agent.begin_episode(1)
    assert len(agent.values(2)) == 3
    agent.grow(6)
    assert len(agent.values(2)) == 6
    assert agent.value(5, 2) == -np.inf


def test_a_refused_episode_and_a_refused_step_leave_what_is_kept_beside_the_counts_right():
    agent = fwrl.make_agent("fwrl", 5, 2, backup="expected", explorer="optimistic")
    for s in range(4):
        agent.observe(s, 0, -1.0, s + 1)
    agent.begin_episode(4)
    expected = agent.value(0, 4)
    with pytest.raises(fwrl.FwrlError):
        agent.begin_episode(4, steps=0, explore=False)
    assert agent.tables.plan.counts[OPTIMISTIC] == 1
    assert agent.value(0, 4) == expected == -4.0
    agent = fwrl.make_agent("fwrl", 4, 2, backup="expected")
    agent.observe(0, 0, -1.0, 3)
    agent.begin_episode(3)
    with pytest.raises(PositiveCycleError):
        agent.observe(0, 1, 5.0, 0)
    assert agent.tables.plan.level[LARGEST] == -1.0


@pytest.mark.parametrize("refused", [{"goal": 999}, {"goal": 4, "steps": 0}, {"goal": 2}])
def test_a_refused_episode_leaves_the_probabilities_of_unseen_outcomes(refused):
    """They are renewed when an episode begins; 2 is refused for the positive cycle of 0 and 1, which lead there."""
    agent = fwrl.make_agent("fwrl", 5, 2, backup="expected", explorer="optimistic")
    agent.observe_many([0, 1, 1], [0, 0, 1], [1.0, 1.0, -1.0], [1, 0, 2])
    agent.begin_episode(4)
    agent.observe_many([3, 3, 4] * 2, [0, 1, 0] * 2, [-1.0] * 6, [4, 4, 3] * 2)  # evidence not yet in use
    level = agent.tables.plan.level.copy()
    with pytest.raises(fwrl.FwrlError):
        agent.begin_episode(**refused)
    np.testing.assert_array_equal(agent.tables.plan.level, level)
    assert agent.goal == 4


def test_a_refused_step_leaves_the_probabilities_of_unseen_outcomes_and_the_optimistic_plan():
    agent, twin = (fwrl.make_agent("fwrl", 300, 2, backup="expected", explorer="optimistic") for _ in range(2))
    for each in (agent, twin):
        each.begin_episode(3)
        for s in range(10, 264):
            each.observe_many([s] * 3, [0] * 3, [-1.0] * 3, [s + 1] * 3)
        for step in [(2, 0, -1.0, 1), (2, 0, -1.0, 1), (1, 0, -1.0, 3), (1, 1, -1.0, 2), (0, 0, -1.0, 1)]:
            each.observe(*step)
    with pytest.raises(PositiveCycleError):
        agent.observe(1, 1, 500.0, 1)
    for each in (agent, twin):
        each.act(0)
    np.testing.assert_array_equal(agent.tables.plan.level, twin.tables.plan.level)
    np.testing.assert_allclose(agent.tables.plan.V, twin.tables.plan.V, rtol=1e-2)


@pytest.mark.parametrize("options", [{}, {"give_up": 20.0}, {"explorer": "optimistic"}])
def test_a_step_that_closes_a_positive_cycle_is_refused_whatever_the_explorer(options):
    """0 -> 1 -> 3 is known; the way back from 1 to 0 gains 49 a round, however often an unseen outcome may follow."""
    agent = fwrl.make_agent("fwrl", 4, 2, backup="expected", **options)
    agent.begin_episode(3)
    agent.observe(0, 0, -1.0, 1)
    agent.observe(1, 0, -1.0, 3)
    with pytest.raises(PositiveCycleError, match="state 1 by action 1 to 0 for 50"):
        agent.observe(1, 1, 50.0, 0)
    assert agent.value(0, 3) == -2.0
    with pytest.raises(PositiveCycleError, match=r"transition 2: .*state 0 by action 1 to 1 for -0\.25"):
        agent.observe_many([2, 1, 0], [0, 1, 1], [5.0, 0.5, -0.25], [0, 0, 1])
    assert agent.value(2, 3) == 3.0


@pytest.mark.parametrize("goal", [None, 0, 3])
@pytest.mark.parametrize("explorer", ["epsilon-greedy", "optimistic"])
def test_a_self_loop_that_gains_is_refused_wherever_the_goal_is(goal, explorer):
    agent = fwrl.make_agent("fwrl", 4, 2, backup="expected", explorer=explorer)
    if goal is not None:
        agent.begin_episode(goal)
    with pytest.raises(PositiveCycleError, match=r"state 0 by action 0 to 0 for 0\.5 would close a positive cycle"):
        agent.observe(0, 0, 0.5, 0)
    agent.observe(0, 1, -2.0, 3)
    agent.observe(0, 0, -0.5, 0)
    agent.observe(0, 0, 0.5, 0)
    assert agent.value(0, 3) == -2.0


@pytest.mark.parametrize("explorer", ["epsilon-greedy", "optimistic"])
def test_a_refused_step_that_is_no_part_of_the_positive_cycle_is_not_said_to_close_it(explorer):
    agent = fwrl.make_agent("fwrl", 4, 2, backup="expected", explorer=explorer)
    agent.begin_episode(3)
    agent.observe(0, 0, 1.0, 1)
    agent.observe(1, 0, 1.0, 0)
    cycle = "go from a positive cycle to the goal 3: action 0 at state 0, action 0 at state 1;"
    with pytest.raises(PositiveCycleError, match=f"state 0 by action 1 to 3 for -2 would {cycle}"):
        agent.observe(0, 1, -2.0, 3)
