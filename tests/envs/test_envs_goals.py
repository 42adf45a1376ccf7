"""The goal contract: rewards, arrival, starts and goals, and what is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwrl.envs.world_env import WorldEnv
from fwrl.errors import FwrlError, OptionError, TaskError, UnknownNameError
from fwrl.task import Task
from fwrl.worlds import World, from_outcomes, load_world
from fwrl.worlds.goal_sampler import GoalSampler

R_GOAL = 10.0


def line(n, rewards=(-1.0, -1.0), **details):
    """States 0..n-1 in a row; action 0 goes left for rewards[0], action 1 right for rewards[1]."""
    rows = [[[(1.0, max(s - 1, 0), rewards[0])], [(1.0, min(s + 1, n - 1), rewards[1])]] for s in range(n)]
    positions = np.array([(s, 0) for s in range(n)], dtype=np.float64)
    return from_outcomes("line", rows, positions=positions, **details)


def bridge():
    """0 <-> 1 -> 2, where 2 cannot be left: 1 slips into 2 half of the time."""
    return from_outcomes(
        "bridge",
        [[[(1.0, 1, -1.0)]], [[(0.5, 0, -1.0), (0.5, 2, -3.0)]], [[(1.0, 2, -1.0)]]],
        terminals={2: 5.0},
    )


@pytest.mark.parametrize("name", ["four-rooms", "windy-four-rooms", "muddy-rooms", "risky-bridge"])
@pytest.mark.parametrize("threshold", [0.0, 2.0])
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_compute_reward_equals_the_reward_of_every_step(name, threshold, seed):
    env = WorldEnv(name, goal_threshold=threshold)
    env.reset(seed=seed)
    env.action_space.seed(seed)
    steps = []
    for _ in range(60):
        steps.append(env.step(env.action_space.sample()))
        observation, reward, terminated, _, info = steps[-1]
        achieved, desired = observation["achieved_goal"], observation["desired_goal"]
        single = env.compute_reward(achieved, desired, info)
        assert type(single) is float
        assert single == reward
        assert env.compute_terminated(achieved, desired, info) is terminated
        assert env.compute_truncated(achieved, desired, info) is False
        if terminated:
            env.reset()
    achieved = np.array([step[0]["achieved_goal"] for step in steps])
    desired = np.array([step[0]["desired_goal"] for step in steps])
    infos = [step[4] for step in steps]
    rewards = np.array([step[1] for step in steps])
    for shape in [(-1,), (-1, 1)]:
        for some in (infos, np.array(infos)):
            goals = achieved.reshape(shape), desired.reshape(shape)
            np.testing.assert_array_equal(env.compute_reward(*goals, some), rewards)
            assert np.asarray(env.compute_terminated(*goals, some)).tolist() == [step[2] for step in steps]
            assert np.asarray(env.compute_truncated(*goals, some)).tolist() == [False] * len(steps)


@pytest.mark.parametrize("info", [None, {}, [{}, {}, {}], np.array([{}, {}, {}])])
def test_one_step_reward_needs_no_info(info):
    env = WorldEnv(line(4))
    achieved, desired = np.array([[1], [2], [3]]), np.array([[3], [2], [0]])
    assert np.asarray(env.compute_reward(achieved, desired, info)).tolist() == [-1.0, 9.0, -1.0]
    assert env.compute_reward(2, 2, info) == 9.0


@pytest.mark.parametrize("info", [None, {}, [{}, {}], [{"path_reward": 1.0}]])
def test_different_step_rewards_need_path_reward_and_say_so(info):
    env = WorldEnv(line(4, rewards=(-1.0, -2.0)))
    with pytest.raises(FwrlError, match="path_reward"):
        env.compute_reward(np.array([1, 2, 3]), np.array([0, 0, 0]), info)


def test_path_rewards_come_from_one_info_or_from_one_each():
    env = WorldEnv(line(4, rewards=(-1.0, -2.0)))
    achieved, desired = np.array([1, 2]), np.array([1, 0])
    one, each = {"path_reward": -2.0}, [{"path_reward": -2.0}, {"path_reward": -1.0}]
    assert np.asarray(env.compute_reward(achieved, desired, one)).tolist() == [8.0, -2.0]
    assert np.asarray(env.compute_reward(achieved, desired, each)).tolist() == [8.0, -1.0]
    assert env.compute_reward(1, 1, one) == 8.0


def test_one_goal_goes_with_many_achieved_states():
    env = WorldEnv(line(4))
    assert np.asarray(env.compute_reward([0, 1, 2], 1)).tolist() == [-1.0, 9.0, -1.0]


@pytest.mark.parametrize("goals", [[[0, 1]], [0.5], [4], -1, "a"])
def test_goals_that_are_no_states_are_refused(goals):
    with pytest.raises(FwrlError, match="expected"):
        WorldEnv(line(4)).compute_reward(goals, 0)


def test_arriving_pays_the_step_and_the_goal_and_terminates():
    env = WorldEnv(line(3, rewards=(-1.0, -2.0)))
    observation, info = env.reset(options={"start": 0, "goal": 2})
    assert observation == {"observation": 0, "achieved_goal": 0, "desired_goal": 2}
    assert info == {"success": False, "is_success": False}
    _, reward, terminated, truncated, info = env.step(1)
    assert (reward, terminated, truncated) == (-2.0, False, False)
    assert info == {"path_reward": -2.0, "success": False, "is_success": False}
    observation, reward, terminated, truncated, info = env.step(1)
    assert observation == {"observation": 2, "achieved_goal": 2, "desired_goal": 2}
    assert (reward, terminated, truncated) == (8.0, True, False)
    assert info == {"path_reward": -2.0, "success": True, "is_success": True}


def test_coming_within_the_threshold_is_arriving():
    env = WorldEnv(line(6), goal_threshold=2.0)
    env.reset(options={"start": 0, "goal": 4})
    assert env.step(1)[2] is False
    assert env.step(1)[2] is True
    arrived = env.compute_terminated([0, 1, 2, 3, 4, 5], 4)
    assert np.asarray(arrived).tolist() == [False, False] + [True] * 4


def test_a_terminal_that_is_not_the_goal_is_a_dead_end():
    env = WorldEnv(bridge())
    env.reset(seed=0, options={"start": 1, "goal": 0})
    while env.step(0)[0]["observation"] != 2:
        env.reset(options={"start": 1, "goal": 0})
    observation, reward, terminated, _, info = env.step(0)
    assert observation["observation"] == 2
    assert (reward, terminated, info["success"]) == (-1.0, False, False)


def test_a_terminal_can_be_the_goal_when_start_and_goal_are_given():
    env = WorldEnv(bridge())
    env.reset(seed=0, options={"start": 0, "goal": 2})
    for _ in range(100):
        _, reward, terminated, _, _ = env.step(0)
        if terminated:
            break
    assert (reward, terminated) == (R_GOAL - 3.0, True)


def test_gymnasiums_frozen_lake_ends_in_its_present_or_is_stuck_in_its_holes():
    env = WorldEnv(World.from_gymnasium("FrozenLake-v1"))
    gift, hole = 15, 5
    ends = set()
    env.reset(seed=0)
    for _ in range(50):
        env.reset(options={"start": 14, "goal": gift})
        for action in [1, 2] * 50:
            observation, reward, terminated, _, _ = env.step(action)
            if terminated:
                break
        ends.add((int(observation["observation"]), reward, terminated))
    assert (gift, R_GOAL, True) in ends
    assert all(terminated == (state == gift) for state, _, terminated in ends)
    env.reset(options={"start": 4, "goal": 0})
    while env.step(2)[0]["observation"] != hole:
        env.reset(options={"start": 4, "goal": 0})
    assert [env.step(a)[0]["observation"] for a in range(4)] == [hole] * 4


def test_outcomes_come_as_often_as_the_table_says():
    env = WorldEnv(bridge())
    env.reset(seed=1)
    slips = 0
    for _ in range(4000):
        env.reset(options={"start": 1, "goal": 0})
        slips += env.step(0)[0]["observation"] == 2
    assert abs(slips / 4000 - 0.5) < 4 * 0.5 / np.sqrt(4000)


def test_goals_and_starts_are_uniform_over_mutually_reachable_pairs():
    """Two separate pairs {0, 1}, {2, 3, 4} and a lonely state: goals uniform over five states."""
    stay = 5
    ways = [[1, 0], [0, 1], [3, 4], [4, 2], [2, 3], [stay, stay]]
    env = WorldEnv(from_outcomes("islands", [[[(1.0, t, -1.0)] for t in row] for row in ways]))
    counts = np.zeros((6, 6))
    env.reset(seed=0)
    n = 6000
    for _ in range(n):
        observation, _ = env.reset()
        counts[observation["observation"], observation["desired_goal"]] += 1
    expected = np.zeros((6, 6))
    expected[0, 1] = expected[1, 0] = 1 / 5
    for s in (2, 3, 4):
        for g in (2, 3, 4):
            expected[s, g] = 1 / 10 if s != g else 0
    deviation = np.sqrt(expected * (1 - expected) / n)
    assert np.all(np.abs(counts / n - expected) <= 4.5 * deviation)


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_what_is_not_given_is_drawn_to_match(threshold):
    env = WorldEnv(line(5), goal_threshold=threshold)
    env.reset(seed=0)
    goals = {int(env.reset(options={"start": 2})[0]["desired_goal"]) for _ in range(100)}
    starts = {int(env.reset(options={"goal": 0})[0]["observation"]) for _ in range(100)}
    assert goals == ({0, 1, 3, 4} if threshold == 0 else {0, 4})
    assert starts == ({1, 2, 3, 4} if threshold == 0 else {2, 3, 4})


@pytest.mark.parametrize("name", ["four-rooms", "windy-four-rooms", "risky-bridge"])
@pytest.mark.parametrize("threshold", [0.0, 3.0])
def test_goals_mean_what_they_mean_in_the_papers_protocol(name, threshold):
    world = load_world(name)
    trips, task = GoalSampler(world, threshold), Task(world, goal_threshold=threshold)
    for goal in range(world.n_states):
        setup = task.setup(goal)
        assert trips.starts(goal).tolist() == setup.starts.tolist()
        assert trips.goal_states(goal).tolist() == np.flatnonzero(setup.arrives).tolist()


def test_no_episode_begins_with_the_goal_reached():
    env = WorldEnv(line(4), goal_threshold=1.0)
    env.reset(seed=0)
    for _ in range(200):
        observation, _ = env.reset()
        assert abs(int(observation["observation"]) - int(observation["desired_goal"])) > 1


@pytest.mark.parametrize("start", [3, np.int32(3), np.array(3), (3, 0), [3, 0], (3.0, 0.0), np.array([3, 0])])
def test_states_are_numbers_or_positions(start):
    observation, _ = WorldEnv(line(5)).reset(options={"start": start, "goal": None})
    assert observation["observation"] == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": 9}, "expected a start from 0 to 4"),
        ({"goal": -1}, "expected a goal from 0 to 4"),
        ({"goal": (7, 7)}, "isn't a floor cell"),
        ({"goal": (1, 2, 3)}, "expected a goal from 0 to 4"),
        ({"goal": (np.nan, 0)}, "expected a goal from 0 to 4"),
        ({"start": "here"}, "expected a start from 0 to 4"),
        ({"start": True}, "expected a start from 0 to 4"),
        ({"start": 1.5}, "expected a start from 0 to 4"),
        ({"start": 1, "goal": 1}, "already counts as the goal"),
    ],
)
def test_bad_starts_and_goals_are_refused(options, message):
    env = WorldEnv(line(5))
    with pytest.raises(FwrlError, match=message):
        env.reset(options=options)


def test_unknown_options_are_refused_with_close_matches():
    with pytest.raises(UnknownNameError, match="did you mean 'goal'"):
        WorldEnv(line(5)).reset(options={"gaol": 1})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"goal": 2}, "give a start as well"),
        ({"start": 2}, "give a goal as well"),
        ({"start": 2, "goal": 0}, "can't be reached"),
    ],
)
def test_pairs_out_of_reach_are_refused(options, message):
    with pytest.raises(TaskError, match=message):
        WorldEnv(bridge()).reset(options=options)


def test_a_world_without_two_mutually_reachable_states_is_refused():
    one_way = from_outcomes("one-way", [[[(1.0, 1, -1.0)]], [[(1.0, 1, -1.0)]]])
    with pytest.raises(TaskError, match="can reach each other"):
        WorldEnv(one_way)
    with pytest.raises(TaskError, match="more than 3 apart"):
        WorldEnv(line(4), goal_threshold=3.0)


@pytest.mark.parametrize("goal_reward", [1.0, -2.0, np.nan, np.inf])
def test_ordinary_rewards_must_stay_below_the_goal_reward(goal_reward):
    with pytest.raises(TaskError, match="goal_reward"):
        WorldEnv(line(4, rewards=(-1.0, 1.0)), goal_reward=goal_reward)


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"world": "h-maze", "map": "h-maze"},
        {"world": "h-maze", "goal_threshold": -1.0},
        {"world": "h-maze", "goal_threshold": np.nan},
        {"world": "h-maze", "goal_threshold": np.inf},
    ],
)
def test_options_that_make_no_environment_are_refused(kwargs):
    with pytest.raises(OptionError, match="expected"):
        WorldEnv(**kwargs)


def test_an_unknown_render_mode_is_refused():
    with pytest.raises(UnknownNameError, match="did you mean 'human'"):
        WorldEnv("h-maze", render_mode="humans")


def test_steps_out_of_order_and_unknown_actions_are_refused():
    env = WorldEnv(line(4))
    with pytest.raises(FwrlError, match="reset"):
        env.step(0)
    env.reset(seed=0)
    actions: list[Any] = [2, -1, 0.5]
    for action in actions:
        with pytest.raises(FwrlError, match="expected an action from 0 to 1"):
            env.step(action)


def test_a_map_file_makes_an_environment(tmp_path):
    path = tmp_path / "maze.txt"
    path.write_text(".#.\n...\n.#.\n")
    for file in (path, str(path)):
        assert WorldEnv(map=file).world.n_states == load_world("h-maze").n_states
