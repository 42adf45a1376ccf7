"""Episodes in fwrl's environments as a Minari dataset, with the exact optimum as metadata; needs the extra `minari`.

An episode of a goal environment ends on entering the goal, or after T steps. So its best expected return is that of a
task without respawn over T + 1 steps, one of which is the arriving step (see `task.expectation`). The metadata have it
twice: `ref_max_score` is the mean over all starts and goals that the environment draws (`ref_min_score` is the same for
random actions), and each episode has `optimal_return` for its own start and goal.
"""

from __future__ import annotations

import importlib
from typing import Any

import gymnasium
import numpy as np

from fwrl.agents.agent import Agent
from fwrl.agents.validation import checked_index
from fwrl.envs.registration import MAX_EPISODE_STEPS
from fwrl.envs.world_env import WorldEnv
from fwrl.errors import FwrlError, OptionError
from fwrl.task import Task
from fwrl.task.expectation import best_rewards, random_rewards
from fwrl.task.progress import tracked

KEYS = ("observation", "achieved_goal", "desired_goal")


def export_minari(
    agent: Agent,
    env: gymnasium.Env[Any, Any],
    dataset_id: str,
    episodes: int,
    *,
    seed: int = 0,
    learn: bool = False,
    explore: bool = True,
    progress_bar: bool = False,
) -> Any:
    """Run an agent in one of fwrl's environments and write its episodes as a Minari dataset.

    Args:
        agent: sized for the environment.
        env: made by `gymnasium.make("fwrl/...")`.
        dataset_id: Minari's name for it, such as "fwrl/four-rooms/random-v0".
        seed: seeds the environment; the same seed gives the same episodes.
        learn: True to let the agent learn meanwhile.
        explore: False to let it act greedily.

    Returns:
        The `minari.MinariDataset`, written to Minari's folder.

    >>> import gymnasium, fwrl
    >>> agent, env = fwrl.make_agent("random", 68, 4), gymnasium.make("fwrl/FourRooms-v0")
    >>> dataset = fwrl.export_minari(agent, env, "fwrl/four-rooms/random-v0", 10)  # doctest: +SKIP
    >>> dataset.total_episodes  # doctest: +SKIP
    10
    """
    try:
        minari = importlib.import_module("minari")
        collector = importlib.import_module("minari.data_collector")
    except ImportError:
        raise FwrlError("Minari isn't installed; install it with: pip install 'fwrl[minari]'") from None
    inner = env.unwrapped
    if not isinstance(inner, WorldEnv):
        raise FwrlError(f"expected one of fwrl's environments, whose optimum is known, got {type(inner).__name__}")
    if episodes < 1:
        raise OptionError(f"expected at least one episode, got {episodes}")
    task = Task(inner.world, goal_reward=inner.goal_reward, goal_threshold=inner.goal_threshold, respawn=False)
    steps = (getattr(env.spec, "max_episode_steps", None) or MAX_EPISODE_STEPS) + 1
    buffers, optima = [], []
    numbers = range(episodes)
    for number in tracked(numbers, episodes, "walking") if progress_bar else numbers:
        walk = _walk(agent, env, seed if number == 0 else None, steps, learn, explore)
        buffers.append(collector.EpisodeBuffer(id=number, **walk))
        start, goal = (int(walk["observations"][key][0]) for key in ("observation", "desired_goal"))
        optima.append(float(best_rewards(task, [goal], steps, start).reward[0]))
    goals = np.flatnonzero([len(task.sampler.starts(g)) > 0 for g in range(inner.world.n_states)]).tolist()
    dataset = minari.create_dataset_from_buffers(
        dataset_id,
        buffers,
        env=env,
        algorithm_name=agent.name,
        ref_min_score=float(random_rewards(task, goals, steps).mean()),
        ref_max_score=float(best_rewards(task, goals, steps).reward.mean()),
        description=f"{episodes} episodes of {agent!r} in {inner.world.name}; an episode's optimal_return is the exact "
        "expected return of the best policy for its start and goal",
        requirements=["fwrl"],
    )
    dataset.storage.update_episode_metadata([{"optimal_return": optimum} for optimum in optima])
    return dataset


def _walk(
    agent: Agent, env: gymnasium.Env[Any, Any], seed: int | None, steps: int, learn: bool, explore: bool
) -> dict[str, Any]:
    """Run one episode of up to `steps`, the arriving step included, and return the fields of Minari's buffer."""
    observation, _ = env.reset(seed=seed)
    agent.begin_episode(int(observation["desired_goal"]), steps, explore=explore)
    seen = {key: [observation[key]] for key in KEYS}
    actions, rewards, terminations, truncations, path_rewards = [], [], [], [], [0.0]
    over = False
    while not over:
        state = int(observation["observation"])
        action = checked_index(agent.act(state), agent.n_actions, "an action")
        observation, reward, terminated, truncated, info = env.step(action)
        actions.append(np.int64(action))
        truncated = truncated or (not terminated and len(actions) == steps - 1)  # if the environment sets no time limit
        if learn:
            _observe(agent, state, action, float(reward), int(observation["observation"]), bool(terminated), info)
        for key in KEYS:
            seen[key].append(observation[key])
        rewards.append(float(reward))
        terminations.append(bool(terminated))
        truncations.append(bool(truncated))
        path_rewards.append(float(info["path_reward"]))
        over = bool(terminated or truncated)
    return {
        "seed": seed,
        "observations": {key: np.array(values) for key, values in seen.items()},
        "actions": np.array(actions),
        "rewards": rewards,
        "terminations": terminations,
        "truncations": truncations,
        "infos": {"path_reward": np.array(path_rewards)},
    }


def _observe(
    agent: Agent, state: int, action: int, reward: float, next_state: int, terminated: bool, info: dict[str, Any]
) -> None:
    """Learn from a step as `fwrl.learn` does: its own reward first, then the arriving step."""
    success, path_reward = bool(info["is_success"]), float(info["path_reward"])
    agent.observe(state, action, path_reward, next_state, terminated=terminated and not success)
    if success:
        agent.observe(next_state, agent.act(next_state), reward - path_reward, next_state, arrived=True)
