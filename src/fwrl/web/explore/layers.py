"""A layered drawing of states without positions.

States are in layers by their distance from a root, in links of either direction; layers follow each other from left to
right. The root of a connected part is the state that trips leave most often without having entered it. Within a layer
states are ordered by the mean place of their neighbours, in a few sweeps (the barycentre heuristic of Sugiyama's
method), which puts few links across each other. The parts are drawn one below the other, the largest first.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, dijkstra

from fwrl.arrays import Floats, Ints
from fwrl.planner.weak_spots import Links

SWEEPS = 8
ASPECT = 1.6  # width over height of the drawing


def layered(links: Links) -> Floats:
    """(S, 2) positions of the states: x from 0 to `ASPECT`, y from 0 to 1."""
    S = links.n_states
    if S == 0:
        return np.zeros((0, 2))
    part = parts(links)
    layer = _layers(links, part)
    place = _ordered(links, layer, part)
    x = layer / max(1, layer.max())
    y = place / max(1.0, place.max())
    return np.stack([ASPECT * x, 1.0 - y], axis=1)


def parts(links: Links) -> Ints:
    """(S,) the number of the connected part that each state is in."""
    graph = csr_array((np.ones(len(links.source)), (links.source, links.target)), shape=(links.n_states,) * 2)
    return connected_components(graph, directed=False)[1].astype(np.int64)


def _layers(links: Links, part: Ints) -> Ints:
    """(S,) distance of each state from the root of its part, by one search from a node that is joined to all roots."""
    S = links.n_states
    left = np.bincount(links.source, weights=links.count, minlength=S)
    entered = np.bincount(links.target, weights=links.count, minlength=S)
    order = np.lexsort((-np.arange(S), left + entered, left - entered))
    root = np.zeros(part.max() + 1, np.int64)
    root[part[order]] = order  # the last one assigned stays
    source = np.concatenate([links.source, np.full(len(root), S)])
    target = np.concatenate([links.target, root])
    graph = csr_array((np.ones(len(source)), (source, target)), shape=(S + 1, S + 1))
    distance: Ints = dijkstra(graph, directed=False, indices=np.array([S]), unweighted=True)[0, :S].astype(np.int64)
    return distance - 1


def _ordered(links: Links, layer: Ints, part: Ints) -> Floats:
    """(S,) the place of each state within its layer."""
    S = links.n_states
    size = np.bincount(part)
    below = np.argsort(np.argsort(-size, kind="stable"))[part]  # parts by size
    degree = np.bincount(links.source, minlength=S) + np.bincount(links.target, minlength=S)
    place: Floats = _ranks(layer, below, np.arange(S, dtype=np.float64))
    for _ in range(SWEEPS):
        near = np.bincount(links.source, weights=place[links.target], minlength=S)
        near += np.bincount(links.target, weights=place[links.source], minlength=S)
        mean = np.where(degree > 0, near / np.maximum(degree, 1), place)
        place = _ranks(layer, below, mean)
    return place


def _ranks(layer: Ints, below: Ints, key: Floats) -> Floats:
    """(S,) ranks within layers by part and key, centred so that layers of different size share their middle."""
    order = np.lexsort((key, below, layer))
    size = np.bincount(layer)
    begin = np.concatenate([[0], np.cumsum(size)[:-1]])
    ranks: Floats = np.empty(len(layer))
    ranks[order] = np.arange(len(layer)) - begin[layer[order]]
    ranks += (size.max() - size[layer]) / 2
    return ranks
