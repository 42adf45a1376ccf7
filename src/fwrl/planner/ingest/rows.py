"""Rows from Python objects: episodes as the Gymnasium ecosystem keeps them, or any iterable of transitions.

An episode has `observations` (one more than steps), `actions` and `rewards`, as attributes or keys. A transition is
a mapping or a named tuple with the names of columns, or a plain tuple (state, next_state) or
(state, action, reward, next_state[, trip[, time]]).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError
from fwrl.planner.ingest.schema import COLUMNS, LABELS

Table = dict[str, NDArray[Any]]
TUPLES = {
    2: ("state", "next_state"),
    4: ("state", "action", "reward", "next_state"),
    5: ("state", "action", "reward", "next_state", "trip"),
    6: ("state", "action", "reward", "next_state", "trip", "time"),
}
EPISODE = "episode"  # the name of the trip in a step of `fwrl.rollout`


def collected(source: Any) -> Table:
    """The columns of a log given as rows, as episodes or as columns.

    >>> {name: column.tolist() for name, column in collected([("a", "b"), ("b", "c")]).items()}
    {'state': ['a', 'b'], 'next_state': ['b', 'c']}
    """
    if _is_episode(source):
        return _table(_episode_rows(source, 0))
    if isinstance(source, Mapping):
        return {str(name): _column(str(name), list(values)) for name, values in source.items()}
    if not isinstance(source, Iterable):
        raise FwrlError(
            "expected a log: files, an Arrow table, a NumPy record array, episodes or transitions; "
            f"got {type(source).__name__}"
        )
    rows: list[dict[str, Any]] = []
    for number, item in enumerate(source):
        rows += _episode_rows(item, number) if _is_episode(item) else _row(item, number)
    return _table(rows)


def _is_episode(item: Any) -> bool:
    needed = ("observations", "actions", "rewards")
    return all(name in item for name in needed) if isinstance(item, Mapping) else all(hasattr(item, n) for n in needed)


def _episode_rows(episode: Any, number: int) -> list[dict[str, Any]]:
    part = episode.__getitem__ if isinstance(episode, Mapping) else lambda name: getattr(episode, name)
    seen, actions, rewards = part("observations"), part("actions"), part("rewards")
    states = list(seen["observation"] if isinstance(seen, Mapping) else (_state(one) for one in seen))
    infos = episode.get("infos") if isinstance(episode, Mapping) else getattr(episode, "infos", None)
    if isinstance(infos, Mapping) and "path_reward" in infos:
        rewards = list(infos["path_reward"])[-len(actions) :]  # path rewards exclude the goal reward
    if not len(states) == len(actions) + 1 == len(rewards) + 1:
        raise FwrlError(
            f"episode {number} has {len(states)} observations, {len(actions)} actions and {len(rewards)} rewards; "
            "expected one observation more than actions and rewards"
        )
    steps = zip(states[:-1], actions, rewards, states[1:], strict=True)
    return [
        {"state": s, "action": a, "reward": r, "next_state": n, "trip": number, "time": t}
        for t, (s, a, r, n) in enumerate(steps)
    ]


def _row(item: Any, number: int) -> list[dict[str, Any]]:
    """One row; none for the arriving step of the paper's protocol, which is not a transition."""
    if hasattr(item, "_asdict"):
        item = item._asdict()
    if isinstance(item, Mapping):
        if item.get("arrived") is True:
            return []
        row = {name: item[name] for name in COLUMNS if name in item}
        if EPISODE in item and "trip" not in item:
            row["trip"] = item[EPISODE]
        row |= {name: value for name, value in item.items() if name not in row}
    elif isinstance(item, tuple | list) and len(item) in TUPLES:
        row = dict(zip(TUPLES[len(item)], item, strict=True))
    else:
        raise FwrlError(
            "expected transitions as mappings, (state, next_state) or (state, action, reward, next_state"
            f"[, trip[, time]]), item {number} is {item!r}"
        )
    return [{name: _state(value) if name in LABELS else value for name, value in row.items()}]


def _state(value: Any) -> Any:
    """The state in an observation of a goal environment; any other value unchanged."""
    return value["observation"] if isinstance(value, Mapping) and "observation" in value else value


def _table(rows: list[dict[str, Any]]) -> Table:
    if not rows:
        raise FwrlError("the log is empty; expected at least one transition")
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _column(name, [row.get(name) for row in rows]) for name in names}


def _column(name: str, values: list[Any]) -> NDArray[Any]:
    """An array of integers or of numbers if all values are, otherwise of text; None stays missing."""
    plain = [_plain(value) for value in values]
    kinds = {type(value) for value in plain}
    if kinds == {int}:
        if all(-(2**63) <= value < 2**63 for value in plain):
            return np.array(plain, np.int64)
        raise FwrlError(f"expected integers of 64 bits as {name}")
    if kinds <= {int, float} and kinds and name not in LABELS:
        return np.array(plain, np.float64)
    if kinds <= {int, float, type(None)} and name not in LABELS:
        return np.array([np.nan if value is None else value for value in plain], np.float64)
    if name in LABELS and not kinds <= {int, str, type(None)}:
        wrong = next(k for k, value in enumerate(plain) if type(value) not in (int, str, type(None)))
        raise FwrlError(f"expected strings or integers as {name}, item {wrong} has {plain[wrong]!r}")
    if kinds <= {int, str, type(None)}:
        return np.array([None if value is None else str(value) for value in plain], object)
    try:
        return np.array(plain, "datetime64[us]") if name == "time" else np.array(plain, object)
    except (TypeError, ValueError) as error:
        raise FwrlError(f"expected numbers or dates as {name}: {error}") from error


def _plain(value: Any) -> Any:
    """A NumPy scalar as a Python number; any other value unchanged."""
    return value.item() if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0 else value
