"""Learning in episodic Gymnasium goal environments.

These have Dict observations `observation`, `achieved_goal` and `desired_goal`, each an integer. Entering the goal pays
the step's own reward plus the goal reward and ends the episode. The agent learns the edge into the goal with the step's
own part, and then the arriving step of the paper's protocol.

`fwrl.wrap` turns other environments with discrete actions into goal environments.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.agents.validation import checked_index
from fwrl.arguments import check_function, check_real, check_whole
from fwrl.display import Picture, drawn, html_table
from fwrl.errors import FwrlError, FwrlWarning, OptionError, PositiveCycleError
from fwrl.kernels.exploration import DEFAULT_STEPS
from fwrl.task.progress import tracked

SUSPICIOUS = 10  # episodes without a success before we warn
UNENDED = 1000  # steps without the end of an episode before we warn


class LearningEpisode(NamedTuple):
    """One episode that ended during learning.

    Attributes:
        number: from 0.
        reward: summed reward of the environment, goal reward included.
        steps: number of steps.
        success: whether the goal was reached.
    """

    number: int
    reward: float
    steps: int
    success: bool


Callback = Callable[[LearningEpisode], object]


@dataclass(frozen=True, eq=False)
class Learning:
    """The E episodes that ended during learning.

    Attributes:
        reward: (E,) summed reward of the environment, goal reward included.
        steps: (E,) number of steps.
        success: (E,) whether the goal was reached.
    """

    reward: NDArray[np.float64]
    steps: NDArray[np.int64]
    success: NDArray[np.bool_]

    def plot(self) -> Picture:
        """Draw the reward and the length of every episode, as a matplotlib figure."""
        return drawn("learning_figure", self)

    def _repr_html_(self) -> str:
        rows: dict[str, object] = {"episodes": len(self.reward), "steps": int(self.steps.sum())}
        if len(self.reward):
            rows |= {"reached the goal": f"{self.success.mean():.0%}", "mean reward": float(self.reward.mean())}
        return html_table("learning", rows)


class ContinuousLearner(Protocol):
    """A learner that takes observations as they are, such as a navigator (see `fwrl.navigator`)."""

    def begin_episode(self, observation: Any) -> None:
        """Begin an episode."""

    def act(self, observation: Any) -> Any:
        """Choose the next action, exploration included."""

    def observe(self, observation: Any, action: Any, next_observation: Any, terminated: bool) -> None:
        """Learn from a step."""

    def end_episode(self) -> None:
        """End the episode."""


def learn(
    agent: Agent | ContinuousLearner,
    env: Any,
    total_timesteps: int,
    *,
    seed: int = 0,
    goal_reward: float = 0.0,
    progress_bar: bool = False,
    callback: Callback | None = None,
) -> Learning:
    """Let an agent learn in a Gymnasium goal environment. The same seed gives the same result.

    Args:
        agent: sized for the environment; in an environment of `fwrl.wrap`, agents with fewer states grow. Or a learner
            for continuous worlds, as `make_navigator` returns it.
        env: for agents, Dict observations with integers under "observation" and "desired_goal", and Discrete actions.
            It may report a step's own reward as `info["path_reward"]`.
        seed: seeds the environment's first reset.
        goal_reward: the part of the reward paid for reaching the goal, if `info` doesn't report the path reward.
        callback: called with every `LearningEpisode` as it ends.

    Returns:
        Rewards, lengths and successes of the finished episodes.

    >>> import gymnasium, fwrl
    >>> env = gymnasium.make("fwrl/FourRooms-v0")
    >>> agent = fwrl.make_agent("fwrl", 68, 4, seed=0)
    >>> fwrl.learn(agent, env, total_timesteps=2000, seed=0).success.mean() > 0.5
    np.True_
    """
    learns = isinstance(agent, Agent) or all(hasattr(agent, verb) for verb in ("begin_episode", "act", "observe"))
    if not learns or not (hasattr(env, "reset") and hasattr(env, "step")):
        raise OptionError(
            "expected an agent and then an environment, got "
            f"{type(agent).__name__} and {type(env).__name__}; call learn(agent, gymnasium.make(...), 10_000)"
        )
    total_timesteps = check_whole("total_timesteps", total_timesteps, 1)
    check_whole("seed", seed)
    if not math.isfinite(check_real("goal_reward", goal_reward)):
        raise OptionError(f"expected goal_reward as a finite number, got {goal_reward}")
    check_function("callback", callback)
    ended = _Ended(callback)
    if not isinstance(agent, Agent):
        return _learn_continuous(agent, env, _counted(total_timesteps, progress_bar), seed, ended)
    _check_fit(agent, env)
    steps = getattr(env.spec, "max_episode_steps", None) or DEFAULT_STEPS
    state, goal = _read(env.reset(seed=seed)[0], agent, env)
    agent.begin_episode(goal, steps)
    for _ in _counted(total_timesteps, progress_bar):
        action = checked_index(agent.act(state), agent.n_actions, "an action")
        observation, reward, terminated, truncated, info = env.step(action)
        next_state, _ = _read(observation, agent, env)
        success = bool(terminated) and bool(info.get("is_success", next_state == goal))
        path_reward = info.get("path_reward", reward - goal_reward if success else reward)
        try:
            # Reaching this goal ends the episode, but isn't an end for other goals.
            agent.observe(state, action, float(path_reward), next_state, terminated=bool(terminated) and not success)
        except PositiveCycleError as error:
            raise PositiveCycleError(
                f"{str(error).partition(';')[0]}; if the environment pays for reaching the goal, pass the amount "
                "as goal_reward, or report each step's own part as info['path_reward']"
            ) from error
        ended.add_step(float(reward))
        state = next_state
        if success:
            agent.observe(state, agent.act(state), float(reward - path_reward), state, arrived=True)
        if terminated or truncated:
            ended.add_episode(success)
            ended.lost += bool(terminated) and not success
            state, goal = _read(env.reset()[0], agent, env)
            agent.begin_episode(goal, steps)
    ended.warn_if_never_over(goal, total_timesteps)
    ended.warn_if_never_successful()
    return ended.learning


def _learn_continuous(learner: ContinuousLearner, env: Any, steps: Iterable[int], seed: int, ended: _Ended) -> Learning:
    """Learn in a continuous world; an episode that terminates has reached its goal."""
    observation = env.reset(seed=seed)[0]
    learner.begin_episode(observation)
    for _ in steps:
        action = learner.act(observation)
        next_observation, reward, terminated, truncated, info = env.step(action)
        learner.observe(observation, action, next_observation, bool(terminated))
        observation = next_observation
        ended.add_step(float(reward))
        if terminated or truncated:
            ended.add_episode(bool(info.get("success", info.get("is_success", terminated))))
            learner.end_episode()
            observation = env.reset()[0]
            learner.begin_episode(observation)
    learner.end_episode()
    return ended.learning


class _Ended:
    """The finished episodes, and the reward and steps of the current one."""

    def __init__(self, callback: Callback | None) -> None:
        self._callback = callback
        self._episodes: list[LearningEpisode] = []
        self._reward, self._steps = 0.0, 0
        self.lost = 0  # episodes that terminated without success

    def warn_if_never_over(self, goal: int, steps: int) -> None:
        """Warn if no episode ended in many steps: the result would be empty without a word."""
        if not self._episodes and steps >= UNENDED:
            warnings.warn(
                f"no episode ended within {steps:,} steps, so the result is empty: perhaps goal {goal} can't be "
                "reached from here; choose another, in an environment of fwrl.wrap with env.aim(), or limit the "
                "length of episodes with gymnasium.make(..., max_episode_steps=1000)",
                FwrlWarning,
                stacklevel=3,
            )

    def warn_if_never_successful(self) -> None:
        """Warn if every episode that the environment ended counts as a failure."""
        if self.lost and len(self._episodes) >= SUSPICIOUS and not any(episode.success for episode in self._episodes):
            warnings.warn(
                f"none of {len(self._episodes)} episodes counts as a success, though {self.lost} terminated; if the "
                "environment ends at its goal without a positive reward, tell fwrl: fwrl.wrap(env, success=lambda "
                "observation, reward, terminated, info: terminated), or report info['is_success']",
                FwrlWarning,
                stacklevel=3,
            )

    def add_step(self, reward: float) -> None:
        self._reward += reward
        self._steps += 1

    def add_episode(self, success: bool) -> None:
        episode = LearningEpisode(len(self._episodes), self._reward, self._steps, success)
        self._episodes.append(episode)
        self._reward, self._steps = 0.0, 0
        if self._callback is not None:
            self._callback(episode)

    @property
    def learning(self) -> Learning:
        return Learning(
            np.array([episode.reward for episode in self._episodes]),
            np.array([episode.steps for episode in self._episodes], dtype=np.int64),
            np.array([episode.success for episode in self._episodes], dtype=np.bool_),
        )


def _check_fit(agent: Agent, env: Any) -> None:
    """Require a goal environment with the agent's actions, as far as its spaces show."""
    spaces = getattr(getattr(env, "observation_space", None), "spaces", {})
    actions = getattr(env, "action_space", None)
    if not {"observation", "desired_goal"} <= set(spaces):
        raise FwrlError(
            "expected a goal environment: Dict observations with integers under 'observation' and 'desired_goal', "
            f"got {getattr(env, 'observation_space', env)}; fwrl.wrap(env) turns an environment with discrete actions "
            "into one"
        )
    if getattr(actions, "n", None) != agent.n_actions or getattr(actions, "start", 0) != 0:
        raise FwrlError(
            f"the agent has {agent.n_actions} actions, but the environment has {actions}; use the same number"
        )


def _read(observation: Any, agent: Agent, env: Any) -> tuple[int, int]:
    """Return (state, goal) of an observation; if the environment has more states by now, the agent grows."""
    try:
        state = operator.index(np.asarray(observation["observation"]).item())
        goal = operator.index(np.asarray(observation["desired_goal"]).item())
    except (KeyError, TypeError, IndexError, ValueError):
        raise FwrlError(
            f"expected a goal environment with integers under 'observation' and 'desired_goal', got {observation!r}"
        ) from None
    if 0 <= state < agent.n_states and 0 <= goal < agent.n_states:
        return state, goal
    seen = getattr(env, "n_states", 0)  # environments that number states as they appear have this attribute
    if not (0 <= state < seen and 0 <= goal < seen):
        raise FwrlError(
            f"expected states from 0 to {agent.n_states - 1}, got state {state} and goal {goal}; "
            "make the agent with the environment's number of states"
        )
    agent.grow(max(seen, 2 * agent.n_states))
    return state, goal


def _counted(total: int, progress_bar: bool) -> Iterable[int]:
    return tracked(range(total), total, "learning") if progress_bar else range(total)
