"""The navigator on OGBench's robot arm: what it is told, and how it is fitted with an idea left out.

It is told which numbers of an observation are the arm's hand, its opening, things and switches. All else is learned:
what can be grasped, how, what moves with what, what a press does, and in which order things must move.
"""

from __future__ import annotations

from typing import Any, Protocol

import fwrl
from benchmarks.manipulation.arm import ARM, BUTTON, CUBE, JOINT, WORLDS
from benchmarks.manipulation.collector import Arrays
from fwrl.arrays import Floats

ABLATIONS: dict[str, dict[str, Any]] = {
    "": {},
    "best outcome": {"backup": "best"},
}


class Actor(Protocol):
    """A navigator, as an evaluation uses it."""

    def aim(self, goal: Floats) -> None:
        """Begin an episode."""

    def act(self, observation: Floats) -> Floats:
        """Choose an action."""


def told(world: str) -> dict[str, Any]:
    """The arguments of `fit_navigator` that say what numbers of an observation are."""
    kind = WORLDS[world]
    at, things, switches = ARM, {}, {}
    for k in range(kind.cubes):
        things[f"cube {k + 1}"] = fwrl.Pose((at, at + 1, at + 2), angle=(at + 7, at + 8))
        at += CUBE
    for k in range(kind.buttons[0] * kind.buttons[1]):
        switches[f"button {k + 1}"] = (at, at + 1)
        at += BUTTON
    for name in kind.joints:
        things[name] = fwrl.Pose((at,))
        at += JOINT
    hand = fwrl.Pose((12, 13, 14), angle=(15, 16))
    return {"hand": hand, "opening": (17,), "things": things, "switches": switches}


def fit(data: Arrays, world: str, ablation: str = "") -> Actor:
    """A navigator with default options, or with one idea left out."""
    navigator: Actor = fwrl.fit_navigator(data, **told(world), **ABLATIONS[ablation])
    return navigator
