"""Follow a hand's plan, one step at a time.

It takes the likeliest better outcome of the best pair of its cell, aims at the outcome's mean last point with the mean
action as recipe, and keeps to it for k steps or until it's close. Aiming again at every step would send the hand back
and forth. A pair that was followed twice without getting to a better cell loses rank. Stuck `STUCK` times in a row, the
hand goes to a random nearby cell that has a plan. Without a plan it goes to the nearest cell that has one.
"""

from __future__ import annotations

import functools

import numpy as np
from scipy.spatial import cKDTree

from fwrl.arrays import Floats, Ints
from fwrl.navigator.hand_graph import NONE, HandPlan
from fwrl.navigator.nested_cells import NestedCells
from fwrl.navigator.poses import turn
from fwrl.navigator.steering import Steering

REACHED = 0.25  # widths
TRIES = 2
STUCK = 3
NEARBY = 8  # cells to choose a detour from


class Followable:
    """A plan with what it takes to follow it.

    Args:
        cells: of the plan.
        plan: for a set of goals.
        steering: of the hand.
        k: steps of a window.
    """

    def __init__(self, cells: NestedCells, plan: HandPlan, steering: Steering, k: int) -> None:
        self.cells, self.plan, self.steering, self.k = cells, plan, steering, k
        self.p = cells.places.shape[1]

    @functools.cached_property
    def planned(self) -> Ints:
        """Cells from which the plan may arrive."""
        S = self.plan.graph.n_cells
        return np.flatnonzero((self.plan.arrival > 0.0) & ~self.plan.goal[:S])

    @functools.cached_property
    def tree(self) -> cKDTree:
        """The planned cells, in units."""
        return cKDTree(self.cells.centres[self.planned] / self.cells.units)

    def nearest(self, point: Floats, n: int) -> Ints:
        """Return up to n planned cells, the nearest first."""
        found = np.atleast_1d(self.tree.query(point / self.cells.units, k=min(n, len(self.planned)))[1])
        return self.planned[found]


class HandPursuit:
    """One approach by one plan."""

    def __init__(self, followed: Followable, rng: np.random.Generator) -> None:
        self._f, self._rng = followed, rng
        self._left = 0
        self._end: Floats | None = None
        self._recipe: Floats | None = None
        self._whole = False  # whether to keep to it for all k steps
        self._cell, self._pair = NONE, NONE
        self._tried: dict[int, int] = {}
        self.stuck = 0

    def act(self, point: Floats, angle: int, velocity: Floats) -> Floats:
        """Choose the action (m,) at a point (D,).

        Args:
            angle: 2 if the point has an angle after its position, else 0.
            velocity: (d,) of the hand's pose.
        """
        f = self._f
        if self._left > 0 and not self._whole:
            apart = np.abs(self._end - point) / f.cells.units
            if apart.max() <= REACHED * f.cells.width(point):
                self._left = 0
        if self._left == 0:
            self._choose(point)
            self._left = f.k
        p = f.p
        away = np.concatenate([self._end[:p] - point[:p], turn(self._end[p : p + angle], point[p : p + angle])])
        action = f.steering.action(away * (f.k / self._left), velocity, self._recipe)
        self._left -= 1
        return action

    def _choose(self, point: Floats) -> None:
        f, plan = self._f, self._f.plan
        graph = plan.graph
        cell = int(f.cells.of(point[None])[0])
        if self._cell != NONE:
            if plan.value[cell] > plan.value[self._cell]:
                self.stuck = 0
            else:
                self.stuck += 1
                self._tried[self._pair] = self._tried.get(self._pair, 0) + 1
        lost = plan.arrival[cell] == 0.0 or plan.goal[cell]
        self._cell = cell
        detour = self.stuck % (STUCK + 1) == STUCK
        if lost or detour:
            near = f.nearest(point, NEARBY if detour else 1)
            aim = int(near[self._rng.integers(len(near))])
            pair = self._best(aim)
            self._end, self._whole = f.cells.centres[aim], False
            edge = plan.outcome(pair)
            self._recipe, self._pair = graph.action[edge], NONE
            return
        pair = self._best(cell)
        edge = plan.outcome(pair)
        self._pair, self._end, self._recipe = pair, graph.end[edge], graph.action[edge]
        self._whole = bool(plan.goal[graph.target[edge]])

    def _best(self, cell: int) -> int:
        pairs = [pair for pair in self._f.plan.pairs(cell) if self._f.plan.outcome(pair) != NONE]
        return min(pairs, key=lambda pair: self._tried.get(pair, 0) // TRIES)
