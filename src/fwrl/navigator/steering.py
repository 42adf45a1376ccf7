"""From wanted displacements of a hand to actions.

    a = B+ (wanted - C v) + (I - B+ B) a_recipe

The motion model acts where it explains the hand's pose; the data's own action fills the rest, so closing the fingers
needs no rule. B+ is a pseudo-inverse in units of how much each action was used, and of the window's displacement in
each coordinate: otherwise it would steer with actions that hardly varied in the data, which say little about B.
"""

from __future__ import annotations

import numpy as np

from fwrl.arrays import Floats
from fwrl.navigator.motion import LinearMotion

WEAKEST = 0.1  # directions in which actions move less, compared with the strongest, aren't steered


class Steering:
    """Steers the first d coordinates of a motion model.

    Args:
        motion: from mean actions to displacements.
        units: (d,) usual displacement of each coordinate in a window.
        used: (m,) usual size of each action.
    """

    def __init__(self, motion: LinearMotion, units: Floats, used: Floats) -> None:
        d = self.dimensions = len(units)
        self.units, self.used = units, used
        forward = motion.forward[:, :d]
        scaled = np.linalg.pinv(used[:, None] * forward / units, rcond=WEAKEST)
        self._inverse: Floats = scaled / units[:, None] * used
        self._rest: Floats = np.eye(len(used)) - forward @ self._inverse
        self._momentum = motion.momentum[:d, :d]
        self._low, self._high = motion.low, motion.high

    def action(self, wanted: Floats, velocity: Floats, recipe: Floats) -> Floats:
        """Return the (m,) action for a displacement (d,) in one window, at a velocity (d,) in displacement per step."""
        pushed = (wanted - velocity @ self._momentum) @ self._inverse + recipe @ self._rest
        action: Floats = np.minimum(np.maximum(pushed, self._low), self._high)
        return action
