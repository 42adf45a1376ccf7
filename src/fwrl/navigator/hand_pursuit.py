"""Follow a hand's plan, one step at a time.

It takes the likeliest better outcome of the best pair of its cell, aims at the outcome's mean last point with the mean
action as recipe, and keeps to it for k steps or until it's close. Aiming again at every step would send the hand back
and forth. Getting on means coming to a better cell, and not for the third time: hands have gone round in circles. A
pair that was followed twice without getting on loses rank, and so do all pairs of an approach that pushed another thing
away: it would do so again, and again. Stuck `STUCK` times in a row, the hand goes to a random
nearby cell that has a plan, and each time the choice doubles. Without a plan it goes to the cell that's
fewest of its own widths away.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.navigator.hand_graph import NONE, HandPlan, Mask
from fwrl.navigator.motion import Steering
from fwrl.navigator.nested_cells import NestedCells
from fwrl.navigator.poses import moved, turn

REACHED = 0.25  # widths
TRIES = 2  # of a pair; and arrivals at a cell
STUCK = 3
NEARBY = 8  # cells to choose the first detour from


class Followable:
    """A plan with what it takes to follow it.

    Args:
        cells: of the plan.
        plan: for a set of goals.
        steering: of the hand.
        k: steps of a window.
        held: (S,) the cells that are one to the plan, the first of them; None for none.
    """

    def __init__(
        self, cells: NestedCells, plan: HandPlan, steering: Steering, k: int, held: Mask | None = None
    ) -> None:
        self.cells, self.plan, self.steering, self.k = cells, plan, steering, k
        self._held = np.zeros(len(cells), np.bool_) if held is None else held

    def cell(self, point: Floats) -> int:
        """Return the cell of a point, as the plan numbers it."""
        cell = int(self.cells.of(point[None])[0])
        return int(np.argmax(self._held)) if self._held[cell] else cell

    def end(self, edge: int, point: Floats, angle: int) -> Floats:
        """Return where an outcome ends, from a point of its cell."""
        end: Floats = self.plan.graph.end[edge]
        source = self.plan.graph.source[self.plan.graph.pair[edge]]
        return moved(point, end, self.cells.places.shape[1], angle) if self._held[source] else end

    @functools.cached_property
    def planned(self) -> Ints:
        """Cells from which the plan may arrive."""
        S = self.plan.graph.n_cells
        return np.flatnonzero((self.plan.arrival > 0.0) & ~self.plan.goal[:S])

    @functools.cached_property
    def _widths(self) -> Floats:
        """(P, D) width of the planned cells."""
        f = self.cells
        return np.ldexp(1.0, f.level(f.centres[self.planned]))[:, None] * f.units

    def nearest(self, point: Floats, n: int) -> Ints:
        """Return up to n planned cells, the nearest first, in widths of each."""
        away = (self.cells.centres[self.planned] - point) / self._widths
        apart = np.einsum("ij,ij->i", away, away)
        n = min(n, len(apart))
        found = np.argpartition(apart, n - 1)[:n]
        return self.planned[found[np.argsort(apart[found])]]


class Aim(NamedTuple):
    """What to do for the next k steps."""

    end: Floats  # (D,) point to go to
    recipe: Floats  # (m,) action where the motion model doesn't care
    whole: bool  # whether to keep to it for all k steps


class HandPursuit:
    """One approach by one plan.

    Args:
        followed: the plan.
        angle: 2 if points have an angle after their position, else 0.
        rng: chooses detours.
        tried: how often each pair was followed without getting on, by other approaches too.
    """

    def __init__(self, followed: Followable, angle: int, rng: np.random.Generator, tried: dict[int, int]) -> None:
        self._f, self._angle, self._rng = followed, angle, rng
        self._tried = tried
        self._left = 0
        self._aim: Aim | None = None
        self._cell, self._pair = NONE, NONE
        self._followed: list[int] = []  # pairs
        self._came: dict[int, int] = {}
        self._stuck = 0

    def act(self, point: Floats, velocity: Floats) -> Floats:
        """Choose the action (m,) at a point (D,), at a velocity (d,) of the hand's pose."""
        f, aim = self._f, self._aim
        if aim is not None and self._left > 0 and not aim.whole:
            close = np.abs(aim.end - point) <= REACHED * f.cells.width(point) * f.cells.units
            self._left *= not close.all()
        if aim is None or self._left == 0:
            aim = self._aim = self._choose(point)
            self._left = f.k
        p, a = f.cells.places.shape[1], f.cells.places.shape[1] + self._angle
        away = np.zeros(f.steering.dimensions)
        away[:p], away[p:a] = aim.end[:p] - point[:p], turn(aim.end[p:a], point[p:a])
        action = f.steering.action(away * (f.k / self._left), velocity, aim.recipe)
        self._left -= 1
        return action

    def give_up(self) -> None:
        """Let all pairs that were followed lose rank, because of what they did."""
        for pair in self._followed:
            self._tried[pair] = self._tried.get(pair, 0) + TRIES

    def _choose(self, point: Floats) -> Aim:
        """Choose what to do from a point, given what came of the last choice."""
        f, plan = self._f, self._f.plan
        cell = f.cell(point)
        if self._cell != NONE:
            worse = plan.value[cell] <= plan.value[self._cell] or self._came.get(cell, 0) >= TRIES
            self._stuck = self._stuck + 1 if worse else 0
            self._tried[self._pair] = self._tried.get(self._pair, 0) + int(worse)
        self._came[cell] = self._came.get(cell, 0) + (cell != self._cell)
        self._cell, self._pair = cell, NONE
        detour = self._stuck % (STUCK + 1) == STUCK
        if detour or plan.arrival[cell] == 0.0 or plan.goal[cell]:
            near = f.nearest(point, NEARBY << self._stuck // (STUCK + 1) if detour else 1)
            cell = int(near[self._rng.integers(len(near))])
            edge = plan.outcome(self._best(cell))
            return Aim(f.cells.centres[cell], plan.graph.action[edge], False)
        self._pair = self._best(cell)
        self._followed.append(self._pair)
        edge = plan.outcome(self._pair)
        return Aim(f.end(edge, point, self._angle), plan.graph.action[edge], bool(plan.goal[plan.graph.target[edge]]))

    def _best(self, cell: int) -> int:
        """Return the best pair of a cell among those that were followed least, TRIES at a time."""
        pairs = [pair for pair in self._f.plan.pairs(cell).tolist() if self._f.plan.outcome(pair) != NONE]
        return int(min(pairs, key=lambda pair: self._tried.get(pair, 0) // TRIES))
