"""Known edges, listed by the state they lead to: what a search backward from a goal reads.

The edges into y are those from `first[y]` up to `first[y + 1]`; each has the state x it comes from and its
reward. Indices are 32 bits wide: half the memory to read, and memory is what a search waits for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.errors import OptionError
from fwrl.kernels.runtime.compiled import compiled

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

MOST = 2**31 - 1  # states or edges


class IncomingCsr(NamedTuple):
    """E edges over S states, grouped by where they lead."""

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
    """The edges grouped by target, and for each of them its place in the lists given; order is kept within a group.

    >>> edges, given = incoming_csr(3, source=[0, 1, 0], target=[2, 1, 1], reward=[-1.0, -2.0, -3.0])
    >>> edges.first.tolist(), edges.source.tolist(), given.tolist()
    ([0, 0, 2, 3], [1, 0, 0], [1, 2, 0])
    """
    sources, targets = np.ascontiguousarray(source, np.int32), np.ascontiguousarray(target, np.int32)
    rewards = np.ascontiguousarray(reward, np.float64)
    if not len(sources) == len(targets) == len(rewards):
        raise OptionError(
            "expected a source, a target and a reward for each edge, got "
            f"{len(sources)} sources, {len(targets)} targets, {len(rewards)} rewards"
        )
    if max(n_states, len(sources)) > MOST:
        raise OptionError(f"expected at most {MOST:,} states and edges, got {n_states:,} and {len(sources):,}")
    for states, what in ((sources, "sources"), (targets, "targets")):
        if len(states) and not (states.min() >= 0 and states.max() < n_states):
            raise OptionError(f"expected {what} from 0 to {n_states - 1}, got {states.min()} to {states.max()}")
    first = np.zeros(n_states + 1, np.int32)
    edges = IncomingCsr(first, np.empty(len(sources), np.int32), np.empty(len(sources)))
    given = np.empty(len(sources), np.int32)
    group_by_target(sources, targets, rewards, edges, given)
    return edges, given


@compiled
def group_by_target(
    source: Indices, target: Indices, reward: Floats, edges: IncomingCsr, given: NDArray[np.int32]
) -> None:
    """A counting sort into `edges`, whose `first` comes in zero."""
    first = edges.first
    S = len(first) - 1
    for e in range(len(target)):
        first[target[e] + 1] += 1
    for y in range(S):
        first[y + 1] += first[y]
    # first[y] now moves to the end of its group as the group fills, and is moved back after.
    for e in range(len(target)):
        place = first[target[e]]
        first[target[e]] = place + 1
        edges.source[place] = source[e]
        edges.reward[place] = reward[e]
        given[place] = e
    for y in range(S, 0, -1):
        first[y] = first[y - 1]
    first[0] = 0
