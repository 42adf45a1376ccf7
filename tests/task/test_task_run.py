"""Runs: results agree with the trajectory, and invalid runs are refused."""

from typing import Any

import numpy as np
import pytest

import fwrl
from fwrl.errors import FwrlError, OptionError, PositiveCycleError, TaskError
from fwrl.task import Task, rollout, run_episodes
from fwrl.worlds import from_outcomes
from fwrl.worlds.grid import from_map


def made(world, name="fwrl", seed=0, **options):
    return fwrl.make_agent(name, world.n_states, world.n_actions, seed=seed, **options)


@pytest.fixture(scope="module", params=["windy-four-rooms", "muddy-rooms"])
def finished(request):
    world = fwrl.load_world(request.param)
    return world, fwrl.run(world, made(world), episodes=5, steps=400, seed=3, trajectory=True)


def test_the_sums_of_the_trajectory_are_the_numbers_of_the_episodes(finished):
    _world, result = finished
    t = result.trajectory
    for e in range(5):
        mine = t.episode == e
        assert mine.sum() == result.steps[e] == 400
        # The loop adds rewards up one by one.
        assert result.reward[e] == np.cumsum(t.reward[mine])[-1]
        assert result.visits[e] == t.arrived[mine].sum()
    assert len(result.visit_distance) == len(result.visit_shortest) == result.visits.sum()
    by_episode = np.split(result.visit_distance, np.cumsum(result.visits)[:-1])
    np.testing.assert_allclose([part.sum() for part in by_episode], result.distance)


def test_distances_are_those_between_the_states_of_the_trajectory(finished):
    world, result = finished
    t = result.trajectory
    to = np.array([world.distances_to(g) for g in range(world.n_states)])
    for e in range(5):
        mine = t.episode == e
        s, n, arrived = t.state[mine], t.next_state[mine], t.arrived[mine]
        lengths = np.where(arrived, 0.0, to[n, s])
        trip = np.cumsum(arrived) - arrived  # which trip each step belongs to
        last = result.visits[e]
        travelled = np.bincount(trip, lengths, minlength=last + 1)[:last].sum()
        began = np.concatenate([s[:1], n[arrived]])[:last]
        assert result.distance[e] == pytest.approx(travelled)
        assert result.shortest[e] == pytest.approx(to[result.goal[e], began].sum())


def test_every_step_of_the_trajectory_is_an_outcome_of_the_world(finished):
    world, result = finished
    t = result.trajectory
    goals = result.goal[t.episode]
    np.testing.assert_array_equal(t.arrived, t.state == goals)
    assert np.all(t.reward[t.arrived] == 10.0)
    ordinary = zip(*(c[~t.arrived].tolist() for c in (t.state, t.action, t.reward, t.next_state)), strict=True)
    for s, a, r, n in ordinary:
        assert (n, r) in [(o.next_state, o.reward) for o in world.outcomes(s, a)]
    # Within a trip one step begins where the last one ended.
    goes_on = t.episode[1:] == t.episode[:-1]
    np.testing.assert_array_equal(t.state[1:][goes_on], t.next_state[:-1][goes_on])


def test_outcomes_happen_as_often_as_the_world_says():
    world = from_outcomes("chance", [[[(0.5, 0, -1.0), (0.2, 1, -1.0), (0.3, 2, -1.0)]]] * 3)
    result = fwrl.run(world, made(world, "random"), episodes=1, steps=30_000, seed=0, trajectory=True)
    t = result.trajectory
    assert t is not None
    share = np.bincount(t.next_state[~t.arrived]) / (~t.arrived).sum()
    np.testing.assert_allclose(share, [0.5, 0.2, 0.3], atol=0.01)


def test_run_episodes_gives_the_same_episodes_one_at_a_time():
    world = fwrl.load_world("four-rooms")
    whole = fwrl.run(world, made(world), episodes=4, steps=100, seed=1)
    parts = list(run_episodes(Task(world), made(world), episodes=4, steps=100, seed=1))
    assert [e.reward for e in parts] == whole.reward.tolist()
    assert [e.goal for e in parts] == whole.goal.tolist()


def test_an_agent_that_does_not_learn_is_unchanged():
    world = fwrl.load_world("four-rooms")
    agent = made(world)
    fwrl.run(world, agent, episodes=1, steps=50, learn=False)
    assert np.isneginf(agent.values(0)[1:]).all()


def test_an_agent_that_does_not_explore_takes_its_best_action():
    world = fwrl.load_world("four-rooms")
    agent = made(world)
    every = [(s, a, *world.outcomes(s, a)[0]) for s in range(68) for a in range(4)]
    states, actions, _, next_states, rewards = map(list, zip(*every, strict=True))
    agent.observe_many(states, actions, rewards, next_states)
    greedy = fwrl.run(world, agent, episodes=5, steps=400, seed=9, explore=False, learn=False)
    np.testing.assert_array_equal(greedy.distance, greedy.shortest)


def test_a_run_may_go_on_with_an_agent_that_has_run_before():
    world = fwrl.load_world("four-rooms")
    agent = made(world)
    first = fwrl.run(world, agent, episodes=1, steps=400, seed=0).reward[0]
    again = fwrl.run(world, agent, episodes=1, steps=400, seed=0).reward[0]
    assert again > first


def test_invalid_runs_are_refused_in_words():
    world = fwrl.load_world("four-rooms")
    with pytest.raises(OptionError, match="world has 68 states and 4 actions, but the agent is made for 67 and 4"):
        fwrl.run(world, fwrl.make_agent("fwrl", 67, 4))
    with pytest.raises(OptionError, match="world has 68 states and 4 actions, but the agent is made for 68 and 3"):
        next(rollout(Task(world), fwrl.make_agent("fwrl", 68, 3), episodes=1, steps=1))
    invalid: list[dict[str, Any]] = [{"episodes": 0}, {"episodes": -2}, {"steps": 0}]
    for nothing in invalid:
        with pytest.raises(OptionError, match=r"whole number (from 1 to 1,000,000,000|of at least 1)"):
            fwrl.run(world, made(world), **nothing)
    with pytest.raises(OptionError, match="episodes as a whole number from 1 to 1,000,000,000, got 0"):
        next(rollout(Task(world), made(world), episodes=0, steps=5))


@pytest.mark.parametrize("reward", [10.0, 11.0])
def test_an_ordinary_reward_as_high_as_the_goals_is_refused(reward):
    world = from_outcomes("rich", [[[(1.0, 1, reward)]], [[(1.0, 0, -20.0)]]])
    with pytest.raises(TaskError, match=rf"above every ordinary reward of 'rich' \(up to {reward:g}\), got 10"):
        fwrl.run(world, made(world), episodes=1, steps=5)
    assert fwrl.run(world, made(world), episodes=1, steps=5, goal_reward=12).steps[0] == 5


@pytest.mark.parametrize("goal_reward", [float("nan"), float("inf"), -1.0])
def test_a_goal_reward_that_is_none_is_refused(goal_reward):
    with pytest.raises(TaskError, match="finite goal_reward above every ordinary reward"):
        Task(from_map("..."), goal_reward=goal_reward)


def test_a_world_with_a_positive_cycle_is_named():
    world = from_outcomes("mint", [[[(1.0, 1, 1.0)]], [[(1.0, 2, 0.0)]], [[(1.0, 0, 0.0)]]])
    with pytest.raises(PositiveCycleError, match="the world 'mint' has a positive cycle"):
        fwrl.run(world, made(world), episodes=3, steps=50)


def test_bad_seeds_and_sizes_are_value_errors():
    world = fwrl.load_world("h-maze")
    with pytest.raises(ValueError, match="seed as a whole number of at least 0, got -1"):
        fwrl.run(world, made(world), seed=-1)
    with pytest.raises(FwrlError, match="n_states as a whole number of at least 1"):
        fwrl.make_agent("ql", 0, 4)


def test_a_callback_gets_every_episode_in_order(capfd):
    world = fwrl.load_world("h-maze")
    seen: list[Any] = []
    result = fwrl.run(
        world, fwrl.make_agent("random", 7, 4), episodes=4, steps=30, callback=seen.append, progress_bar=True
    )
    assert [episode.number for episode in seen] == [0, 1, 2, 3]
    assert [episode.reward for episode in seen] == result.reward.tolist()
    assert capfd.readouterr().out == "", "the bar is on standard error"
