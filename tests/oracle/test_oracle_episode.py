"""The oracle of an episode's reward against brute force, and against its limit, the renewal rate."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_reference import dense, worlds

from fwrl.errors import FwrlError, OptionError, PositiveCycleError
from fwrl.oracle import (
    Protocol,
    best_episode,
    best_episode_policy,
    best_rate,
    episode_reward,
    optimum,
)
from fwrl.task import Task
from fwrl.task.expectation import best_rewards, expected_rewards, protocol_of
from fwrl.worlds import from_outcomes, load_world


def one_goal(world, goal, starts, steps, goal_reward=10.0, respawn=True):
    fresh = np.zeros((world.n_states, 1))
    fresh[starts] = 1 / len(starts)
    return Protocol((np.arange(world.n_states) == goal)[:, None], fresh, goal_reward, steps, respawn)


def expectimax(world, protocol, s, k):
    """The best expected reward from `s` with `k` steps left, by recursion over every outcome."""
    if k == 0:
        return 0.0
    if protocol.arrives[s, 0]:
        fresh = [(f, x) for x, f in enumerate(protocol.starts[:, 0]) if f]
        onward = sum(f * expectimax(world, protocol, x, k - 1) for f, x in fresh) if protocol.respawn else 0.0
        return protocol.goal_reward + onward
    return max(
        sum(o.probability * (o.reward + expectimax(world, protocol, o.next_state, k - 1)) for o in world.outcomes(s, a))
        for a in range(world.n_actions)
    )


@given(worlds(max_states=4, max_actions=2, max_outcomes=2), st.data())
@settings(max_examples=15)
def test_backward_induction_is_the_recursion_over_all_outcomes(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    starts = data.draw(st.lists(st.integers(0, world.n_states - 1), min_size=1, unique=True))
    steps = data.draw(st.integers(1, 4))
    protocol = one_goal(world, goal, starts, steps, respawn=data.draw(st.booleans()))
    expected = np.mean([expectimax(world, protocol, s, steps) for s in starts])
    assert best_episode(world, protocol)[0] == pytest.approx(expected)


@given(worlds(max_states=3, max_actions=2, max_outcomes=2), st.data())
@settings(max_examples=12)
def test_no_policy_that_knows_the_time_earns_more(world, data):
    """Every deterministic policy of (steps left, state), evaluated by propagating the distribution over states."""
    goal = data.draw(st.integers(0, world.n_states - 1))
    protocol = one_goal(world, goal, [data.draw(st.integers(0, world.n_states - 1))], steps=3)
    P, paid = dense(world)
    S = world.n_states
    earned = []
    for actions in product(range(world.n_actions), repeat=3 * S):
        here, total = protocol.starts[:, 0], 0.0
        for row in np.array(actions).reshape(3, S):
            moving = np.where(np.arange(S) == goal, 0.0, here)
            total += here[goal] * 10.0 + sum(moving[s] * paid[s, row[s]].sum() for s in range(S))
            here = sum(moving[s] * P[s, row[s]] for s in range(S)) + here[goal] * protocol.starts[:, 0]
        earned.append(total)
    assert best_episode(world, protocol)[0] == pytest.approx(max(earned))


@pytest.mark.parametrize("name", ["muddy-rooms", "risky-bridge", "gymnasium:FrozenLake-v1"])
def test_the_policy_of_the_oracle_earns_what_the_oracle_says(name):
    task = Task(load_world(name))
    goal = int(task.sampler.goals[-1])
    protocol = protocol_of(task, [goal], 60)
    policy = best_episode_policy(task.world, protocol)
    P, paid = dense(task.world)
    S = task.world.n_states
    here, total = protocol.starts[:, 0], 0.0
    for k in range(60, 0, -1):
        chosen = policy[k - 1]
        moving = np.where(protocol.arrives[:, 0], 0.0, here)
        arrived = here.sum() - moving.sum()
        total += arrived * task.goal_reward + moving @ paid[np.arange(S), chosen].sum(axis=1)
        here = moving @ P[np.arange(S), chosen] + arrived * protocol.starts[:, 0]
    assert total == pytest.approx(best_episode(task.world, protocol)[0])


def test_the_best_path_is_not_the_best_episode_where_steps_differ_in_cost():
    task = Task(load_world("muddy-rooms"))
    goals = task.sampler.goals[:8].tolist()
    best = best_rewards(task, goals, 1000).reward
    paths = [expected_rewards(task, optimum(task.world, g).policy, [g], 1000)[0] for g in goals]
    assert (best >= np.array(paths) - 1e-9).all()
    assert (best > 1.02 * np.array(paths)).any()


def test_a_fixed_policy_is_evaluated_like_a_simulation_of_it():
    task = Task(load_world("windy-four-rooms"))
    world = task.world
    uniform = np.full((world.n_states, world.n_actions), 1 / world.n_actions)
    (expected,) = expected_rewards(task, uniform, [12], 80)
    rng, setup, earned = np.random.default_rng(0), task.setup(12), []
    for _ in range(200):
        s, total = int(rng.choice(setup.starts)), 0.0
        for _ in range(80):
            if setup.arrives[s]:
                s, total = int(rng.choice(setup.starts)), total + task.goal_reward
                continue
            found = world.outcomes(s, int(rng.integers(4)))
            o = found[rng.choice(len(found), p=[o.probability for o in found])]
            s, total = o.next_state, total + o.reward
        earned.append(total)
    assert abs(np.mean(earned) - expected) < 4 * np.std(earned) / np.sqrt(len(earned))


def test_goals_solved_for_together_or_in_blocks_are_those_solved_for_alone(monkeypatch):
    task = Task(load_world("h-maze"))
    goals = task.sampler.goals.tolist()
    together = best_rewards(task, goals, 30).reward
    monkeypatch.setattr("fwrl.oracle.episode.BLOCK", 2 * task.world.n_states * task.world.n_actions)
    np.testing.assert_allclose(best_rewards(task, goals, 30).reward, together, rtol=1e-14)
    alone = [best_rewards(task, [g], 30).reward[0] for g in goals]
    np.testing.assert_allclose(alone, together, rtol=1e-14)


def brute_rate(world, goal, starts, goal_reward):
    """The best ratio of all deterministic policies that arrive from every state."""
    P, paid = dense(world)
    states, best = np.arange(world.n_states), -np.inf
    for policy in product(range(world.n_actions), repeat=world.n_states):
        moves, gains = P[states, policy].copy(), paid[states, policy].sum(axis=1)
        moves[goal], gains[goal] = 0.0, 0.0
        moves[:, goal] = 0.0
        if np.abs(np.linalg.eigvals(moves)).max() > 1 - 1e-9:
            continue
        inverse = np.linalg.inv(np.eye(len(states)) - moves)
        path, steps = inverse @ gains, inverse @ (states != goal)
        best = max(best, (goal_reward + path[starts].mean()) / (steps[starts].mean() + 1))
    return best


@given(worlds(max_states=4, max_actions=3, max_outcomes=2, slopes=False), st.data())
@settings(max_examples=25)
def test_the_rate_is_the_best_ratio_of_all_policies_that_arrive(world, data):
    goal = data.draw(st.integers(0, world.n_states - 1))
    goal_reward = data.draw(st.sampled_from([0.5, 10.0, 1000.0]))
    end = np.arange(world.n_states) == goal
    sure = [s for s in range(world.n_states) if s != goal and optimum(world, goal).arrival[s] == 1]
    if len(sure) < world.n_states - 1 or not sure:
        return
    fresh = np.zeros(world.n_states)
    fresh[sure] = 1 / len(sure)
    expected = brute_rate(world, goal, sure, goal_reward)
    try:
        found = best_rate(world, end, fresh, goal_reward)
    except PositiveCycleError:
        assert expected <= 1e-9  # staying for ever on a cycle that costs little is better than arriving
        return
    assert found.rho == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["windy-four-rooms", "muddy-rooms", "h-maze"])
def test_the_rate_is_the_limit_of_backward_induction(name):
    """Reward grows by rho a step, up to what the last trip loses; from 600 steps to 1,200 that cancels."""
    task = Task(load_world(name))
    goals = task.sampler.goals[:: max(1, len(task.sampler.goals) // 3)].tolist()
    grown = (best_rewards(task, goals, 1200).reward - best_rewards(task, goals, 600).reward) / 600
    protocol = protocol_of(task, goals, 1)
    for n in range(len(goals)):
        rho = best_rate(task.world, protocol.arrives[:, n], protocol.starts[:, n], task.goal_reward).rho
        assert grown[n] == pytest.approx(rho, rel=1e-6)


def test_where_arrival_is_uncertain_there_is_no_rate():
    task = Task(load_world("gymnasium:FrozenLake-v1"))
    protocol = protocol_of(task, [0], 1)
    with pytest.raises(FwrlError, match="certainty"):
        best_rate(task.world, protocol.arrives[:, 0], protocol.starts[:, 0], 10.0)


def test_a_cycle_that_beats_every_trip_is_an_error():
    world = from_outcomes("idle", [[[(1, 0, 0.6)], [(1, 1, -9.0)]], [[(1, 1, 0)]] * 2])
    with pytest.raises(PositiveCycleError):
        best_rate(world, np.array([False, True]), np.array([1.0, 0.0]), 10.0)


def test_work_beyond_the_limit_uses_the_rate_and_says_so(monkeypatch):
    task = Task(load_world("four-rooms"))
    exact = best_rewards(task, [0, 5], 1000)
    monkeypatch.setattr("fwrl.task.expectation.LARGEST", 1)
    limit = best_rewards(task, [0, 5], 1000)
    assert exact.exact
    assert not limit.exact
    np.testing.assert_allclose(limit.reward, exact.reward, rtol=0.01)


def test_an_episode_has_at_least_one_step():
    world = load_world("h-maze")
    with pytest.raises(OptionError, match="at least one step"):
        best_episode(world, one_goal(world, 0, [1], steps=0))
    two = protocol_of(Task(world), [0, 1], 5)
    with pytest.raises(OptionError, match="one goal"):
        best_episode_policy(world, two)
    assert episode_reward(world, np.zeros(world.n_states, np.int64), one_goal(world, 0, [1], 1)).shape == (1,)
