"""Any discrete Gymnasium environment as a goal environment: observations are numbered as they appear.

State 0 is success, a virtual state. A step enters it if the environment reports `info["is_success"]`, or if your own
predicate says so. If neither exists, termination with a positive reward counts as success. Any other terminated step
ends in a separate state for that observation, a dead end. This keeps the end of an episode apart from the same
observation in the middle of one.

The reward for success isn't part of a path. All other rewards are, minus the `step_cost`, which makes the shortest path
the best one even if steps are free:

    path reward = reward - step_cost            of ordinary steps
    path reward = min(reward, 0) - step_cost    of the step that enters success

Any state seen so far can be the goal of an episode; the default is success. Entering it ends the episode.

>>> import gymnasium, fwrl
>>> env = fwrl.wrap(gymnasium.make("FrozenLake-v1", is_slippery=False))
>>> agent = fwrl.make_agent("fwrl", env.n_states, env.n_actions, explorer="optimistic")
>>> fwrl.learn(agent, env, total_timesteps=2000, seed=0).success[-10:].all()
np.True_
>>> env.n_states  # cells of the lake seen so far, plus success
16
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import NDArray

from fwrl.arguments import check_function, check_kind, check_real, check_whole, shown
from fwrl.envs.observation_key import CONTINUOUS, observation_key
from fwrl.envs.world_env import Observation
from fwrl.errors import FileError, FwrlError, OptionError
from fwrl.files import open_archive, write_archive

SUCCESS = 0
STEP_COST = 1e-3
MOST_STATES = 2**31 - 1
KIND = "states"
LIVE, ENDED = b"+", b"-"  # prefix of an observation's bytes: in the middle of an episode, or at its end


class Success(Protocol):
    """Decides whether a step succeeded."""

    def __call__(self, observation: Any, reward: float, terminated: bool, info: dict[str, Any], /) -> bool:
        """Return whether the step to `observation` succeeded."""


def wrap(
    env: gymnasium.Env[Any, Any],
    key: Callable[[Any], Hashable] | None = None,
    success: Success | None = None,
    step_cost: float = STEP_COST,
    states: str | Path | None = None,
) -> NumberedEnv:
    """Wrap a Gymnasium environment with discrete actions so that agents can learn in it: `fwrl.learn(agent, env, ...)`.

    Args:
        env: with Discrete actions; its observations may be integers, arrays of integers, texts, or mappings and
            sequences of these.
        key: (observation) -> an integer, a text or a tuple of these. Observations with the same key are one state. None
            compares their whole content.
        success: (observation, reward, terminated, info) -> whether the step succeeded. None for `info["is_success"]`,
            or termination with a positive reward if there's no such entry.
        step_cost: subtracted from the reward of every step.
        states: a file written by `save_states`, to give observations the same numbers again.

    Returns:
        A goal environment whose number of states grows; with `fwrl.learn`, the agent grows too.

    >>> import gymnasium
    >>> env = wrap(gymnasium.make("CliffWalking-v1"), success=lambda observation, reward, terminated, info: terminated)
    >>> env.reset(seed=0)[0]["observation"]
    np.int64(1)
    """
    return NumberedEnv(env, key, success, step_cost, states)


class NumberedEnv(gymnasium.Wrapper[Observation, np.int64, Any, Any], RecordConstructorArgs):
    """A goal environment whose states are the observations of another environment, numbered as they appear.

    The arguments are those of `wrap`.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        key: Callable[[Any], Hashable] | None = None,
        success: Success | None = None,
        step_cost: float = STEP_COST,
        states: str | Path | None = None,
    ) -> None:
        _check(env, key, success, step_cost)
        RecordConstructorArgs.__init__(self, key=key, success=success, step_cost=step_cost, states=states)
        super().__init__(env)
        self.step_cost = float(step_cost)
        self._key, self._success = key or (lambda observation: observation), success
        self._numbers: dict[bytes, int] = {b"": SUCCESS} if states is None else _read(states)
        self._examples: dict[int, Any] = {}
        self._goal, self._next_goal, self._state = SUCCESS, SUCCESS, -1
        actions = env.action_space
        assert isinstance(actions, spaces.Discrete)
        self._first_action = int(actions.start)
        self.n_actions = int(actions.n)
        self.action_space = spaces.Discrete(self.n_actions)
        self.observation_space = spaces.Dict(
            {name: spaces.Discrete(MOST_STATES) for name in ("observation", "achieved_goal", "desired_goal")}
        )

    @property
    def n_states(self) -> int:
        """The number of states so far, success included."""
        return len(self._numbers)

    def state_of(self, observation: Any) -> int:
        """Return the state of an observation; if it has only ended episodes so far, the state of that end."""
        content = observation_key(self._key(observation))
        for place in (LIVE, ENDED):
            if place + content in self._numbers:
                return self._numbers[place + content]
        raise FwrlError("this observation hasn't been seen yet; states are numbered as they appear")

    def observation_of(self, state: int) -> Any:
        """Return the first observation of a state, from 1 to n_states - 1, since the environment was wrapped."""
        check_whole("state", state, 0, MOST_STATES)
        if state not in self._examples:
            raise FwrlError(
                f"state {state} has no observation: "
                + ("it's success, a virtual state" if state == SUCCESS else "it hasn't been seen yet")
            )
        return self._examples[state]

    def aim(self, goal: int | None = None) -> None:
        """Choose the goal of the next episodes, a state; None for success."""
        self._next_goal = SUCCESS if goal is None else self._checked_goal(goal)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: seeds the wrapped environment.
            options: `goal` is the goal of this episode, a state; the others go to the wrapped environment.

        Returns:
            The first observation, and `info` with `is_success`.
        """
        check_kind("options by name", options, (dict, type(None)), "call reset(options={'goal': 3})")
        given = dict(options or {})
        goal = given.pop("goal", None)
        self._goal = self._next_goal if goal is None else self._checked_goal(goal)
        observation, info = self.env.reset(seed=seed, options=given or None)
        self._state = self._number(observation, LIVE)
        return self._observation(), {**info, "is_success": False}

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one step.

        Returns:
            Observation, the wrapped environment's reward, whether the episode ended or the goal was reached, whether it
            was truncated, and `info` with the step's own reward as `path_reward`, and `is_success`.
        """
        action = check_whole("an action", action, 0, self.n_actions - 1)
        observation, reward, terminated, truncated, info = self.env.step(np.int64(self._first_action + action))
        paid = float(reward)
        if self._succeeded(observation, paid, bool(terminated), info):
            self._state, path_reward = SUCCESS, min(paid, 0.0) - self.step_cost
        else:
            self._state, path_reward = self._number(observation, ENDED if terminated else LIVE), paid - self.step_cost
        arrived = self._state == self._goal
        over = bool(terminated) or arrived or self._state == SUCCESS
        told = {**info, "path_reward": path_reward, "is_success": arrived}
        return self._observation(), paid, over, bool(truncated) and not over, told

    def save_states(self, path: str | Path) -> None:
        """Write the number of each observation to a file, for `wrap(env, states=path)` in another process."""
        contents = list(self._numbers)
        ends = np.cumsum([len(content) for content in contents], dtype=np.int64)
        arrays: dict[str, NDArray[Any]] = {"contents": np.frombuffer(b"".join(contents), np.uint8), "ends": ends}
        write_archive(path, KIND, {"n_states": len(contents)}, arrays)

    def _succeeded(self, observation: Any, reward: float, terminated: bool, info: dict[str, Any]) -> bool:
        if self._success is not None:
            return bool(self._success(observation, reward, terminated, info))
        if "is_success" in info:
            return bool(info["is_success"])
        return terminated and reward > 0

    def _number(self, observation: Any, place: bytes) -> int:
        content = place + observation_key(self._key(observation))
        number = self._numbers.setdefault(content, len(self._numbers))
        if number not in self._examples:
            self._examples[number] = observation
        return number

    def _observation(self) -> Observation:
        here = np.int64(self._state)
        return {"observation": here, "achieved_goal": here, "desired_goal": np.int64(self._goal)}

    def _checked_goal(self, goal: Any) -> int:
        if isinstance(goal, int | np.integer) and not isinstance(goal, bool) and 0 <= goal < self.n_states:
            return int(goal)
        raise FwrlError(
            f"expected a goal from 0 (success) to {self.n_states - 1}, the states seen so far, got {shown(goal)}; "
            "look up an observation's number with state_of"
        )


def _check(env: Any, key: Any, success: Any, step_cost: float) -> None:
    """Require Discrete actions, a valid cost, and observations that can be numbered, as far as their space shows."""
    if not isinstance(env, gymnasium.Env):
        raise FwrlError(f"expected a Gymnasium environment, got {type(env).__name__}; make one with gymnasium.make")
    if isinstance(env, NumberedEnv):
        raise FwrlError("this environment is already wrapped")
    if not isinstance(env.action_space, spaces.Discrete):
        raise FwrlError(
            f"expected an environment with Discrete actions, got {env.action_space}; for continuous ones use "
            "fwrl.make_navigator(env)"
        )
    if key is None and _continuous(env.observation_space):
        raise FwrlError(f"the observations are continuous: {env.observation_space}; {CONTINUOUS}")
    check_function("key", key)
    check_function("success", success)
    if not (np.isfinite(check_real("step_cost", step_cost)) and step_cost >= 0):
        raise OptionError(f"expected a finite step_cost of at least 0, got {step_cost!r}")


def _continuous(space: Any) -> bool:
    """Check whether a part of the space holds floating-point numbers."""
    parts = space.spaces if isinstance(space, spaces.Dict | spaces.Tuple) else None
    if parts is not None:
        return any(map(_continuous, parts.values() if isinstance(parts, dict) else parts))
    return isinstance(space, spaces.Box) and np.dtype(space.dtype).kind == "f"


def _read(path: str | Path) -> dict[bytes, int]:
    archive = open_archive(path)
    if archive.kind != KIND:
        raise FileError(f"{str(path)!r} holds a {archive.kind!r}; expected a file written by save_states")
    contents, ends = archive["contents"].tobytes(), archive["ends"].tolist()
    numbers = {contents[begin:end]: n for n, (begin, end) in enumerate(zip([0, *ends], ends, strict=False))}
    if list(numbers)[:1] != [b""] or len(numbers) != len(ends) or ends[-1] != len(contents):
        raise FileError(f"{str(path)!r} is damaged: two of its observations have the same number")
    return numbers
