"""Minari datasets with discrete observations as columns of transitions.

The state is the observation, an integer, or the integer under `observation` of Dict observations. Where the infos have
`path_reward`, as in datasets that fwrl wrote, it is the reward; otherwise the reward is the environment's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError


def is_minari(log: Any) -> bool:
    """Whether a log is a Minari dataset."""
    return hasattr(log, "iterate_episodes")


def minari_columns(dataset: Any) -> dict[str, NDArray[Any]]:
    """The columns trip, time, state, action, reward, next_state and terminated of all episodes."""
    parts: dict[str, list[NDArray[Any]]] = {}
    for number, episode in enumerate(dataset.iterate_episodes()):
        states, actions = _integers(episode.observations, "observations"), _integers(episode.actions, "actions")
        infos = episode.infos or {}
        paid = np.asarray(infos["path_reward"])[1:] if "path_reward" in infos else episode.rewards
        columns = {
            "trip": np.full(len(actions), number),
            "time": np.arange(len(actions)),
            "state": states[:-1],
            "action": actions,
            "reward": np.asarray(paid, np.float64),
            "next_state": states[1:],
            "terminated": np.asarray(episode.terminations, np.bool_) & ~_arrived(episode.observations),
        }
        if {len(column) for column in columns.values()} != {len(actions)}:
            raise FwrlError(f"episode {number} of the dataset has columns of different lengths")
        for name, column in columns.items():
            parts.setdefault(name, []).append(column)
    if not parts:
        raise FwrlError("the Minari dataset has no episodes")
    return {name: np.concatenate(columns) for name, columns in parts.items()}


def _arrived(observations: Any) -> Any:
    """(n,) whether each step reached the goal of its episode, which is no end for other goals; False without goals."""
    if not isinstance(observations, Mapping) or "desired_goal" not in observations:
        return np.False_
    achieved = np.asarray(observations.get("achieved_goal", observations.get("observation")))
    desired = np.asarray(observations["desired_goal"])
    same: Any = np.equal(achieved, desired)
    return same.reshape(len(achieved), -1).all(axis=1)[1:]


def _integers(values: Any, what: str) -> NDArray[np.int64]:
    """(n,) integers; an error points to navigators for others."""
    if isinstance(values, Mapping) and "observation" in values:
        values = values["observation"]
    array: Any = np.empty(0) if isinstance(values, Mapping) else np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise FwrlError(
            f"expected a Minari dataset with discrete {what}, got {array.dtype} of shape {array.shape}; "
            "fwrl.fit_navigator(dataset) learns from continuous ones"
        )
    integers: NDArray[np.int64] = array.astype(np.int64)
    return integers
