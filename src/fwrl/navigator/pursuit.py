"""A pursuit: from a plan to actions, one step at a time.

It aims at a point for up to k steps, the length of the model's windows, then looks up the cell and aims again. Aiming
again at every step would let two neighbouring cells send it back and forth.

- Within one width of the goal: aim at the goal.
- Otherwise: aim at the centre of the cell that the plan names.
- If that's more than `FAR` widths away, it takes a jump to get there: follow the heading of the plan.
- Without a plan: go straight to the goal.
- If stuck, meaning it has hardly moved since it last aimed: follow the heading of the plan (the centre may be behind a
  corner). If still stuck: return to the centre of its own cell; then alternate.

With raw actions, it holds the action of the plan for k steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fwrl.arrays import Floats
from fwrl.navigator.action_labels import Headings
from fwrl.navigator.fitted import FittedCells
from fwrl.navigator.goal_plan import NONE, Plan
from fwrl.navigator.motion import LinearMotion

FAR = 3.0  # widths
REACHED = 0.25  # widths from the point aimed at


class Pursuit:
    """One approach to one goal, by headings.

    Args:
        k: steps of a window.
        plan: for the goal.
        goal: (d,) the point.
    """

    def __init__(self, cells: FittedCells, motion: LinearMotion, k: int, plan: Plan, goal: Floats) -> None:
        self._cells, self._plan, self._goal, self._k = cells, plan, goal, k
        self._inverse, self._low, self._high = motion.inverse, motion.low, motion.high
        self._momentum = motion.momentum
        self._last: Floats | None = None
        self._coasting = np.zeros(len(goal))  # displacement by momentum in k steps
        self._directions = Headings(len(goal)).directions * cells.width
        self._near = cells.width**2
        self._point: Floats | None = None  # target
        self._heading: Floats | None = None  # followed instead of a target
        self._left = 0
        self._aimed_from: Floats | None = None
        self._stuck = 0  # windows in a row

    def act(self, point: Floats) -> Floats:
        """Choose the action (m,) at a point (d,)."""
        velocity = point - self._last if self._last is not None else np.zeros(len(point))
        self._coasting = velocity @ self._momentum if velocity @ velocity <= self._near else np.zeros(len(point))
        self._last = point
        to_goal = self._goal - point
        if to_goal @ to_goal <= self._near:
            self._left = 0
            return self.push(to_goal, self._k)
        if self._left > 0:
            if self._heading is not None:
                self._left -= 1
                return self.push(self._heading, 1.0)
            if self._point is not None:
                away = self._point - point
                if away @ away > REACHED**2 * self._near:
                    rate = self._k / self._left
                    self._left -= 1
                    return self.push(away, rate)
        return self._aim(point, to_goal)

    def _aim(self, point: Floats, to_goal: Floats) -> Floats:
        """Choose a target for the next k steps, and the first action."""
        cell = self._cells.cell(point)
        target, label = int(self._plan.target[cell]), int(self._plan.label[cell])
        if target == NONE:
            self._left = 0
            return self.push(to_goal, 1.0)
        moved = point - self._aimed_from if self._aimed_from is not None else to_goal
        self._stuck = self._stuck + 1 if moved @ moved < REACHED**2 * self._near else 0
        self._aimed_from, self._left = point, self._k - 1
        if self._stuck % 3 == 2:
            target = cell
        self._point, self._heading = self._cells.centres[target], None
        away = self._point - point
        if label != NONE and (self._stuck % 3 == 1 or away @ away > FAR**2 * self._near):
            self._heading = away = self._directions[label]
        return self.push(away, 1.0)

    def push(self, displacement: Floats, rate: float) -> Floats:
        """Return the action that moves by `displacement` in k / rate steps, as far as actions allow."""
        wanted = (displacement * rate - self._coasting) @ self._inverse
        pushed: Floats = np.minimum(np.maximum(wanted, self._low), self._high)
        return pushed


class HeldAction:
    """One approach by raw actions, each held for k steps.

    Args:
        label_at: returns the label to follow at a point.
        actions: (L, m) the actions.
        k: steps for which an action is held.
    """

    def __init__(self, label_at: Callable[[Floats], int], actions: Floats, k: int) -> None:
        self._label_at, self._actions, self._k = label_at, actions, k
        self._label, self._left = 0, 0

    def act(self, point: Floats) -> Floats:
        """Choose the action (m,) at a point (d,)."""
        if self._left == 0:
            self._label, self._left = self._label_at(point), self._k
        self._left -= 1
        action: Floats = self._actions[self._label]
        return action
