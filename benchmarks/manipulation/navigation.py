"""The navigator on OGBench's robot arm: what it is told, and what is left with an idea left out.

It is told which numbers of an observation are the arm's hand, its opening, things and switches. All else is learned:
what can be grasped, how, what moves with what, what a press does, and in which order things must move.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

import fwrl
from benchmarks.manipulation.arm import ARM, BUTTON, CLOSE, CUBE, CUBE_SCALE, RAIL, SCALES, WORLDS
from benchmarks.manipulation.collector import Arrays
from fwrl.arrays import Floats

BEST, JOINT, ONE = "best outcome", "joint cells", "one episode"
ABLATIONS = (BEST, JOINT, ONE)  # ONE isn't fitted: see `shown_in_one_episode`


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
        at += RAIL
    hand = fwrl.Pose((12, 13, 14), angle=(15, 16))
    return {"hand": hand, "opening": (17,), "things": things, "switches": switches}


class JointCells:
    """A navigator without a hand, in whose cells the places of hand, things and switches are joint."""

    def __init__(self, data: Arrays, world: str) -> None:
        parts = told(world)
        self._hand, things = parts["hand"].position, [pose.position for pose in parts["things"].values()]
        switches = [one_hot[1] for one_hot in parts["switches"].values()]
        self._chosen = [*self._hand, *parts["opening"], *(n for place in things for n in place), *switches]
        self._place = next((place for place in things if len(place) == len(self._hand)), self._hand)
        self._navigator = fwrl.fit_navigator(data, coordinates=self._chosen, actions="raw")

    def aim(self, goal: Floats) -> None:
        """Begin an episode. The arm of a goal doesn't count, so put the hand at the first cube."""
        at = goal.copy()
        at[list(self._hand)] = goal[list(self._place)]
        self._navigator.aim(at[self._chosen])

    def act(self, observation: Floats) -> Floats:
        """Choose an action."""
        return self._navigator.act(observation)


def fit(data: Arrays, world: str, ablation: str = "") -> Actor:
    """A navigator with default options, or with one idea left out."""
    if ablation == JOINT:
        return JointCells(data, world)
    navigator: Actor = fwrl.fit_navigator(data, **told(world), backup="best" if ablation == BEST else "expected")
    return navigator


def shown_in_one_episode(data: Arrays, world: str, start: Floats, goal: Floats) -> bool:
    """Whether a recorded episode shows all things as at the start, and later as in the goal, to 4 cm."""
    shown = [_alike(data["observations"], world, wanted) for wanted in (start, goal)]
    ends = np.flatnonzero(data["terminals"]) + 1
    for begin, end in zip(np.concatenate([[0], ends[:-1]]), ends, strict=True):
        first, last = (np.flatnonzero(rows[begin:end]) for rows in shown)
        if len(first) and len(last) and first[0] <= last[-1]:
            return True
    return False


def _alike(rows: Floats, world: str, wanted: Floats) -> Any:
    """(n,) whether all things of a row are where OGBench counts them as where they are wanted."""
    parts = told(world)
    same = np.ones(len(rows), np.bool_)
    for name, pose in parts["things"].items():
        columns = list(pose.position)
        same &= np.linalg.norm(rows[:, columns] - wanted[columns], axis=1) <= CLOSE * SCALES.get(name, CUBE_SCALE)
    for one_hot in parts["switches"].values():
        same &= rows[:, one_hot[1]] == wanted[one_hot[1]]
    return same
