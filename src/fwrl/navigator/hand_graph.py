"""What a hand did near places of contact: counted windows between nested cells, each with a recipe.

A *pair* is a cell with a label: the heading of the window's mean action in open space, for position and opening. An
*outcome* of a pair is the cell where windows ended; its recipe is their mean action and their mean last point.
Outcomes numbered from S on are events, such as a switch that flips.

Three rules make a plan of it.

1. *Doubt by episodes.* A pair seen in n episodes fails with probability d / (n + d): neighbouring windows of one
   episode share their luck, so only episodes count as evidence. Rare pairs would otherwise look certain, and those are
   what a planner picks (the winner's curse).
2. *Giving up* costs one window for each cell: no path without a repeated cell is longer, so no real value is cut off.
3. Goals are sets of outcomes; the backup is the expected one of `fwrl.kernels.mdp.solver`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Floats, Ints
from fwrl.kernels.mdp.counts import outcomes_of
from fwrl.kernels.mdp.solver import solve

Mask = NDArray[np.bool_]
NONE = -1
DOUBT = 0.25  # episodes


class HandGraph(NamedTuple):
    """K pairs with E outcomes, ordered by cell, label and target."""

    n_cells: int  # S
    n_events: int
    source: Ints  # (K,) cell
    episodes: Ints  # (K,) in how many distinct episodes it was seen
    pair: Ints  # (E,)
    target: Ints  # (E,) cell, or S + number of an event
    times: Floats  # (E,) windows
    action: Floats  # (E, m) mean action
    end: Floats  # (E, D) mean last point


def hand_graph(
    n_cells: int,
    n_events: int,
    source: Ints,
    label: Ints,
    target: Ints,
    episode: Ints,
    actions: Floats,
    ends: Floats,
) -> HandGraph:
    """Count M windows.

    Args:
        source: (M,) cell of the first row.
        label: (M,) from 0 on.
        target: (M,) cell of the last row, or S + number of an event.
        episode: (M,) its episode.
        actions: (M, m) mean actions.
        ends: (M, D) last points.
    """
    labels, targets = int(label.max()) + 1, n_cells + n_events
    pairs, pair = np.unique(source * labels + label, return_inverse=True)
    spans = int(episode.max()) + 1
    seen_in = np.unique(pair * spans + episode) // spans
    edges, edge = np.unique(pair * targets + target, return_inverse=True)
    times = np.bincount(edge, minlength=len(edges)).astype(np.float64)

    def means(values: Floats) -> Floats:
        sums = [np.bincount(edge, weights=column, minlength=len(edges)) for column in values.T]
        return np.stack(sums, axis=1) / times[:, None]

    return HandGraph(
        n_cells,
        n_events,
        pairs // labels,
        np.bincount(seen_in, minlength=len(pairs)),
        edges // targets,
        edges % targets,
        times,
        means(actions),
        means(ends),
    )


class HandPlan(NamedTuple):
    """A plan for a set of goals."""

    graph: HandGraph
    goal: Mask  # (S + events,) targets that arrive
    value: Floats  # (S + events,) expected reward (minus steps); 0 at goals
    arrival: Floats  # (S,) probability of arriving
    gain: Floats  # (K,) expected reward of each pair
    first: Ints  # (S + 1,) first pair of each cell
    first_edge: Ints  # (K + 1,) first outcome of each pair

    def pairs(self, cell: int) -> Ints:
        """Return the pairs of a cell that help, best first."""
        found = np.arange(self.first[cell], self.first[cell + 1])
        return found[np.argsort(-self.gain[found], kind="stable")]

    def outcome(self, pair: int) -> int:
        """Return the likeliest outcome of a pair that is better than where it begins; NONE if there isn't one."""
        edges = np.arange(self.first_edge[pair], self.first_edge[pair + 1])
        better = edges[self.value[self.graph.target[edges]] > self.value[self.graph.source[pair]]]
        return int(better[np.argmax(self.graph.times[better])]) if len(better) else NONE


def plan_to(
    graph: HandGraph, goal: Mask, steps: int, doubt: float, give_up: float | None = None, best: bool = False
) -> HandPlan:
    """Plan for a set of goals.

    Args:
        goal: (S + events,) which targets arrive.
        steps: of a window.
        doubt: d of rule 1, in episodes.
        give_up: cost of giving up, in steps; None for rule 2.
        best: plan on the best outcome of every pair instead of the mean of all.
    """
    S, K = graph.n_cells, len(graph.source)
    arrived, lost = S, S + 1
    state = np.concatenate([np.arange(S), np.full(graph.n_events, lost)])
    state[goal] = arrived
    leaves = state[graph.source] < S  # pairs that begin at a goal lead nowhere
    chosen = leaves[graph.pair]
    pair, target, times = graph.pair[chosen], state[graph.target[chosen]], graph.times[chosen]
    if best:
        pair, source = np.arange(len(pair)), graph.source[pair]
    else:
        total = np.bincount(graph.pair, weights=graph.times, minlength=K)
        failing = np.flatnonzero(leaves)
        pair = np.concatenate([pair, failing])
        target = np.concatenate([target, np.full(len(failing), lost)])
        times = np.concatenate([times, doubt * total[failing] / graph.episodes[failing]])
        order = np.argsort(pair, kind="stable")
        pair, target, times = np.unique(pair, return_inverse=True)[1][order], target[order], times[order]
        source = graph.source[failing]
        pair = np.sort(pair)
    cost = float(S * steps) if give_up is None else give_up
    closed = np.zeros(S + 2, np.bool_)
    closed[lost] = True
    model = outcomes_of(S + 2, source, pair, target, times, np.full(len(pair), -float(steps)))
    solution = solve(model, arrived, closed=closed, penalty=cost)
    value = solution.v[state]
    after = np.where(state == lost, -cost, value)[graph.target] - steps
    first_edge = np.searchsorted(graph.pair, np.arange(K + 1))
    if best:
        gain = np.maximum.reduceat(after, first_edge[:-1])
    else:
        weight = np.bincount(graph.pair, weights=graph.times, minlength=K)
        failed = weight * doubt / graph.episodes
        gain = (np.bincount(graph.pair, weights=graph.times * after, minlength=K) - cost * failed) / (weight + failed)
    return HandPlan(
        graph,
        goal,
        value,
        solution.p[:S],
        gain,
        np.searchsorted(graph.source, np.arange(S + 1)),
        first_edge,
    )
