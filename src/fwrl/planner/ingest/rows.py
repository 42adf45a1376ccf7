"""Logs from Python objects: episodes, trajectories, or any iterable of transitions.

An episode has `observations` (one more than steps), `actions`, `rewards` and possibly `terminations`, as attributes or
keys, as the Gymnasium ecosystem keeps them. A trajectory is a sequence of states. A transition is a mapping or a named
tuple with the names of columns, or a plain tuple (state, next_state) or (state, action, reward, next_state[, trip[,
time]]).

A tuple is read as a transition, a list as a trajectory. Where lists could also be transitions, `shape` has to say
which.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fwrl.errors import FwrlError
from fwrl.planner.ingest.column_arrays import Table, column, concatenated, state_of
from fwrl.planner.ingest.errors import LogError
from fwrl.planner.ingest.options import Shape
from fwrl.planner.ingest.scan import ROW
from fwrl.planner.ingest.schema import COLUMNS, LABELS

TUPLES = {
    2: ("state", "next_state"),
    4: ("state", "action", "reward", "next_state"),
    5: ("state", "action", "reward", "next_state", "trip"),
    6: ("state", "action", "reward", "next_state", "trip", "time"),
}
REWARD = 2  # of a tuple of four and more
SUCCESS = ("success", "is_success")  # entries of `infos`
EPISODE = "episode"  # the name of the trip in a step of `fwrl.rollout`


def collected(source: Any, shape: Shape | None = None) -> Table:
    """The columns of a log given as rows, as episodes, as trajectories or as columns.

    >>> {name: column.tolist() for name, column in collected([("a", "b"), ("b", "c")]).items()}
    {'state': ['a', 'b'], 'next_state': ['b', 'c']}
    """
    if _is_episode(source):
        return _episode(source, 0)
    if isinstance(source, Mapping):
        if shape == "trajectories":
            return _trajectories(list(source.values()), list(source))
        return _columns(source)
    if not isinstance(source, Iterable) or isinstance(source, bytes | bytearray | memoryview):
        raise FwrlError(
            "expected a log: files, an Arrow table, a NumPy record array, episodes, trajectories or transitions; "
            f"got {type(source).__name__}"
        )
    items = source if isinstance(source, list | tuple) else list(source)
    if shape == "trajectories" or (shape is None and _are_trajectories(items)):
        return _trajectories(items, range(len(items)))
    table = _rows(items)
    if isinstance(source, set | frozenset):
        table[ROW] = np.arange(len(next(iter(table.values()))))
    return table


def _columns(source: Mapping[Any, Any]) -> Table:
    """The columns of a mapping, which must all have the same length."""
    table = {str(name): column(str(name), values) for name, values in source.items()}
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1:
        few, many = (pick(lengths, key=lengths.__getitem__) for pick in (min, max))
        raise FwrlError(
            f"expected columns of one length, {many!r} has {lengths[many]:,} values and {few!r} {lengths[few]:,}"
        )
    return table


def _rows(items: Sequence[Any]) -> Table:
    """The columns of transitions and episodes in order."""
    tables: list[Table] = []
    pending: list[dict[str, Any]] = []
    for number, item in enumerate(items):
        if _is_episode(item):
            tables += [_table(pending)] if pending else []
            tables.append(_episode(item, number))
            pending = []
        else:
            pending += _row(item, number)
    return concatenated([*tables, *([_table(pending)] if pending else [])])


def _is_episode(item: Any) -> bool:
    needed = ("observations", "actions", "rewards")
    return all(name in item for name in needed) if isinstance(item, Mapping) else all(hasattr(item, n) for n in needed)


def _episode(episode: Any, number: int) -> Table:
    part = episode.__getitem__ if isinstance(episode, Mapping) else lambda name: getattr(episode, name)
    seen, actions, rewards = part("observations"), part("actions"), part("rewards")
    infos = episode.get("infos") if isinstance(episode, Mapping) else getattr(episode, "infos", None)
    if isinstance(infos, Mapping) and "path_reward" in infos:
        rewards = _last(infos["path_reward"], len(actions))  # path rewards exclude the goal reward
    if isinstance(seen, Mapping):
        seen = seen["observation"]
    elif not isinstance(seen, np.ndarray):
        seen = [state_of(one) for one in seen]
    if not len(seen) == len(actions) + 1 == len(rewards) + 1:
        raise FwrlError(
            f"episode {number} has {len(seen)} observations, {len(actions)} actions and {len(rewards)} rewards; "
            "expected one observation more than actions and rewards"
        )
    states, n = column("state", seen), len(actions)
    table = {
        "state": states[:-1],
        "action": column("action", actions),
        "reward": column("reward", rewards),
        "next_state": states[1:],
        "trip": np.full(n, number, np.int64),
        "time": np.arange(n),
    }
    ends = _terminations(episode, infos)
    if ends is not None:
        table["terminated"] = column("terminated", _last(ends, n))
    return table


def _last(values: Any, n: int) -> Any:
    """The last `n` values, or all if they are fewer."""
    return values[max(0, len(values) - n) :]


def _terminations(episode: Any, infos: Any) -> Any:
    """Whether each step of an episode terminated; None where that is unknown, or is the success at its own goal.

    Reaching the goal ends an episode, but for other goals nothing ends there.
    """
    is_mapping = isinstance(episode, Mapping)
    seen = episode["observations"] if is_mapping else episode.observations
    terminations = episode.get("terminations") if is_mapping else getattr(episode, "terminations", None)
    if terminations is None or (isinstance(seen, Mapping) and "desired_goal" in seen):
        return None
    success = [infos[name][-1] for name in SUCCESS if name in infos] if isinstance(infos, Mapping) else []
    return np.zeros(len(terminations), np.bool_) if any(map(bool, success)) else terminations


def _are_trajectories(items: Sequence[Any]) -> bool:
    """Whether items are trajectories; an error where they could also be transitions."""
    if not items or not all(_is_sequence(item) for item in items):
        return False
    if all(isinstance(item, tuple) and len(item) in TUPLES for item in items):
        return False
    lists = [item for item in items if not isinstance(item, tuple)]
    if not lists:
        raise _no_row(next((k, item) for k, item in enumerate(items) if len(item) not in TUPLES))
    if len({len(item) for item in items}) > 1 or len(lists[0]) not in TUPLES:
        return True
    if len(lists[0]) == 2:
        return False  # two states are one transition either way
    if not all(_is_number(item[REWARD]) for item in items):
        return True  # a reward would be a number
    if any(isinstance(item[REWARD], float | np.floating) for item in items):
        return False  # a state would be a string or an integer
    raise LogError(
        f"lists of {len(lists[0])} may be trajectories, or transitions (state, action, reward, next_state, ...)",
        "shape",
    )


def _is_sequence(item: Any) -> bool:
    if isinstance(item, np.ndarray):
        return item.ndim == 1 and item.dtype.names is None
    return isinstance(item, list | tuple) and not hasattr(item, "_asdict")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _trajectories(trajectories: Sequence[Any], names: Sequence[Any]) -> Table:
    """One transition for each state of a trajectory but its last."""
    for name, states in zip(names, trajectories, strict=True):
        if not _is_sequence(states):
            raise FwrlError(f"expected trajectories as lists of states, item {name!r} is {states!r}")
    if not any(len(states) > 1 for states in trajectories):
        raise FwrlError("expected at least one transition, the trajectories have none")
    lengths = np.array([len(states) for states in trajectories])
    if all(isinstance(states, np.ndarray) for states in trajectories):
        states = column("state", np.concatenate(trajectories))
    else:
        states = column("state", list(itertools.chain.from_iterable(trajectories)))
    follows = np.ones(len(states), np.bool_)  # whether a state has a next one in its trajectory
    follows[np.cumsum(lengths)[lengths > 0] - 1] = False
    source = np.flatnonzero(follows)
    trip = np.repeat(column("trip", list(names)), lengths)
    return {"state": states[source], "next_state": states[source + 1], "trip": trip[source]}


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
        raise _no_row((number, item))
    return [{name: state_of(value) if name in LABELS else value for name, value in row.items()}]


def _no_row(numbered: tuple[int, Any]) -> FwrlError:
    number, item = numbered
    return FwrlError(
        "expected transitions as mappings, (state, next_state) or (state, action, reward, next_state"
        f"[, trip[, time]]), or trajectories as lists of states; item {number} is {item!r}"
    )


def _table(rows: list[dict[str, Any]]) -> Table:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: column(name, [row.get(name) for row in rows]) for name in names}
