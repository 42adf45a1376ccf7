"""Checks of states, actions and transitions that callers pass, before compiled code, which checks no index."""

from __future__ import annotations

import operator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.errors import FwrlError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

LARGEST_REWARD = 1e100  # in size, as in logs: sums along any path stay finite


class Transitions(NamedTuple):
    """N transitions, in order."""

    state: Ints  # (N,)
    action: Ints  # (N,)
    reward: Floats  # (N,)
    next_state: Ints  # (N,)


def checked_index(value: int, limit: int, what: str) -> int:
    """`value` as a Python int; other integer types would each compile the kernels again."""
    try:
        index = operator.index(value)
    except TypeError:
        raise FwrlError(f"expected {what} from 0 to {limit - 1}, got {value!r}") from None
    if not 0 <= index < limit:
        raise FwrlError(f"expected {what} from 0 to {limit - 1}, got {index}")
    return index


def checked_batch(values: ArrayLike, limit: int, what: str) -> Ints:
    """One state as an array without dimensions, or (n,) states; of (n, 1) the column."""
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim > 1 or (array.size and array.dtype.kind not in "iu"):
        raise FwrlError(
            f"expected {what} as one state, (n,) or (n, 1) integers, got {array.dtype} of shape {array.shape}"
        )
    if np.any((array < 0) | (array >= limit)):
        raise FwrlError(f"expected states from 0 to {limit - 1} as {what}, got {values!r}")
    return array.astype(np.int64)


def checked_transitions(
    states: ArrayLike,
    actions: ArrayLike,
    rewards: ArrayLike,
    next_states: ArrayLike,
    n_states: int,
    n_actions: int,
) -> Transitions:
    """Four sequences of one length: indices in range, and rewards up to `LARGEST_REWARD` in size."""
    s = _indices(states, n_states, "states")
    a = _indices(actions, n_actions, "actions")
    n = _indices(next_states, n_states, "next states")
    r = np.ascontiguousarray(rewards, dtype=np.float64)
    if not len(s) == len(a) == len(r) == len(n) or r.ndim != 1:
        raise FwrlError(
            "expected four sequences of one length, got "
            f"{len(s)} states, {len(a)} actions, {r.size} rewards, {len(n)} next states"
        )
    if not np.isfinite(r).all():
        k = int(np.argmin(np.isfinite(r)))
        raise FwrlError(f"expected finite rewards, transition {k} has {r[k]}")
    if np.abs(r).max(initial=0.0) > LARGEST_REWARD:
        k = int(np.argmax(np.abs(r)))
        raise FwrlError(
            f"expected rewards up to {LARGEST_REWARD:g} in size, transition {k} has {r[k]}; scale them down"
        )
    return Transitions(s, a, r, n)


def checked_marks(values: ArrayLike, n: int) -> NDArray[np.bool_]:
    """(n,) booleans."""
    marks = np.asarray(values)
    if marks.shape != (n,) or (n and marks.dtype.kind not in "biu"):
        raise FwrlError(f"expected {n} booleans as terminated, got {marks.dtype} {marks.shape}")
    return marks.astype(np.bool_)


def checked_reward(reward: float) -> float:
    """`reward` as a Python float."""
    if not np.isfinite(reward):
        raise FwrlError(f"expected a finite reward, got {reward}")
    number = float(reward)
    if abs(number) > LARGEST_REWARD:
        raise FwrlError(f"expected a reward up to {LARGEST_REWARD:g} in size, got {number}; scale rewards down")
    return number


def first_ends(next_states: Ints, terminated: NDArray[np.bool_]) -> set[int]:
    """The transitions that are the first to end at a state, by (N,) their next states and whether they terminated.

    >>> sorted(first_ends(np.array([4, 2, 2, 4, 2]), np.array([False, True, True, True, False])))
    [1, 3]
    """
    ends = np.flatnonzero(terminated)
    return set(ends[np.unique(next_states[ends], return_index=True)[1]].tolist())


def _indices(values: ArrayLike, limit: int, what: str) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise FwrlError(f"expected a sequence of integers as {what}, got {array.dtype} {array.shape}")
    if array.size and not (array.min() >= 0 and array.max() < limit):
        raise FwrlError(f"expected {what} from 0 to {limit - 1}, got {array.min()} to {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int64)
