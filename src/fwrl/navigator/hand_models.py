"""What was learned about one thing, and about the switches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwrl.arrays import Floats
from fwrl.navigator.attachment import Attachment, Mask
from fwrl.navigator.hand_graph import HandGraph
from fwrl.navigator.moves import Moments, Rides
from fwrl.navigator.navigator import Navigator
from fwrl.navigator.nested_cells import NestedCells
from fwrl.navigator.operators import Operators
from fwrl.navigator.poses import Seen, turned

FAR = 1e6  # widths, farther than any cell is wide


class Approach(NamedTuple):
    """How a thing came to where it was put, as seen from there."""

    cells: NestedCells  # of the hand's displacement from there, and what the thing is put aboard
    graph: HandGraph


class ThingModel(NamedTuple):
    """What a hand does with one thing."""

    attachment: Attachment
    cells: NestedCells  # of the hand as the thing sees it
    graph: HandGraph
    held: Mask  # (S,) cells of the mode held
    away: Mask  # (S,) cells in which the hand has left the thing
    carry: Navigator  # in the thing's own coordinates, while held
    approach: Approach
    grip: Floats  # (m,) mean action while held
    patience: float  # usual steps of a carry; one that hasn't come closer for longer is given up
    rides: Rides
    picked: Moments
    put: Moments
    mask: int = 0  # switches of its preconditions
    needed: int = 0  # their values

    @property
    def unit(self) -> float:
        """Width of the finest cells."""
        return float(self.cells.units[0])

    def cell(self, now: Seen, number: int) -> int:
        """Return the cell of an observation; `number` is the thing's."""
        return int(self.cells.of(relative(now, number, self.attachment)[None])[0])

    def is_held(self, now: Seen, number: int) -> bool:
        """Whether the hand has the thing: in a cell of the mode held, in the near zone, no farther out than a cell."""
        point = relative(now, number, self.attachment)
        cell = self.cells.of(point[None])[0]
        inside = np.abs(point - self.cells.centres[cell]) <= self.cells.units
        return bool(self.held[cell] and inside.all() and np.linalg.norm(point[: len(now.hand)]) <= self.cells.near)

    def apart(self, place: Floats, other: Floats) -> float:
        """Distance between two places of the thing, as the hand goes, in units."""
        return float(np.linalg.norm(self.attachment.matrix @ (other - place))) / self.unit


class SwitchModel(NamedTuple):
    """What a hand does with switches."""

    cells: NestedCells  # of the hand
    graph: HandGraph  # its events are the kinds
    operators: Operators
    places: Floats  # (O, p) where the hand is when each kind happens


def aboard(riding: Mask) -> Floats:
    """Return a coordinate (n,) of where things are put: far apart if they come along with different others (n, T)."""
    return FAR * (riding @ (1 << np.arange(riding.shape[-1])))


def relative(seen: Seen, thing: int, attachment: Attachment) -> Floats:
    """Return the hand as a thing sees it, with its opening: (D,) or (n, D)."""
    place = attachment.place(seen.things[thing])
    return np.concatenate([seen.hand - place, turned(seen.angle, seen.angles[thing]), seen.opening], axis=-1)
