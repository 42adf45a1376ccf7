"""`fwrl.wrap`: other people's discrete environments, as they come with Gymnasium."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import fwrl
from fwrl.envs.observation_key import observation_key
from fwrl.errors import FileError, FwrlError, OptionError

OPTIMISTIC = {"explorer": "optimistic"}


def lake(**options):
    return fwrl.wrap(gymnasium.make("FrozenLake-v1", is_slippery=False, **options))


def ended(observation, reward, terminated, info):
    return terminated


def made(env, **options):
    return fwrl.make_agent("fwrl", env.n_states, env.n_actions, seed=0, **options)


@pytest.mark.parametrize("options", [OPTIMISTIC, {**OPTIMISTIC, "backup": "expected"}], ids=["best", "expected"])
def test_holes_of_the_frozen_lake_are_traps_for_optimists(options):
    env = lake()
    agent = made(env, **options)
    learned = fwrl.learn(agent, env, 3000, seed=0)
    # Everything is tried once: 16 cells of 4 actions, so no more than 64 episodes can fail.
    assert (~learned.success).sum() <= 64
    assert learned.success[-100:].all()
    steps = learned.steps[learned.success][-100:]
    assert np.median(steps) == steps.min() == 6, "the shortest way"
    # With the expected backup, trips that repeat try again what failed, for less than one part in twenty of their cost.
    assert steps.mean() <= (6 * 21 / 20 if "backup" in options else 6)


def test_the_defect_was_that_a_hole_had_untried_actions():
    """The same loop without word of termination never reaches the goal again: this is what `wrap` mends."""
    env = lake()
    agent = made(env, **OPTIMISTIC)
    agent.mark_terminated = lambda state: False
    learned = fwrl.learn(agent, env, 3000, seed=0)
    assert learned.success.sum() == 0


def test_q_learning_expects_nothing_of_a_hole():
    env = lake()
    agent = fwrl.make_agent("qlcat", env.n_states, env.n_actions, seed=0)
    learned = fwrl.learn(agent, env, 4000, seed=0)
    assert learned.success[-50:].mean() > 0.5
    assert agent.value(env.state_of(0), 0) == pytest.approx(1 - 5 * env.step_cost)


def test_cliff_walking_takes_the_user_s_predicate_and_finds_the_shortest_way():
    env = fwrl.wrap(gymnasium.make("CliffWalking-v1"), success=ended)
    agent = made(env, **OPTIMISTIC)
    learned = fwrl.learn(agent, env, 5000, seed=0)
    assert learned.success.all(), "only the goal ends an episode"
    start = env.state_of(36)
    # 13 steps along the edge for -1 each, and the step cost.
    assert agent.value(start, 0) == pytest.approx(-13 * (1 + env.step_cost))
    assert learned.reward[-1] == -13


def test_taxi_is_learned_to_the_exact_optimum_of_its_table():
    env = fwrl.wrap(gymnasium.make("Taxi-v4"), step_cost=0.0)
    agent = made(env, **OPTIMISTIC)
    fwrl.learn(agent, env, 60_000, seed=0)
    world = fwrl.load_world("gymnasium:Taxi-v4")
    ends = sorted(s for s, reward in world.terminals.items() if reward == 20)
    from fwrl.oracle import optimum

    best = np.max([optimum(world, g).value for g in ends], axis=0)
    seen = [s for s in range(500) if _seen(env, s)]
    assert len(seen) > 300
    values = np.array([agent.value(env.state_of(s), 0) for s in seen])
    np.testing.assert_allclose(values, best[seen], atol=1e-9)


def _seen(env, observation):
    try:
        env.state_of(observation)
    except FwrlError:
        return False
    return True


def test_any_seen_state_can_be_the_goal():
    env = lake()
    agent = made(env, **OPTIMISTIC)
    fwrl.learn(agent, env, 2000, seed=0)
    goal = env.state_of(10)
    env.aim(goal)
    learned = fwrl.learn(agent, env, 400, seed=1)
    assert learned.success.all()
    assert (learned.steps == 4).all(), "cell 10 is two steps down and two to the right"
    env.aim()
    assert fwrl.learn(agent, env, 60, seed=1).reward.tolist() == [1.0] * 10
    observation, _ = env.reset(options={"goal": goal})
    assert observation["desired_goal"] == goal
    assert env.observation_of(goal) == 10
    hole = env.state_of(5)
    assert agent.value(env.state_of(0), hole) == pytest.approx(-2 * env.step_cost), "holes are goals like others"


def test_an_end_is_not_confused_with_the_same_observation_in_the_middle():
    class Flicker(gymnasium.Env):
        """Both actions lead back to the only observation; the second one ends the episode."""

        observation_space, action_space = spaces.Discrete(1), spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return 0, {}

        def step(self, action):
            return 0, 0.0, bool(action), False, {}

    env = fwrl.wrap(Flicker())
    first, _ = env.reset()
    stayed = env.step(0)[0]["observation"]
    over = env.step(1)[0]["observation"]
    assert first["observation"] == stayed != over
    assert env.state_of(0) == stayed


class Reporting(gymnasium.Env):
    """Says itself whether it succeeded; actions are numbered from 5."""

    observation_space, action_space = spaces.Tuple([spaces.Discrete(3)] * 2), spaces.Discrete(2, start=5)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.options = options
        return (0, 0), {}

    def step(self, action):
        assert action in (5, 6)
        return (1, int(action)), -3.0, action == 6, False, {"is_success": action == 5}


def test_success_is_what_the_environment_reports_and_its_reward_is_no_bonus():
    inner = Reporting()
    env = fwrl.wrap(inner, step_cost=0.5)
    env.reset(options={"wind": 3})
    assert inner.options == {"wind": 3}
    observation, reward, terminated, truncated, info = env.step(0)
    assert (observation["observation"], reward, terminated, truncated) == (0, -3.0, True, False)
    assert info["is_success"]
    assert info["path_reward"] == -3.5
    env.reset()
    assert env.step(1)[2:] == (True, False, {"path_reward": -3.5, "is_success": False})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": (2, 3)}, {"b": [2, 3], "a": 1}),
        (np.arange(4, dtype=np.uint8).reshape(2, 2), np.asfortranarray(np.arange(4, dtype=np.uint8).reshape(2, 2))),
        (np.arange(3), np.repeat(np.arange(3), 2)[::2]),
        (np.int64(7), 7),
    ],
)
def test_equal_content_is_one_state(one, other):
    assert observation_key(one) == observation_key(other)


def test_different_content_is_not():
    apart = [
        0,
        "0",
        b"0",
        None,
        (0,),
        (0, 0),
        ((0,), 0),
        {"0": 0},
        {0: "0"},
        frozenset({0}),
        np.zeros(4, np.uint8),
        np.zeros((2, 2), np.uint8),
        np.zeros(1, np.int32),
        ("a", "bc"),
        ("ab", "c"),
    ]
    assert len({observation_key(part) for part in apart}) == len(apart)


@pytest.mark.parametrize("part", [1.5, np.float32(1), np.zeros(2), {"x": np.zeros(2)}, [0, 0.5]])
def test_floating_point_numbers_point_to_navigators(part):
    with pytest.raises(FwrlError, match="make_navigator"):
        observation_key(part)


def test_what_cannot_be_wrapped_is_refused_in_words():
    with pytest.raises(FwrlError, match=r"the observations are continuous: Box.*make_navigator"):
        fwrl.wrap(gymnasium.make("CartPole-v1"))
    with pytest.raises(FwrlError, match=r"expected an environment with Discrete actions, got Box"):
        fwrl.wrap(gymnasium.make("Pendulum-v1"))
    with pytest.raises(FwrlError, match="expected a Gymnasium environment, got str"):
        fwrl.wrap("FrozenLake-v1")  # type: ignore[arg-type]
    with pytest.raises(FwrlError, match="already wrapped"):
        fwrl.wrap(lake())
    with pytest.raises(OptionError, match="step_cost"):
        fwrl.wrap(gymnasium.make("FrozenLake-v1"), step_cost=-1.0)
    env = lake()
    env.reset(seed=0)
    for goal in (7, -1, "home"):
        with pytest.raises(FwrlError, match=r"expected a goal from 0 \(success\) to 1"):
            env.aim(goal)
    with pytest.raises(FwrlError, match="hasn't been seen"):
        env.state_of(15)
    with pytest.raises(FwrlError, match="virtual"):
        env.observation_of(0)
    with pytest.raises(FwrlError, match=r"fwrl\.wrap\(env\) turns an environment"):
        fwrl.learn(made(env), gymnasium.make("FrozenLake-v1"), 10)


def test_a_key_makes_continuous_observations_discrete():
    env = fwrl.wrap(
        gymnasium.make("MountainCar-v0"),
        key=lambda o: (int(o[0] * 10), int(o[1] * 100)),
        success=ended,
    )
    agent = made(env)
    fwrl.learn(agent, env, 1000, seed=0)
    assert 5 < env.n_states < 200 <= 2 * agent.n_states * 200


def test_gymnasium_finds_nothing_wrong_with_it():
    check_env(lake(), skip_render_check=True)


def test_numbers_are_saved_and_taken_up_again(tmp_path):
    env = lake()
    agent = made(env, **OPTIMISTIC)
    fwrl.learn(agent, env, 2000, seed=0)
    env.save_states(tmp_path / "lake.states")
    agent.save(tmp_path / "lake.fwrl")
    again = fwrl.wrap(gymnasium.make("FrozenLake-v1", is_slippery=False), states=tmp_path / "lake.states")
    assert again.n_states == env.n_states
    assert [again.state_of(cell) for cell in range(14)] == [env.state_of(cell) for cell in range(14)]
    loaded = fwrl.load(tmp_path / "lake.fwrl")
    assert isinstance(loaded, fwrl.Agent)
    assert fwrl.learn(loaded, again, 60, seed=5).steps.tolist() == [6] * 10
    with pytest.raises(FileError, match="holds a 'agent'"):
        fwrl.wrap(gymnasium.make("FrozenLake-v1"), states=tmp_path / "lake.fwrl")
    with pytest.raises(FileError, match="holds a 'states'"):
        fwrl.load(tmp_path / "lake.states")


def test_the_same_seed_gives_the_same_result_and_the_same_numbers(tmp_path):
    for run in "ab":
        env = fwrl.wrap(gymnasium.make("FrozenLake-v1"))
        agent = fwrl.make_agent("mbrl", env.n_states, env.n_actions, seed=3)
        fwrl.learn(agent, env, 3000, seed=3)
        agent.save(tmp_path / f"{run}.fwrl")
        env.save_states(tmp_path / f"{run}.states")
    for kind in ("fwrl", "states"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
