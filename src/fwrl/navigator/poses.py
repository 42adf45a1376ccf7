"""What an observation says about a hand, the things it moves and the switches it presses.

The user names the coordinates; nothing about the kind of a thing is told. Positions are in the hand's units, or in the
thing's own (a drawer may have one coordinate, its opening). Angles come as cosine and sine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fwrl.arrays import Floats, Ints
from fwrl.errors import OptionError
from fwrl.navigator.episodes import point_of

ONE_HOT = 1e-3  # a switch's coordinates are this close to 0 or 1


@dataclass(frozen=True)
class Pose:
    """Which coordinates of an observation tell where something is.

    Attributes:
        position: indices of its position.
        angle: indices of the cosine and the sine of its angle; None if it has none.
    """

    position: tuple[int, ...]
    angle: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", tuple(map(int, self.position)))
        if not self.position:
            raise OptionError("a pose needs at least one coordinate of its position")
        if self.angle is not None:
            object.__setattr__(self, "angle", tuple(map(int, self.angle)))
            if len(self.angle) != 2:
                raise OptionError(f"an angle is given by its cosine and its sine, not by {len(self.angle)} coordinates")

    @property
    def indices(self) -> tuple[int, ...]:
        """All its coordinates."""
        return self.position + (self.angle or ())


@dataclass(frozen=True)
class Scene:
    """The named coordinates of an observation.

    Attributes:
        hand: the pose of the hand.
        opening: indices of what its fingers do.
        things: what it can move, by name.
        switches: what it can press, by name: indices of a coordinate that is 0 or 1, or of a one-hot of two.
    """

    hand: Pose
    opening: tuple[int, ...]
    things: Mapping[str, Pose]
    switches: Mapping[str, tuple[int, ...]]

    @property
    def indices(self) -> tuple[int, ...]:
        """The coordinates in use, ascending."""
        used = [*self.hand.indices, *self.opening]
        for indices in (*(pose.indices for pose in self.things.values()), *self.switches.values()):
            used += indices
        return tuple(sorted(set(used)))

    def seen(self, observations: Any) -> Seen:
        """Read one observation or rows of them, given in full."""
        return self.of_used(point_of(observations, self.indices))

    def of_used(self, rows: Floats) -> Seen:
        """Read rows that have the coordinates in use only."""
        place = {index: column for column, index in enumerate(self.indices)}

        def columns(indices: Sequence[int]) -> Floats:
            return rows[..., [place[index] for index in indices]]

        def angle(pose: Pose) -> Floats:
            return columns(pose.angle or ())

        bits = np.zeros((*rows.shape[:-1], len(self.switches)), np.bool_)
        for number, indices in enumerate(self.switches.values()):
            bits[..., number] = rows[..., place[indices[-1]]] > 0.5
        return Seen(
            columns(self.hand.position),
            angle(self.hand),
            columns(self.opening),
            tuple(columns(pose.position) for pose in self.things.values()),
            tuple(angle(pose) for pose in self.things.values()),
            bits @ (1 << np.arange(len(self.switches), dtype=np.int64)),
        )

    def check(self, rows: Floats) -> None:
        """Refuse switches with other values than 0 and 1."""
        place = {index: column for column, index in enumerate(self.indices)}
        for name, indices in self.switches.items():
            values = rows[:, [place[index] for index in indices]]
            if np.abs(values - np.rint(values)).max() > ONE_HOT or not set(np.unique(np.rint(values))) <= {0.0, 1.0}:
                raise OptionError(f"switch {name!r} has other values than 0 and 1; give a switch with two states")


class Seen(NamedTuple):
    """One observation, or n of them in rows."""

    hand: Floats  # (n, p)
    angle: Floats  # (n, 2) cosine and sine, or (n, 0)
    opening: Floats  # (n, o)
    things: tuple[Floats, ...]  # (n, q) each
    angles: tuple[Floats, ...]  # (n, 2) or (n, 0) each
    bits: Ints  # (n,) switches, the first is the lowest bit


def scene_of(
    hand: Pose,
    opening: Sequence[int],
    things: Mapping[str, Pose] | None,
    switches: Mapping[str, Sequence[int]] | None,
) -> Scene:
    """Check the named coordinates."""
    wanted = {name: tuple(map(int, indices)) for name, indices in (switches or {}).items()}
    for name, indices in wanted.items():
        if len(indices) not in (1, 2):
            raise OptionError(f"switch {name!r} needs one coordinate, or two for a one-hot, not {len(indices)}")
    if len(wanted) > 62:
        raise OptionError(f"at most 62 switches, not {len(wanted)}")
    if not things and not wanted:
        raise OptionError("a hand needs something to move or press: name things, switches or both")
    scene = Scene(hand, tuple(map(int, opening)), dict(things or {}), wanted)
    if min(scene.indices) < 0:
        raise OptionError("give coordinates from 0 on, counted from the left")
    return scene


def turned(angle: Floats, reference: Floats) -> Floats:
    """Return the cosine and sine of angles minus reference angles; the angles themselves without a reference."""
    if angle.shape[-1] == 0 or reference.shape[-1] == 0:
        return angle
    c, s, a, b = angle[..., 0], angle[..., 1], reference[..., 0], reference[..., 1]
    return np.stack([c * a + s * b, s * a - c * b], axis=-1)


def difference(to: Floats, start: Floats, p: int, a: int) -> Floats:
    """Return points (n, D) minus others, in which p coordinates of position are followed by a (0 or 2) of an angle."""
    angle = turned(to[..., p : p + a], start[..., p : p + a])
    return np.concatenate([to[..., :p] - start[..., :p], angle, to[..., p + a :] - start[..., p + a :]], axis=-1)


def moved(start: Floats, by: Floats, p: int, a: int) -> Floats:
    """Return points plus what `difference` returns."""
    back = by[..., p : p + a] * np.array([1.0, -1.0])[:a]
    angle = turned(start[..., p : p + a], back)
    return np.concatenate([start[..., :p] + by[..., :p], angle, start[..., p + a :] + by[..., p + a :]], axis=-1)


def turn(to: Floats, start: Floats) -> Floats:
    """Return the signed angle, (n, 1) or (n, 0), from cosines and sines `start` to those `to`."""
    if to.shape[-1] == 0:
        return to
    difference = turned(to, start)
    angle: Floats = np.arctan2(difference[..., 1:], difference[..., :1])
    return angle
