"""A world as an episodic Gymnasium goal environment.

With r the step's own reward and s' where it ended, the reward of a step towards g is

    R(s', g) = r + R_goal [s' has arrived at g]

and arriving terminates. R needs only s', g and r, so `compute_reward` can return it for any other goal too, as
hindsight replay requires. An absorbing state that isn't the goal doesn't terminate: the episode continues until it's
truncated.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from fwrl.agents.validation import checked_batch
from fwrl.arguments import check_kind
from fwrl.arrays import Floats
from fwrl.envs.picture import FRAMES_PER_SECOND, MODES, Frame, Picture
from fwrl.errors import FwrlError, OptionError, unknown_name
from fwrl.task.task import checked_goal_reward
from fwrl.worlds import World, load_world
from fwrl.worlds.goal_sampler import GoalSampler

Observation = dict[str, Any]


class WorldEnv(gymnasium.Env[Observation, np.int64]):
    """Reach the goal: a new start and a new goal every episode.

    Observations are dicts of the states `observation`, `achieved_goal` (the same) and `desired_goal`.

    Args:
        world: a world, its name or a map file.
        map: the same for `fwrl/Grid-v0`; give one of the two.
        goal_reward: paid on top of the step's own reward on arriving.
        goal_threshold: states within this distance of the goal count as the goal.
        render_mode: "ansi", "rgb_array" or "human"; None for no pictures.

    >>> env = WorldEnv("h-maze")
    >>> observation, info = env.reset(seed=0, options={"start": (1, 1), "goal": (0, 1)})
    >>> left = env.world.action_names.index("left")
    >>> observation, reward, terminated, truncated, info = env.step(left)
    >>> reward, terminated, info["path_reward"], info["is_success"]
    (9.99975, True, -0.00025, True)
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": list(MODES),
        "render_fps": FRAMES_PER_SECOND,
    }

    def __init__(
        self,
        world: World | str | None = None,
        *,
        map: str | Path | None = None,
        goal_reward: float = 10.0,
        goal_threshold: float = 0.0,
        render_mode: str | None = None,
    ) -> None:
        self.world = _chosen_world(world, map)
        self.goal_reward = checked_goal_reward(self.world, goal_reward)
        self.render_mode = render_mode
        self._picture = None if render_mode is None else Picture(self.world, render_mode)
        self.goal_threshold = float(goal_threshold)
        self._sampler = GoalSampler(self.world, self.goal_threshold)
        self._state: int | None = None
        self._goal = 0
        self._goal_states: frozenset[int] = frozenset()
        self.observation_space = spaces.Dict(
            {key: spaces.Discrete(self.world.n_states) for key in ("observation", "achieved_goal", "desired_goal")}
        )
        self.action_space = spaces.Discrete(self.world.n_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: seeds the environment's generator; None to continue with it.
            options: may have `start` and `goal`, as states or as (x, y).

        Returns:
            The first observation, and `info` with `success` and `is_success`.
        """
        check_kind("options by name", options, (dict, type(None)), "call reset(options={'goal': 3})")
        super().reset(seed=seed)
        given = {key: self._state_named(key, value) for key, value in (options or {}).items()}
        self._state, self._goal = self._sampler.draw(self.np_random, **given)
        self._goal_states = frozenset(self._sampler.goal_states(self._goal).tolist())
        self._show_human()
        return self._observation(self._state), {"success": False, "is_success": False}

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take one step.

        Returns:
            Observation, reward, whether the goal was reached, False (wrappers truncate), and `info` with the step's own
            reward as `path_reward`, `success` and `is_success`.
        """
        slot = self._outcome(self._here, action)
        self._state = int(self.world.tables.next_state[slot])
        path_reward = float(self.world.tables.reward[slot])
        arrived = self._state in self._goal_states
        reward = path_reward + self.goal_reward if arrived else path_reward
        self._show_human()
        info = {"path_reward": path_reward, "success": arrived, "is_success": arrived}
        return self._observation(self._state), reward, arrived, False, info

    def compute_reward(self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None) -> float | Floats:
        """Return the reward of steps towards any goal.

        Args:
            achieved_goal: where the steps ended: one state, (n,) or (n, 1).
            desired_goal: the goals, in the same shape.
            info: one dict, or n of them, with `path_reward`; needed only if steps have different rewards.

        Returns:
            A float for one state, otherwise (n,).

        >>> WorldEnv("four-rooms").compute_reward([[3], [4]], [[3], [3]]).tolist()
        [9.99975, -0.00025]
        """
        arrived = np.asarray(self.compute_terminated(achieved_goal, desired_goal, info))
        rewards = self._path_rewards(info, arrived.shape) + np.where(arrived, self.goal_reward, 0.0)
        return rewards if rewards.ndim else float(rewards)

    def compute_terminated(
        self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None
    ) -> bool | NDArray[np.bool_]:
        """Return whether steps arrived: a bool for one state, otherwise (n,). `info` is ignored."""
        S = self.world.n_states
        achieved, desired = np.broadcast_arrays(
            checked_batch(achieved_goal, S, "achieved_goal"), checked_batch(desired_goal, S, "desired_goal")
        )
        arrived = self._sampler.arrived(achieved.reshape(-1), desired.reshape(-1))
        return arrived.reshape(achieved.shape) if achieved.ndim else bool(arrived[0])

    def compute_truncated(
        self, achieved_goal: ArrayLike, desired_goal: ArrayLike, info: Any = None
    ) -> bool | NDArray[np.bool_]:
        """Return False, for one state or (n,): only the time limit of `gymnasium.make` truncates an episode."""
        never = np.zeros_like(self.compute_terminated(achieved_goal, desired_goal), dtype=np.bool_)
        return never if never.ndim else False

    def render(self) -> Frame | None:
        """Return a picture of the current state: text or (height, width, 3) pixels.

        With `render_mode` "human" it's printed, and the result is None.
        """
        if self._picture is None:
            gymnasium.logger.warn(f"nothing to render: choose a render_mode of {', '.join(MODES)}")
            return None
        return self._picture.show(self._here, self._goal)

    @property
    def _here(self) -> int:
        if self._state is None:
            raise FwrlError("no episode has begun; call reset() first")
        return self._state

    def _observation(self, state: int) -> Observation:
        return {
            "observation": np.int64(state),
            "achieved_goal": np.int64(state),
            "desired_goal": np.int64(self._goal),
        }

    def _outcome(self, state: int, action: np.int64 | int) -> int:
        A, T = self.world.n_actions, self.world.tables
        if not self.action_space.contains(action):
            raise FwrlError(f"expected an action from 0 to {A - 1}, got {action!r}")
        first, end = T.first[state * A + int(action)], T.first[state * A + int(action) + 1]
        u = self.np_random.random()
        return int(first + np.searchsorted(T.cumulative[first:end], u, side="right"))

    def _show_human(self) -> None:
        if self.render_mode == "human":
            self.render()

    def _state_named(self, key: str, value: Any) -> int | None:
        if key not in ("start", "goal"):
            raise unknown_name("reset option", key, ("start", "goal"))
        if value is None:
            return None
        S = self.world.n_states
        array = np.asarray(value)
        if array.shape == (2,) and array.dtype.kind in "iuf" and np.isfinite(array).all():
            return self.world.state_at(*array.tolist())
        if array.shape == () and array.dtype.kind in "iu" and 0 <= array < S:
            return int(array)
        raise FwrlError(f"expected a {key} from 0 to {S - 1} or as an (x, y) pair, got {value!r}")

    def _path_rewards(self, info: Any, shape: tuple[int, ...]) -> Floats:
        if self.world.step_reward is not None:
            return np.full(shape, self.world.step_reward)
        try:
            if isinstance(info, Mapping):
                return np.broadcast_to(np.asarray(info["path_reward"], dtype=np.float64), shape)
            rewards = [one["path_reward"] for one in info]
            return np.array(rewards, dtype=np.float64).reshape(shape)
        except (KeyError, TypeError, IndexError, ValueError):
            raise FwrlError(
                f"steps of {self.world.name!r} pay different rewards, so compute_reward needs "
                f'info["path_reward"], in one dict or in each of {shape[0] if shape else 1}; pass '
                "on each step's info (Stable-Baselines3: HerReplayBuffer with copy_info_dict=True)"
            ) from None


def _chosen_world(world: World | str | None, map: str | Path | None) -> World:
    chosen = map if world is None else world
    if chosen is None or (world is not None and map is not None):
        raise OptionError(
            "expected either a world or a map, for example map='four-rooms', got "
            f"{'neither' if chosen is None else 'both'}"
        )
    return chosen if isinstance(chosen, World) else load_world(chosen)
