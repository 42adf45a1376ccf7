"""Learning in episodic Gymnasium goal environments.

These have Dict observations `observation`, `achieved_goal` and `desired_goal`, each an integer. Entering the goal pays
the step's own reward plus the goal reward and ends the episode. The agent learns the edge into the goal with the step's
own part, and then the arriving step of the paper's protocol.

>>> import gymnasium, fwrl
>>> env = gymnasium.make("fwrl/FourRooms-v0")
>>> agent = fwrl.make_agent("fwrl", 68, 4, seed=0)
>>> fwrl.learn(agent, env, total_timesteps=2000, seed=0).success.mean() > 0.5
np.True_

Other environments with discrete actions become such environments by `fwrl.wrap`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fwrl.agents.agent import Agent
from fwrl.agents.validation import checked_index
from fwrl.display import Picture, drawn, html_table
from fwrl.errors import FwrlError, OptionError, PositiveCycleError
from fwrl.kernels.exploration import DEFAULT_STEPS
from fwrl.task.progress import tracked


class LearningEpisode(NamedTuple):
    """One episode that ended during learning.

    Attributes:
        number: from 0 on.
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
        """Draw the reward and the length of every episode.

        Returns:
            A matplotlib figure; notebooks show it, `savefig` writes it.
        """
        return drawn("learning_figure", self)

    def _repr_html_(self) -> str:
        rows: dict[str, object] = {"episodes": len(self.reward), "steps": int(self.steps.sum())}
        if len(self.reward):
            rows |= {"reached the goal": f"{self.success.mean():.0%}", "mean reward": float(self.reward.mean())}
        return html_table("learning", rows)


class ContinuousLearner(Protocol):
    """What learns from observations as they are, such as a navigator (see `fwrl.cells`)."""

    def begin_episode(self, observation: Any) -> None:
        """An episode begins."""

    def act(self, observation: Any) -> Any:
        """The next action, exploration included."""

    def observe(self, observation: Any, action: Any, next_observation: Any, terminated: bool) -> None:
        """A step was taken."""

    def end_episode(self) -> None:
        """The episode is over."""


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
        agent: with the environment's numbers of states and actions, or of fewer states in an environment of
            `fwrl.wrap`, with which it grows; or a learner of continuous worlds, as `make_navigator` makes it.
        env: for agents, Dict observations with integers under "observation" and "desired_goal", Discrete actions. The
            step's own reward is `info["path_reward"]`, where the environment reports it.
        total_timesteps: number of steps.
        seed: of the environment's first reset.
        goal_reward: included in the reward of reaching the goal, where `info` does not report the path reward.
        progress_bar: True to show one.
        callback: called with every `LearningEpisode` when it has ended.

    Returns:
        Rewards, lengths and successes of the episodes that ended.
    """
    if total_timesteps < 1:
        raise OptionError(f"expected at least one step, got {total_timesteps}")
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
            # A goal ends an episode without being an end for other goals.
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
            state, goal = _read(env.reset()[0], agent, env)
            agent.begin_episode(goal, steps)
    return ended.learning


def _learn_continuous(learner: ContinuousLearner, env: Any, steps: Iterable[int], seed: int, ended: _Ended) -> Learning:
    """The same for learners of continuous worlds; an episode that terminates has reached its goal."""
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
    """The episodes that have ended, and the reward and steps of the one that has not."""

    def __init__(self, callback: Callback | None) -> None:
        self._callback = callback
        self._episodes: list[LearningEpisode] = []
        self._reward, self._steps = 0.0, 0

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
    """Require a goal environment with the agent's actions, as far as its spaces tell."""
    spaces = getattr(getattr(env, "observation_space", None), "spaces", {})
    actions = getattr(env, "action_space", None)
    if not {"observation", "desired_goal"} <= set(spaces):
        raise FwrlError(
            "expected a goal environment: Dict observations with integers under 'observation' and 'desired_goal', "
            f"got {getattr(env, 'observation_space', env)}; fwrl.wrap(env) makes one of an environment with discrete "
            "actions"
        )
    if getattr(actions, "n", None) != agent.n_actions or getattr(actions, "start", 0) != 0:
        raise FwrlError(f"expected an environment with {agent.n_actions} actions like the agent's, got {actions}")


def _read(observation: Any, agent: Agent, env: Any) -> tuple[int, int]:
    """(state, goal) of an observation; the agent grows if the environment's number of states does."""
    try:
        state = operator.index(np.asarray(observation["observation"]).item())
        goal = operator.index(np.asarray(observation["desired_goal"]).item())
    except (KeyError, TypeError, IndexError, ValueError):
        raise FwrlError(
            f"expected a goal environment with integers under 'observation' and 'desired_goal', got {observation!r}"
        ) from None
    if 0 <= state < agent.n_states and 0 <= goal < agent.n_states:
        return state, goal
    seen = getattr(env, "n_states", 0)  # an environment that numbers its states as they appear has this attribute
    if not (0 <= state < seen and 0 <= goal < seen):
        raise FwrlError(
            f"expected states from 0 to {agent.n_states - 1}, got state {state} and goal {goal}; "
            "make the agent with the environment's number of states"
        )
    agent.grow(max(seen, 2 * agent.n_states))
    return state, goal


def _counted(total: int, progress_bar: bool) -> Iterable[int]:
    return tracked(range(total), total, "learning") if progress_bar else range(total)
