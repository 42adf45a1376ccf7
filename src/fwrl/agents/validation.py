"""Check agents' options, and callers' states, actions and transitions, before compiled code reads them.

Compiled code checks no index. A bad option raises `OptionError`, a bad argument `FwrlError`.
"""

from __future__ import annotations

import operator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.arguments import check_real, shown
from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError, OptionError

LARGEST_TABLE = 8 * 2**30  # bytes
LARGEST = float(np.finfo(np.float64).max)
# Limits for options that cost time or memory, for the command line, Python and pages: far above any need, but low
# enough that a step takes only a moment. Tuning goes up to 300 replays and 10,000 transitions.
MOST_REPLAYS = 10_000  # at every step
MOST_AT_STEP = 100_000  # backups
LARGEST_CAPACITY = 10**7  # transitions kept for replay, about 50 bytes each


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Require `value` to be one of `choices`."""
    if value not in choices:
        raise OptionError(f"expected {name} to be one of {choices}, got {shown(value)}")


def check_number(name: str, value: object, least: float = -np.inf) -> None:
    """Require a finite number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not max(least, -LARGEST) <= value <= LARGEST:
        bound = "" if least == -np.inf else f" of at least {least:g}"
        raise OptionError(f"expected {name} to be a finite number{bound}, got {shown(value)}")


def check_learning_rate(value: object) -> None:
    """Require a number above 0 and at most 1."""
    check_number("learning_rate", value)
    if not 0 < value <= 1:  # type: ignore[operator]
        raise OptionError(f"expected 0 < learning_rate <= 1, got {value}")


def check_give_up(value: object) -> None:
    """Require a positive cost, or None."""
    if value is not None:
        check_number("give_up", value)
        if not value > 0:  # type: ignore[operator]
            raise OptionError(f"expected give_up to be a positive cost or None, got {shown(value)}")


def check_whole(name: str, value: object, *, least: int, most: int) -> None:
    """Require a Python integer from `least` to `most`."""
    if type(value) is not int or not least <= value <= most:
        raise OptionError(f"expected {name} to be a whole number from {least:,} to {most:,}, got {shown(value)}")


def checked_rows(name: str, value: object) -> tuple[tuple[float, ...], ...] | None:
    """Return rows of finite numbers, all of one length, as tuples; None stays None."""
    if value is None:
        return None
    try:
        rows = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        rows = np.empty(0)
    if rows.ndim != 2 or not rows.size or not np.isfinite(rows).all():
        raise OptionError(f"expected {name} as one row of finite numbers for each state, got {shown(value)}")
    return tuple(tuple(row) for row in rows.tolist())


def check_table_size(size: int, what: str, remedy: str) -> None:
    """Require that a table of `size` bytes fits into `LARGEST_TABLE`; `what` needs it, `remedy` avoids it."""
    if size > LARGEST_TABLE:
        need = f"{what} need {size / 2**30:,.1f} GiB"
        raise OptionError(f"expected a table of at most {LARGEST_TABLE / 2**30:.0f} GiB, {need}; {remedy}")


LARGEST_REWARD = 1e100  # in size, as in logs: sums along any path stay finite


class Transitions(NamedTuple):
    """N transitions, in order."""

    state: Ints  # (N,)
    action: Ints  # (N,)
    reward: Floats  # (N,)
    next_state: Ints  # (N,)


def checked_index(value: int, limit: int, what: str) -> int:
    """Return `value` as a Python int; any other integer type would compile the kernels again."""
    try:
        index = operator.index(value)
    except TypeError:
        raise FwrlError(f"expected {what} from 0 to {limit - 1}, got {shown(value)}") from None
    if not 0 <= index < limit:
        raise FwrlError(f"expected {what} from 0 to {limit - 1}, got {shown(index)}")
    return index


def checked_batch(values: ArrayLike, limit: int, what: str) -> Ints:
    """Return one state as an array without dimensions, or (n,) states; from (n, 1), the column."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim > 1 or (array.size and array.dtype.kind not in "iu"):
        raise FwrlError(
            f"expected {what} as one state, (n,) or (n, 1) integers, got {array.dtype} of shape {array.shape}"
        )
    if np.any((array < 0) | (array >= limit)):
        raise FwrlError(f"expected states from 0 to {limit - 1} as {what}, got {shown(values)}")
    return array.astype(np.int64)


def checked_transitions(
    states: ArrayLike,
    actions: ArrayLike,
    rewards: ArrayLike,
    next_states: ArrayLike,
    n_states: int,
    n_actions: int,
) -> Transitions:
    """Check four sequences of one length: indices in range, and rewards of at most `LARGEST_REWARD` in size."""
    s = _indices(states, n_states, "states")
    a = _indices(actions, n_actions, "actions")
    n = _indices(next_states, n_states, "next states")
    try:
        r = np.ascontiguousarray(rewards, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise FwrlError(f"expected rewards as a sequence of numbers, got {shown(rewards)}") from None
    if not len(s) == len(a) == len(r) == len(n) or r.ndim != 1:
        raise FwrlError(
            "states, actions, rewards and next states must have the same length, got "
            f"{len(s)} states, {len(a)} actions, {r.size} rewards, {len(n)} next states"
        )
    if not np.isfinite(r).all():
        k = int(np.argmin(np.isfinite(r)))
        raise FwrlError(f"expected finite rewards, but transition {k} has {r[k]}")
    if np.abs(r).max(initial=0.0) > LARGEST_REWARD:
        k = int(np.argmax(np.abs(r)))
        raise FwrlError(
            f"expected rewards up to {LARGEST_REWARD:g} in size, but transition {k} has {r[k]}; scale them down"
        )
    return Transitions(s, a, r, n)


def checked_marks(values: ArrayLike, n: int) -> NDArray[np.bool_]:
    """(n,) booleans."""
    marks = np.asarray(values)
    if marks.shape != (n,) or (n and marks.dtype.kind not in "biu"):
        raise FwrlError(f"expected terminated as {n} booleans, got {marks.dtype} of shape {marks.shape}")
    return marks.astype(np.bool_)


def checked_reward(reward: float) -> float:
    """Return `reward` as a Python float."""
    number = check_real("reward", reward)
    if not np.isfinite(number):
        raise FwrlError(f"expected a finite reward, got {shown(reward)}")
    if abs(number) > LARGEST_REWARD:
        raise FwrlError(f"expected a reward up to {LARGEST_REWARD:g} in size, got {number}; scale rewards down")
    return number


def first_ends(next_states: Ints, terminated: NDArray[np.bool_]) -> set[int]:
    """Return the transitions that are the first to end at a state, from (N,) next states and whether they terminated.

    >>> sorted(first_ends(np.array([4, 2, 2, 4, 2]), np.array([False, True, True, True, False])))
    [1, 3]
    """
    ends = np.flatnonzero(terminated)
    return set(ends[np.unique(next_states[ends], return_index=True)[1]].tolist())


def _indices(values: ArrayLike, limit: int, what: str) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise FwrlError(f"expected {what} as a sequence of integers, got {array.dtype} of shape {array.shape}")
    if array.size and not (array.min() >= 0 and array.max() < limit):
        raise FwrlError(f"expected {what} from 0 to {limit - 1}, got {array.min()} to {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int64)
