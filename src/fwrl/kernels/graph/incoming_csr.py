"""Known edges in compressed sparse rows by target, as a search backward from a goal reads them.

The edges into y are those from `first[y]` up to `first[y + 1]`; each has its source x and its reward. Indices have 32
bits: a search is bound by memory, and this halves what it reads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.errors import OptionError
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

INDEX_LIMIT = 2**31 - 1  # states or edges
LOWEST, HIGHEST = 0, 1  # of a range of rewards


class IncomingCsr(NamedTuple):
    """E edges over S states, grouped by target."""

    first: Indices  # (S + 1,)
    source: Indices  # (E,)
    reward: Floats  # (E,)

    @property
    def n_states(self) -> int:
        """S."""
        return len(self.first) - 1


def incoming_csr(
    n_states: int, source: ArrayLike, target: ArrayLike, reward: ArrayLike
) -> tuple[IncomingCsr, NDArray[np.int32]]:
    """The edges grouped by target, and for each of them its index in the lists given; order is kept within a group.

    >>> edges, given = incoming_csr(3, source=[0, 1, 0], target=[2, 1, 1], reward=[-1.0, -2.0, -3.0])
    >>> edges.first.tolist(), edges.source.tolist(), given.tolist()
    ([0, 0, 2, 3], [1, 0, 0], [1, 2, 0])
    """
    sources, targets = np.ascontiguousarray(source, np.int32), np.ascontiguousarray(target, np.int32)
    rewards = np.ascontiguousarray(reward, np.float64)
    E = len(sources)
    if not E == len(targets) == len(rewards):
        raise OptionError(
            "expected a source, a target and a reward for each edge, got "
            f"{E} sources, {len(targets)} targets, {len(rewards)} rewards"
        )
    if max(n_states, E) > INDEX_LIMIT:
        raise OptionError(f"expected at most {INDEX_LIMIT:,} states and edges, got {n_states:,} and {E:,}")
    for states, what in ((sources, "sources"), (targets, "targets")):
        if len(states) and not (states.min() >= 0 and states.max() < n_states):
            raise OptionError(f"expected {what} from 0 to {n_states - 1}, got {states.min()} to {states.max()}")
    edges = IncomingCsr(np.empty(n_states + 1, np.int32), np.empty(E, np.int32), np.empty(E))
    place, given = np.empty(E, np.int32), np.empty(E, np.int32)
    counting_sort(targets, edges.first, place)
    _move_edges(sources, rewards, place, edges, given)
    return edges, given


@compiled
def counting_sort(key: Indices, first: Indices, place: Indices) -> None:
    """Sort entries by key, stably: fill place[e], the position of entry e, and first[y], that of the first of key y.

    `first` has one element more than there are keys; `place` has at least as many as there are entries.
    """
    S = len(first) - 1
    first[:] = 0
    for e in range(len(key)):
        first[key[e] + 1] += 1
    for y in range(S):
        first[y + 1] += first[y]
    # first[y] moves to the end of its group as the group fills; after that every group's end is the next one's start.
    for e in range(len(key)):
        y = key[e]
        place[e] = first[y]
        first[y] += 1
    for y in range(S, 0, -1):
        first[y] = first[y - 1]
    first[0] = 0


@compiled
def _move_edges(source: Indices, reward: Floats, place: Indices, edges: IncomingCsr, given: Indices) -> None:
    for e in range(len(source)):
        i = place[e]
        edges.source[i] = source[e]
        edges.reward[i] = reward[e]
        given[i] = e


@compiled
def reward_range(edges: IncomingCsr, reward: Floats, extremes: Floats) -> None:
    """Fill `extremes` (2,): the LOWEST and the HIGHEST reward of an edge between two states; -1 without any.

    A loop x -> x counts only if its reward is positive: others are on no best path, and must not widen the range.
    """
    low = np.inf
    high = -np.inf
    for y in range(len(edges.first) - 1):
        for e in range(edges.first[y], edges.first[y + 1]):
            r = reward[e]
            if edges.source[e] != y:
                low = min(low, r)
                high = max(high, r)
            elif r > 0.0:
                high = max(high, r)
    extremes[LOWEST] = low if low < np.inf else -1.0
    extremes[HIGHEST] = high if high > -np.inf else -1.0
