"""Logs from Python objects: episodes, Minari datasets, trajectories, or any iterable of transitions.

An episode has `observations` (one more than steps), `actions`, `rewards` and possibly `terminations`, as attributes or
keys, as the Gymnasium ecosystem keeps them; a Minari dataset has several. The state is the observation, or what Dict
observations have under `observation`. The reward is `path_reward` of the infos, which fwrl writes, or else the
environment's. A trajectory is a sequence of states. A transition is a mapping or a named
tuple with the names of columns, or a plain tuple (state, next_state) or (state, action, reward, next_state[, trip[,
time]]). A tuple is read as a transition, a list as a trajectory. If lists could also be transitions, `shape` has to say
which.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.arguments import check_list
from fwrl.errors import FwrlError
from fwrl.planner.ingest.read_options import COLUMNS, LABELS, LogError, Shape

Table = dict[str, NDArray[Any]]
PLAIN = {int, float, str, type(None)}
MISSING = ("NAType", "NaTType")  # types of pandas' missing values
EXACT = 2.0**53  # integers up to which floats are exact


def column(name: str, values: Any) -> NDArray[Any]:
    """An array of integers or of numbers if all values are, otherwise of text; None stays missing."""
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iufUM":
        return _array_column(name, values)
    plain: Sequence[Any] = values if isinstance(values, list | tuple) else list(values)
    kinds = set(map(type, plain))
    if not kinds <= PLAIN:
        plain = [_plain(value) for value in plain]
        kinds = set(map(type, plain))
    if kinds == {int}:
        return _integer_column(name, plain)
    if kinds <= {int, float, type(None)} and kinds:
        return _numbers(name, plain)
    if name in LABELS and not kinds <= {int, str, type(None)}:
        raise _no_label(name, plain)
    if kinds <= {int, str, type(None)}:
        return np.array([None if value is None else str(value) for value in plain], object)
    try:
        return np.array(plain, "datetime64[us]") if name == "time" else np.array(plain, object)
    except (TypeError, ValueError) as error:
        raise FwrlError(f"expected numbers or dates as {name}: {error}") from error


def _array_column(name: str, values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "U":
        return values.astype(object)
    if values.dtype.kind == "f" and name in LABELS:
        return _numbers(name, values.tolist())
    return np.ascontiguousarray(values)


def _integer_column(name: str, values: Sequence[int]) -> NDArray[Any]:
    try:
        return np.array(values, np.int64)
    except OverflowError:
        if name not in LABELS:
            raise FwrlError(f"expected integers of 64 bits as {name}") from None
        return np.array([str(value) for value in values], object)


def _numbers(name: str, values: Sequence[float | None]) -> NDArray[Any]:
    """Numbers, some of which are missing; labels among them must be whole."""
    numbers = np.array([np.nan if value is None else value for value in values], np.float64)
    if name not in LABELS:
        return numbers
    exact = (np.floor(numbers) == numbers) & (np.abs(numbers) <= EXACT) | np.isnan(numbers)
    if exact.all():
        return numbers
    if all(isinstance(value, int | None) for value in values):
        return np.array([None if value is None else str(value) for value in values], object)
    raise _no_label(name, values, ~exact)


def _no_label(name: str, values: Sequence[Any], wrong: NDArray[np.bool_] | None = None) -> FwrlError:
    allowed = (int, str, type(None))
    first = (
        next(k for k, value in enumerate(values) if type(value) not in allowed)
        if wrong is None
        else int(np.argmax(wrong))
    )
    return FwrlError(f"expected strings or integers as {name}, item {first} has {values[first]!r}")


def _plain(value: Any) -> Any:
    """A NumPy scalar as a Python number, a zoned moment in UTC, a missing value as None; any other value unchanged."""
    if isinstance(value, np.generic | np.ndarray) and np.ndim(value) == 0:
        return value.item()
    if type(value).__name__ in MISSING:
        return None
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def state_of(value: Any) -> Any:
    """The state in an observation of a goal environment; any other value unchanged."""
    return value["observation"] if isinstance(value, Mapping) and "observation" in value else value


def concatenated(tables: Iterable[Table]) -> Table:
    """The rows of several tables; a column that one of them lacks is missing there."""
    tables = list(tables)
    if not tables:
        raise FwrlError("the log is empty; expected at least one transition")
    if len(tables) == 1:
        return tables[0]
    names = dict.fromkeys(name for table in tables for name in table)
    lengths = [len(next(iter(table.values()))) for table in tables]
    return {name: _joined(name, tables, lengths) for name in names}


def _joined(name: str, tables: list[Table], lengths: list[int]) -> NDArray[Any]:
    parts = [table.get(name) for table in tables]
    kinds = {"O" if part is None else part.dtype.kind for part in parts}
    if len(kinds) == 1 and "O" not in kinds:
        return np.concatenate(parts)  # type: ignore[arg-type]
    values: list[Any] = []
    for part, n in zip(parts, lengths, strict=True):
        values += [None] * n if part is None else part.tolist()
    return column(name, values)


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
    if hasattr(source, "iterate_episodes"):
        return _rows(source.iterate_episodes())
    if _is_episode(source):
        return _episode(source, 0)
    if isinstance(source, Mapping):
        if shape == "trajectories":
            return _trajectories(list(source.values()), list(source))
        return _mapping(source)
    if not isinstance(source, Iterable) or isinstance(source, bytes | bytearray | memoryview):
        raise FwrlError(
            "expected a log: files, an Arrow table, a NumPy record array, episodes, trajectories or transitions; "
            f"got {type(source).__name__}"
        )
    items = source if isinstance(source, list | tuple) else list(source)
    if shape == "trajectories" or (shape is None and _are_trajectories(items)):
        return _trajectories(items, range(len(items)))
    table = _rows(items)
    if isinstance(source, set | frozenset) and "next_state" not in table:
        raise FwrlError("visits in a set have no order; give them in a list")
    return table


def _mapping(source: Mapping[Any, Any]) -> Table:
    """The columns of a mapping, which must all have the same length."""
    for name, values in source.items():
        check_list(f"the column {name!r}", values, "values")
    table = {str(name): column(str(name), values) for name, values in source.items()}
    lengths = {name: len(values) for name, values in table.items()}
    if len(set(lengths.values())) > 1:
        few, many = (pick(lengths, key=lengths.__getitem__) for pick in (min, max))
        raise FwrlError(
            f"expected columns of one length, {many!r} has {lengths[many]:,} values and {few!r} {lengths[few]:,}"
        )
    return table


def _rows(items: Iterable[Any]) -> Table:
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
    ends = _terminations(episode, seen, infos)
    if isinstance(seen, Mapping):
        seen = seen["observation"]
    elif not isinstance(seen, np.ndarray):
        seen = [state_of(one) for one in seen]
    seen, actions = _discrete(seen, "observations"), _discrete(actions, "actions")
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
    if ends is not None:
        table["terminated"] = column("terminated", _last(ends, n))
    return table


def _last(values: Any, n: int) -> Any:
    """The last `n` values, or all if they are fewer."""
    return values[max(0, len(values) - n) :]


def _discrete(values: Any, what: str) -> Any:
    """Values of an episode, (n, 1) arrays as (n,); the error for others points to navigators."""
    if not isinstance(values, np.ndarray) or values.ndim == 1:
        return values
    if values.ndim == 2 and values.shape[1] == 1:
        return values[:, 0]
    raise FwrlError(
        f"expected episodes with discrete {what}, got {values.dtype} of shape {values.shape}; "
        "fwrl.fit_navigator(episodes) learns from continuous ones"
    )


def _terminations(episode: Any, seen: Any, infos: Any) -> Any:
    """Whether each step of an episode terminated; None if that is unknown.

    Reaching the goal ends an episode, but for other goals nothing ends there.
    """
    is_mapping = isinstance(episode, Mapping)
    terminations = episode.get("terminations") if is_mapping else getattr(episode, "terminations", None)
    if terminations is None:
        return None
    if isinstance(seen, Mapping) and "desired_goal" in seen:
        achieved, desired = (
            np.asarray(seen.get("achieved_goal", seen.get("observation"))),
            np.asarray(seen["desired_goal"]),
        )
        same: Any = np.equal(achieved, desired)
        arrived = same.reshape(len(achieved), -1).all(axis=1)
        return _last(np.asarray(terminations, np.bool_), len(arrived) - 1) & ~arrived[1:]
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
