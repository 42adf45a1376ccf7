"""FWRL with `objective="rate"`: the gain, the policies and the values that follow from it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import fwrl
from fwrl.agents import Agent
from fwrl.errors import OptionError, PositiveCycleError
from fwrl.kernels.mdp.updates import RHO
from fwrl.oracle import best_rate, optimum
from fwrl.task import Task
from fwrl.task.expectation import best_rewards, expected_rewards
from fwrl.worlds import World, from_outcomes

BEST: dict[str, Any] = {"objective": "rate"}
EXPECTED: dict[str, Any] = {"objective": "rate", "backup": "expected"}
VARIANTS = [BEST, {**BEST, "explorer": "optimistic"}, EXPECTED, {**EXPECTED, "explorer": "optimistic"}]


def over(variants: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("options", variants, ids=lambda o: "-".join(list(o.values())[1:]) or "paper")


every_variant = over(VARIANTS)
GOAL_REWARD = 10.0


def random_world(seed: int, certain: bool, rewards: tuple[float, ...] = (-3.0, -1.0, 0.0)) -> World:
    """Five states, two actions; outcomes in quarters, and from everywhere a way to state 4."""
    rng = np.random.default_rng(seed)

    def outcomes(s: int, a: int) -> list[tuple[float, int, float]]:
        ends = [(s + 1) % 5 if a == 0 else int(rng.integers(5))]
        if not certain:
            ends.append(int(rng.integers(5)))
        shares = [1.0] if certain else [0.75, 0.25]
        return [(p, end, float(rng.choice(rewards))) for p, end in zip(shares, ends, strict=True)]

    return from_outcomes("random", [[outcomes(s, a) for a in range(2)] for s in range(5)])


def informed(options: dict[str, Any], world: World, goal: int, starts: list[int] | None = None) -> Agent:
    """An agent that knows the world, the goal reward, and that all starts, or all other states, are equally likely."""
    starts = [s for s in range(world.n_states) if s != goal] if starts is None else starts
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, **options)
    for s, a in itertools.product(range(world.n_states), range(world.n_actions)):
        for begins, (p, end, r) in enumerate(world.outcomes(s, a)):
            if begins == 0 and a == 0 and s in starts:
                agent.begin_episode(goal)
            for _ in range(round(12 * p)):
                agent.observe(s, a, r, end)
    agent.observe(goal, 0, GOAL_REWARD, 0, arrived=True)
    agent.begin_episode(goal, explore=False)
    return agent


def gain(agent: Agent) -> float:
    tables: Any = agent.tables
    return float(tables.plan.level[RHO])


def ratios(world: World, goal: int) -> dict[tuple[int, ...], float]:
    """(R + E[path reward]) / (E[steps] + 1) of every policy that arrives."""
    S, starts = world.n_states, np.arange(world.n_states) != goal
    found = {}
    for policy in itertools.product(range(2), repeat=S):
        P, r = np.zeros((S, S)), np.zeros(S)
        for s in range(S):
            for p, end, reward in world.outcomes(s, policy[s]):
                P[s, end] += p
                r[s] += p * reward
        P, r = P[starts][:, starts], r[starts]
        if max(abs(np.linalg.eigvals(P))) < 1 - 1e-9:
            path, steps = np.linalg.solve(np.eye(S - 1) - P, np.stack([r, np.ones(S - 1)], axis=1)).T
            found[policy] = float((GOAL_REWARD + path.mean()) / (steps.mean() + 1))
    return found


def greedy_policy(agent: Agent, goal: int) -> tuple[int, ...]:
    return tuple(agent.greedy(s, goal) for s in range(agent.n_states))


@pytest.mark.parametrize("seed", range(12))
@every_variant
def test_the_gain_is_the_best_ratio_of_all_policies_and_the_greedy_policy_has_it(options, seed):
    world = random_world(seed, certain="backup" not in options)
    agent = informed(options, world, goal=4)
    found = ratios(world, goal=4)
    assert gain(agent) == pytest.approx(max(found.values()), abs=1e-9)
    assert found[greedy_policy(agent, 4)] == pytest.approx(max(found.values()), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
@every_variant
def test_values_are_the_path_rewards_of_the_greedy_policy(options, seed):
    world = random_world(seed, certain="backup" not in options)
    agent = informed(options, world, goal=4)
    P, r = np.zeros((5, 5)), np.zeros(5)
    for s, a in enumerate(greedy_policy(agent, 4)[:4]):
        for p, end, reward in world.outcomes(s, a):
            P[s, end] += p
            r[s] += p * reward
    np.testing.assert_allclose(agent.values(4), np.linalg.solve(np.eye(5) - P, r), atol=1e-9)
    np.testing.assert_allclose([agent.value(s, 4) for s in range(5)], agent.values(4))


@pytest.mark.parametrize("seed", range(6))
@every_variant
def test_an_action_value_is_the_value_less_what_the_action_loses_at_the_rate(options, seed):
    world = random_world(seed, certain="backup" not in options)
    agent = informed(options, world, goal=4)
    rho, values, policy = gain(agent), agent.values(4), greedy_policy(agent, 4)
    P = np.zeros((5, 5))
    for s in range(4):
        for p, end, _ in world.outcomes(s, policy[s]):
            P[s, end] += p
    steps = np.linalg.solve(np.eye(5) - P, np.arange(5) != 4)
    net = values - rho * steps
    for s, a in itertools.product(range(4), range(2)):
        outcomes = world.outcomes(s, a)
        if any(end != s for _, end, _ in outcomes):
            loss = net[s] - sum(p * (r - rho + net[end]) for p, end, r in outcomes)
            assert agent.action_values(s, 4)[a] == pytest.approx(values[s] - loss, abs=1e-8)
    np.testing.assert_array_equal(agent.action_table(4).max(axis=1), values)


@pytest.mark.parametrize("seed", range(6))
@every_variant
def test_asking_about_a_goal_is_planning_for_it(options, seed):
    world = random_world(seed, certain="backup" not in options)
    asked = informed(options, world, goal=4)
    planned = informed(options, world, goal=4)
    for goal in range(4):
        told = asked.action_table(goal), asked.values(goal)
        planned.begin_episode(goal, explore=False)
        for ours, theirs in zip(told, (planned.action_table(goal), planned.values(goal)), strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_both_backups_agree_where_outcomes_are_certain(seed):
    world = random_world(seed, certain=True)
    best, expected = (informed(options, world, goal=4) for options in (BEST, EXPECTED))
    assert gain(best) == pytest.approx(gain(expected), abs=1e-12)
    np.testing.assert_allclose(best.action_table(4), expected.action_table(4), atol=1e-9)


@over(VARIANTS)
def test_a_cycle_with_positive_reward_is_no_error_and_the_gain_exceeds_it(options):
    """Round 0 -> 1 -> 0 earns 0.5 a step; the way over 2 earns nothing and arrives at 3 at once."""
    steps = [[(1, 1, 1.0)], [(1, 2, -1.0)]], [[(1, 0, 0.0)], [(1, 2, -1.0)]], [[(1, 3, 0.0)]] * 2, [[(1, 3, 0.0)]] * 2
    world = from_outcomes("cycle", steps)
    agent = fwrl.make_agent("fwrl", 4, 2, **options)
    agent.begin_episode(3)
    agent.observe(0, 0, 1.0, 1)
    agent.observe(1, 0, 0.0, 0)  # closes the cycle: rho rises in the middle of the episode
    if "backup" not in options:
        assert gain(agent) == pytest.approx(0.5)
    agent = informed(options, world, goal=3)
    starts = np.array([1, 1, 1, 0]) / 3
    assert gain(agent) == pytest.approx(best_rate(world, np.arange(4) == 3, starts, GOAL_REWARD).rho, abs=1e-9)
    plain = fwrl.make_agent("fwrl", 4, 2, **{**options, "objective": "reward", "explorer": "epsilon-greedy"})
    plain.begin_episode(3)
    with pytest.raises(PositiveCycleError):
        plain.observe_many([2, 1, 0, 1], [0, 1, 0, 0], [0.0, -1.0, 1.0, 0.0], [3, 2, 1, 0])


@over(VARIANTS)
def test_a_cycle_better_than_every_trip_bounds_the_gain_and_the_agent_still_arrives(options):
    """Staying at 0 earns 9 a step; a trip of one step earns (10 - 5) / 2."""
    world = from_outcomes("idle", [[[(1, 0, 9.0)], [(1, 1, -5.0)]], [[(1, 1, 0.0)]] * 2])
    agent = informed(options, world, goal=1)
    assert gain(agent) == pytest.approx(9.0)
    assert agent.value(0, 1) == pytest.approx(-5.0)
    agent.begin_episode(1, explore=False)
    assert {agent.act(0) for _ in range(50)} == {1}  # staying earns rho: a tie, and only going comes closer
    assert agent.greedy(0, 1) == 1


@every_variant
def test_loops_without_cost_do_not_hold_an_agent(options):
    """All rewards are 0, so before the first arrival nothing costs anything."""
    world = from_outcomes("free", [[[(1, (s + d) % 6, 0.0)] for d in (1, 0)] for s in range(6)])
    agent = fwrl.make_agent("fwrl", 6, 2, seed=1, **options)
    result = fwrl.run(world, agent, episodes=6, steps=300, seed=2)
    oracle = best_rewards(Task(world), result.goal.tolist(), 300).reward
    assert result.visits.min() > 10
    assert (result.reward[-2:] / oracle[-2:]).min() > (0.95 if "explorer" in options else 0.75)


def test_where_a_goal_is_reached_by_chance_arriving_comes_first_and_time_second():
    """Risky and fast, or as safe as it gets by a short or a long way, all for free."""
    steps: Any = [[(0.5, 4, 0.0), (0.5, 3, 0.0)], [(1, 1, 0.0)], [(1, 2, 0.0)]]
    safe, slow, trap = [[(0.75, 4, 0.0), (0.25, 3, 0.0)]] * 3, [[(1, 1, 0.0)]] * 3, [[(1, 3, 0.0)]] * 3
    world = from_outcomes("ice", [steps, safe, slow, trap, [[(1, 4, 0.0)]] * 3])
    agent = informed(EXPECTED, world, goal=4)
    assert agent.greedy(0, 4) == 1
    assert agent.arrival(0, 4) == 0.75
    # Trips that arrive start at 0, 1 and 2, which take 2, 1 and 2 steps and arrive equally often.
    assert gain(agent) == pytest.approx(GOAL_REWARD / (5 / 3 + 1))


def test_on_ice_the_policy_is_nearly_that_of_the_oracle_and_the_best_path_is_not():
    """Exact, with perfect knowledge: no step on FrozenLake has a cost, so the best path may take any time."""
    task = Task(fwrl.load_world("gymnasium:FrozenLake-v1"))
    world, goals = task.world, task.sampler.goals.tolist()
    best = best_rewards(task, goals, 1000).reward.sum()
    ours = paths = 0.0
    for goal in goals:
        agent = informed(EXPECTED, world, goal, starts=task.setup(goal).starts.tolist())
        ours += expected_rewards(task, greedy_policy(agent, goal), [goal], 1000)[0]
        paths += expected_rewards(task, optimum(world, goal).policy, [goal], 1000)[0]
    assert ours / best > 0.99
    assert paths / best < 0.9


@pytest.mark.parametrize("options", VARIANTS[1::2], ids=["best", "expected"])
def test_the_gain_learned_is_that_of_the_oracle_for_the_starts_seen(options):
    """Where outcomes are certain and all that matters was tried, nothing is left to chance but the starts."""
    world = fwrl.load_world("muddy-rooms")
    task, goal = Task(world), 20
    agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, seed=0, **options)
    fwrl.run(task, agent, episodes=8, steps=1000, seed=0, goal=goal)
    agent.begin_episode(goal)
    tables: Any = agent.tables
    starts = tables.income.starts
    oracle = best_rate(world, np.arange(world.n_states) == goal, starts / starts.sum(), GOAL_REWARD)
    assert gain(agent) == pytest.approx(oracle.rho, rel=1e-9)
    # The policy is the oracle's, or one that ties with it.
    policy = [agent.greedy(s, goal) for s in range(world.n_states)]
    ours, best = expected_rewards(task, policy, [goal], 1000), best_rewards(task, [goal], 1000).reward
    assert ours[0] == pytest.approx(best[0], rel=2e-3)


def test_the_gain_is_fixed_during_an_episode():
    world = fwrl.load_world("muddy-rooms")
    for options in VARIANTS:
        agent = fwrl.make_agent("fwrl", world.n_states, world.n_actions, **options)
        fwrl.run(world, agent, episodes=1, steps=300, seed=0)
        assert gain(agent) == 0.0  # before the first arrival nothing tells what time is worth
        agent.begin_episode(5)
        before = gain(agent)
        assert before > 0
        for s in range(10):
            agent.observe(s, 0, -0.001, s + 1)
        assert gain(agent) == before


def test_a_rate_does_not_go_with_algorithm_1():
    with pytest.raises(OptionError, match="one reward for all goals"):
        fwrl.make_agent("fwrl", 3, 2, objective="rate", relaxation="paper")


@pytest.mark.parametrize("options", [{}, {"backup": "expected"}, {"explorer": "optimistic"}])
def test_a_rate_does_not_go_with_a_table_of_all_pairs(options):
    with pytest.raises(OptionError, match=r"for the current goal") as refusal:
        fwrl.make_agent("fwrl", 3, 2, objective="rate", storage="dense", **options)
    assert "'auto'" in str(refusal.value)


def test_a_trip_that_gives_up_has_no_rate():
    with pytest.raises(OptionError, match="a rate is defined only for trips that end at the goal"):
        fwrl.make_agent("fwrl", 3, 2, objective="rate", backup="expected", give_up=5.0)
