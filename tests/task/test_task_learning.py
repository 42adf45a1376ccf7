"""`fwrl.learn`: our environments and other people's, the same seed with the same result, errors in words."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import fwrl
from fwrl.envs import WorldEnv
from fwrl.errors import FwrlError, OptionError, PositiveCycleError


class Corridor(gymnasium.Env):
    """A goal environment that is not fwrl's: n cells in a row, no path rewards in info."""

    def __init__(self, n=6, step_reward=-1.0, goal_reward=5.0, dtype=np.int64):
        self.n, self.step_reward, self.goal_reward, self.dtype = n, step_reward, goal_reward, dtype
        keys = ("observation", "achieved_goal", "desired_goal")
        self.observation_space = spaces.Dict({key: spaces.Discrete(n) for key in keys})
        self.action_space = spaces.Discrete(2)

    def observe(self):
        where, goal = (np.array([x], self.dtype) for x in (self.where, self.goal))
        return {"observation": where, "achieved_goal": where, "desired_goal": goal}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.where, self.goal = self.np_random.choice(self.n, 2, replace=False).tolist()
        self.steps = 0
        return self.observe(), {}

    def step(self, action):
        self.where = min(max(self.where + (1 if action else -1), 0), self.n - 1)
        self.steps += 1
        arrived = self.where == self.goal
        reward = self.step_reward + (self.goal_reward if arrived else 0.0)
        return self.observe(), reward, arrived, self.steps >= 50, {}


def four_rooms(**options):
    return gymnasium.make("fwrl/FourRooms-v0", **options)


def made(name, n_states=68, n_actions=4, seed=0):
    return fwrl.make_agent(name, n_states, n_actions, seed=seed)


@pytest.mark.parametrize("name", ["fwrl", "ql", "qlcat", "mbrl"])
def test_same_seed_same_result(name, tmp_path):
    for run in ("a", "b"):
        agent = made(name)
        learned = fwrl.learn(agent, gymnasium.make("fwrl/WindyFourRooms-v0"), 3000, seed=4)
        agent.save(tmp_path / f"{run}.fwrl")
        np.savez(tmp_path / f"{run}.npz", learned.reward, learned.steps, learned.success)
    for kind in ("fwrl", "npz"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()


def test_results_are_given_episode_by_episode():
    learned = fwrl.learn(made("fwrl"), four_rooms(), 4000, seed=0)
    assert len(learned.reward) == len(learned.steps) == len(learned.success) > 20
    assert learned.steps.sum() <= 4000
    # 10 for arriving, -2.5e-4 a step: what the environment pays, added up.
    np.testing.assert_allclose(learned.reward, 10 * learned.success - 2.5e-4 * learned.steps)
    assert np.all((learned.steps == 400) | learned.success)


@pytest.mark.parametrize("name", ["fwrl", "mbrl"])
def test_four_rooms_are_learned(name):
    env = four_rooms()
    agent = made(name)
    fwrl.learn(agent, env, 20_000, seed=0)
    world = env.unwrapped.world
    distance = np.array([world.distances_to(g) for g in range(68)])
    estimated = np.array([agent.values(g) for g in range(68)]) / -2.5e-4
    known = np.isfinite(estimated)
    assert known.mean() > 0.99
    # No path is better than the shortest; nearly all that are known are the shortest.
    assert np.all(estimated[known] >= distance[known] - 1e-6)
    assert np.isclose(estimated, distance).mean() > 0.95


class OneTrip(gymnasium.Wrapper):
    """Always the same start and the same goal."""

    def reset(self, *, seed=None, options=None):
        return self.env.reset(seed=seed, options={"start": (0, 0), "goal": (2, 2)})


def test_agents_that_learn_from_the_goal_reward_learn_as_well():
    env = OneTrip(gymnasium.make("fwrl/HMaze-v0"))
    assert isinstance(env.unwrapped, WorldEnv)
    world = env.unwrapped.world
    start, goal = world.state_at(0, 0), world.state_at(2, 2)
    agent, forgetful = made("qlcat", n_states=7), made("ql", n_states=7)
    assert fwrl.learn(agent, env, 2000, seed=0).success.all()
    assert agent.value(start, goal) == pytest.approx(10 - 4 * 2.5e-4)
    # The goal is 4 moves away: down, right, right, down.
    assert [world.action_names[agent.greedy(world.state_at(*at), goal)] for at in [(0, 0), (0, 1), (1, 1), (2, 1)]] == [
        "down",
        "right",
        "right",
        "down",
    ]
    assert fwrl.learn(forgetful, env, 2000, seed=0).success.all()
    assert forgetful.value(start, goal) < 2


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint8])
def test_other_peoples_environments_say_what_the_goal_pays_by_goal_reward(dtype):
    agent = made("fwrl", 6, 2)
    learned = fwrl.learn(agent, Corridor(dtype=dtype), 2000, seed=0, goal_reward=5.0)
    assert learned.success.mean() > 0.9
    expected = -np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    np.testing.assert_array_equal([[agent.value(s, g) for g in range(6)] for s in range(6)], expected)


def test_an_undeclared_goal_reward_closes_a_positive_cycle_and_the_error_says_so():
    with pytest.raises(PositiveCycleError, match="pass the amount as goal_reward"):
        fwrl.learn(made("fwrl", 6, 2), Corridor(), 2000, seed=0)


def test_a_truncated_episode_is_followed_by_the_next_and_is_no_arrival():
    agent = made("random", 6, 2)
    learned = fwrl.learn(agent, Corridor(n=6, step_reward=0.0), 5000, seed=0, goal_reward=5.0)
    assert set(np.unique(learned.reward)) == {0.0, 5.0}
    np.testing.assert_array_equal(learned.success, learned.reward == 5.0)


def test_arriving_within_a_threshold_counts():
    env = gymnasium.make("fwrl/Grid-v0", map="four-rooms", goal_threshold=3.0)
    learned = fwrl.learn(made("fwrl"), env, 3000, seed=0)
    assert learned.success.mean() > 0.9


def test_an_environment_without_goals_is_refused_in_words():
    with pytest.raises(FwrlError, match=r"expected a goal environment.*got Box"):
        fwrl.learn(made("fwrl"), gymnasium.make("CartPole-v1"), 100)
    with pytest.raises(FwrlError, match=r"expected a goal environment.*got Discrete\(16\)"):
        fwrl.learn(made("fwrl", 16, 4), gymnasium.make("FrozenLake-v1"), 100)
    with pytest.raises(FwrlError, match=r"expected an agent and then an environment.*NoneType"):
        fwrl.learn(made("fwrl"), None, 100)


def test_states_that_are_no_integers_are_refused():
    with pytest.raises(FwrlError, match="integers under 'observation'"):
        fwrl.learn(made("fwrl", 6, 2), Corridor(dtype=np.float64), 100)


def test_an_agent_of_another_size_is_refused():
    with pytest.raises(FwrlError, match="states from 0 to 7, got state"):
        fwrl.learn(made("fwrl", n_states=8), four_rooms(), 100)
    for n_actions in (3, 5):
        with pytest.raises(FwrlError, match=rf"agent has {n_actions} actions, but the environment has Discrete\(4\)"):
            fwrl.learn(made("fwrl", n_actions=n_actions), four_rooms(), 100)
    with pytest.raises(OptionError, match="total_timesteps as a whole number of at least 1, got 0"):
        fwrl.learn(made("fwrl"), four_rooms(), 0)


def test_the_progress_bar_shows_only_when_asked_for(capsys):
    fwrl.learn(made("fwrl"), four_rooms(), 200)
    assert capsys.readouterr() == ("", "")
    fwrl.learn(made("fwrl"), four_rooms(), 200, progress_bar=True)
    shown = "".join(capsys.readouterr())
    assert "learning" in shown
    assert "100%" in shown


def test_a_callback_gets_every_episode_that_ended():
    seen: list[Any] = []
    learned = fwrl.learn(made("random"), four_rooms(), 2000, seed=0, callback=seen.append)
    assert [episode.number for episode in seen] == list(range(len(learned.reward)))
    assert [episode.success for episode in seen] == learned.success.tolist()
    assert [(episode.reward, episode.steps) for episode in seen] == list(
        zip(learned.reward.tolist(), learned.steps.tolist(), strict=True)
    )
