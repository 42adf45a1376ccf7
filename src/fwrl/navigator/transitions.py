"""Counted transitions between cells, and how much to trust rare ones.

A pair is a cell with an action label, an outcome the cell where a window ended. Relative frequencies alone make rare
pairs look certain, and those are exactly what a planner picks (the winner's curse). Three rules share evidence between
pairs. They are the same for all data and need no minimum count.

1. *Jumps.* Neighbouring cells with observed jumps count as one portal: its exits are pooled over its cells and their
   labels. How often a pair jumps is its own frequency.
2. *Prior.* Besides its own windows, every pair has the weight m (default: one window) of all windows that left its
   cell. So a pair seen once is half its own outcome and half the usual outcomes of its cell.
3. *Way back.* A window that moved as the motion model predicts is evidence, of weight b (default: 0.3 of a window),
   that the opposite label goes from its end to its start.

The reward of an outcome is minus the mean number of its steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from fwrl.arrays import Floats, Ints
from fwrl.kernels.mdp.counts import Outcomes, outcomes_of
from fwrl.navigator.action_labels import ActionLabels

Mask = NDArray[np.bool_]

PRIOR, WAY_BACK = 1.0, 0.3
NEAR = 2.0  # widths between the centres of neighbouring cells of a portal


class Transitions(NamedTuple):
    """E counted transitions, each (cell, label, next cell, jump or not) once."""

    source: Ints  # (E,) cell
    label: Ints  # (E,)
    target: Ints  # (E,) next cell
    jump: Mask  # (E,)
    times: Floats  # (E,) number of windows
    steps: Floats  # (E,) their total steps
    regular: Floats  # (E,) windows that moved as the motion model predicts


def count(source: Ints, label: Ints, target: Ints, jump: Mask, steps: Ints, regular: Mask) -> Transitions:
    """Count windows.

    Args:
        source: (M,) cell of the first point.
        label: (M,) action label.
        target: (M,) cell of the last point.
        jump: (M,) whether it ends with a jump.
        steps: (M,) number of steps.
        regular: (M,) whether it moved as the motion model predicts.

    Returns:
        The counts, ordered by cell, label, next cell.
    """
    ones = np.ones(len(source))
    return _grouped(source, label, target, jump, ones, steps.astype(np.float64), regular.astype(np.float64))


def merged(a: Transitions, b: Transitions) -> Transitions:
    """Add the counts of both."""
    return _grouped(*[np.concatenate([x, y]) for x, y in zip(a, b, strict=True)])


class Model(NamedTuple):
    """The model to plan on: outcomes of pairs, and the labels of the pairs."""

    outcomes: Outcomes
    label: Ints  # (K,)


def model_of(
    counts: Transitions,
    portal: Ints,
    labels: ActionLabels,
    *,
    prior: float,
    way_back: float,
    best: bool = False,
    unseen: float = 0.0,
) -> Model:
    """Build the model from counts by the three rules.

    Args:
        counts: at least one transition.
        portal: (S,) a number for each cell, the same for the cells of one portal (see `portals`).
        prior: weight m of the cell's other windows, in windows.
        way_back: weight b of a regular window as evidence for the opposite direction.
        best: make every outcome a separate pair, as if you could choose it: the paper's maximum over outcomes.
        unseen: weight, in windows, of an unseen exit of each portal: an extra state, S, that nothing leaves.

    Returns:
        Outcomes of the pairs, ordered by cell and label.
    """
    L, S = labels.n, len(portal) + (unseen > 0.0)
    pair = counts.source * L + counts.label
    mean = counts.steps / counts.times
    seen = Weighted(pair, counts.target, counts.times, mean)
    back = Weighted(counts.target * L + labels.opposite(counts.label), counts.source, way_back * counts.regular, mean)
    left = joined([seen.where(~counts.jump), _pooled_jumps(seen.where(counts.jump), portal, L, unseen)], S)
    own = joined([left, back.where(back.times > 0.0)], S)
    own = own.where(own.pair % L != labels.idle)
    if best:
        one = np.ones(len(own.pair))
        outcomes = outcomes_of(S, own.pair // L, np.arange(len(one)), own.target, one, -own.steps)
        return Model(outcomes, own.pair % L)
    if prior > 0.0:
        cells = joined([left._replace(pair=left.pair // L)], S)
        pairs = np.unique(own.pair)
        own = joined([own, _spread(pairs, pairs // L, prior, cells)], S)
    pairs, place = np.unique(own.pair, return_inverse=True)
    return Model(outcomes_of(S, pairs // L, place, own.target, own.times, -own.steps), pairs % L)


class Weighted(NamedTuple):
    """Weighted outcomes of pairs: a pair is cell * L + label, or a cell alone."""

    pair: Ints
    target: Ints
    times: Floats
    steps: Floats  # mean

    def where(self, mask: Mask) -> Weighted:
        """Select those marked by a mask."""
        return Weighted(self.pair[mask], self.target[mask], self.times[mask], self.steps[mask])


def portals(counts: Transitions, centres: Floats, width: float) -> Ints:
    """Number the cells (S,) so that nearby cells with observed jumps share a number, and all others differ.

    Args:
        centres: (S, d) of the cells.
        width: of the cells; centres within `NEAR` widths are nearby.
    """
    number = np.arange(len(centres))
    cells = np.unique(counts.source[counts.jump])
    if len(cells):
        pairs = cKDTree(centres[cells]).query_pairs(NEAR * width, output_type="ndarray")
        rows = np.asarray(pairs, np.int64)
        graph = csr_array((np.ones(len(rows)), (rows[:, 0], rows[:, 1])), shape=(len(cells), len(cells)))
        component = connected_components(graph, directed=False)[1]
        number[cells] = cells[np.unique(component, return_index=True)[1]][component]
    return number


def _pooled_jumps(jumps: Weighted, portal: Ints, L: int, unseen: float) -> Weighted:
    """Send each pair's jumps to the exits of its portal, with weight `unseen` to an extra state."""
    if len(jumps.pair) == 0:
        return jumps
    pairs, place = np.unique(jumps.pair, return_inverse=True)
    own: Floats = np.bincount(place, weights=jumps.times).astype(np.float64)
    parts = [jumps._replace(pair=portal[jumps.pair // L])]
    if unseen > 0.0:
        group = np.unique(parts[0].pair)
        nowhere, steps = np.full(len(group), len(portal)), np.full(len(group), jumps.steps.mean())
        parts.append(Weighted(group, nowhere, np.full(len(group), unseen), steps))
    pool = joined(parts, len(portal) + 1)
    return _spread(pairs, portal[pairs // L], own, pool)


def _spread(pairs: Ints, group: Ints, weight: Floats | float, pool: Weighted) -> Weighted:
    """Give each pair the outcomes of its group, from a pool ordered by group, scaled to a sum of `weight`."""
    total = np.bincount(pool.pair, weights=pool.times)
    share = pool.times / total[pool.pair]
    first, stop = np.searchsorted(pool.pair, group), np.searchsorted(pool.pair, group, side="right")
    n = stop - first
    row = np.repeat(first - np.concatenate([[0], np.cumsum(n)[:-1]]), n) + np.arange(n.sum())
    weights = np.repeat(np.broadcast_to(weight, pairs.shape), n) * share[row]
    return Weighted(np.repeat(pairs, n), pool.target[row], weights, pool.steps[row])


def joined(parts: list[Weighted], n_targets: int) -> Weighted:
    """Merge equal outcomes of the same pair, ordered by pair and target; add weights, average steps."""
    pair, target, times, steps = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    key, place = np.unique(pair * n_targets + target, return_inverse=True)
    total: Floats = np.bincount(place, weights=times, minlength=len(key)).astype(np.float64)
    mean = np.bincount(place, weights=times * steps, minlength=len(key)) / total
    return Weighted(key // n_targets, key % n_targets, total, mean)


def _grouped(
    source: Ints, label: Ints, target: Ints, jump: Mask, times: Floats, steps: Floats, regular: Floats
) -> Transitions:
    """Merge equal (source, label, target, jump), and sum their counts."""
    if len(source) == 0:
        return Transitions(source, label, target, jump, times, steps, regular)
    n_targets, n_labels = int(target.max()) + 1, int(label.max()) + 1
    code = ((source * n_labels + label) * n_targets + target) * 2 + jump
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    key = ordered[first]
    sums = [np.add.reduceat(column[order], first) for column in (times, steps, regular)]
    pair = key // 2 // n_targets
    return Transitions(pair // n_labels, pair % n_labels, key // 2 % n_targets, key % 2 == 1, *sums)
