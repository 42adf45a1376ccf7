"""The edges of several experiences: counts, sums and weights are added, best rewards and latest times compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fwrl.arrays import Floats, Indices, Ints
from fwrl.planner.merging.unions import places_in_union

EARLIEST = np.iinfo(np.int64).min


@dataclass(frozen=True, eq=False)
class Edges:
    """E edges in order of source, action and target, by codes that all experiences share.

    Attributes:
        source: (E,) code of the state an edge leaves.
        action: (E,) code of its action; None where none were logged.
        target: (E,) code of the state it leads to.
        count: (E,) number of observations.
        total: (E,) sum of rewards.
        best: (E,) largest reward.
        last: (E,) time of the latest observation; None where no times were logged.
        weight: (E,) sum of the weights of observations, of one newest time; None where each counts once.

    """

    source: Indices
    action: Indices | None
    target: Indices
    count: Ints
    total: Floats
    best: Floats
    last: Ints | None
    weight: Floats | None = None


def merge_edges(several: Sequence[Edges], n_states: int, n_actions: int) -> tuple[Edges, list[Indices]]:
    """The edges of all in order.

    Args:
        several: Edges by shared codes, each without repetition.
        n_states: Number of codes of states.
        n_actions: Number of codes of actions; not used where there are none.

    Returns:
        The edges, and for each of `several` the index of each of its edges among them.

    """
    keys = _keys(several, n_states, n_actions)
    places, E = places_in_union(keys)
    merged = Edges(
        np.empty(E, np.int32),
        None if several[0].action is None else np.empty(E, np.int32),
        np.empty(E, np.int32),
        np.zeros(E, several[0].count.dtype),
        np.zeros(E, np.float64),
        np.full(E, -np.inf),
        None if several[0].last is None else np.full(E, EARLIEST, np.int64),
        None if several[0].weight is None else np.zeros(E, np.float64),
    )
    for edges, place in zip(several, places, strict=True):
        merged.source[place], merged.target[place] = edges.source, edges.target
        if merged.action is not None and edges.action is not None:
            merged.action[place] = edges.action
        merged.count[place] += edges.count
        merged.total[place] += edges.total
        merged.best[place] = np.maximum(merged.best[place], edges.best)
        if merged.last is not None and edges.last is not None:
            merged.last[place] = np.maximum(merged.last[place], edges.last)
        if merged.weight is not None and edges.weight is not None:
            merged.weight[place] += edges.weight
    return merged, places


def _keys(several: Sequence[Edges], n_states: int, n_actions: int) -> list[Ints]:
    """A number for each edge, equal for the same edge and ascending in the order of edges."""
    pairs = [edges.source.astype(np.int64) for edges in several]
    n_pairs = n_states
    if several[0].action is not None:
        n_pairs *= n_actions
        actions = [edges.action for edges in several if edges.action is not None]
        pairs = [pair * n_actions + action for pair, action in zip(pairs, actions, strict=True)]
    if n_pairs * n_states >= 2**63:  # number the pairs that occur
        bounds = np.cumsum([len(pair) for pair in pairs])[:-1]
        pairs = np.split(np.unique(np.concatenate(pairs), return_inverse=True)[1], bounds)
    return [pair * n_states + edges.target for pair, edges in zip(pairs, several, strict=True)]
