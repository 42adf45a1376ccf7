"""Frame: everything that moves on the page, packed for the wire.

Little-endian, after the magic number: a header, then for each side its own header, the way's reward of every state
(float32), its arrows (uint8), the trail and the greedy route from the start (uint16). A state in the trail that was
jumped to carries the highest bit.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from fwrl.web.play.value_field import Belief
from fwrl.web.play.likely_route import Route
from fwrl.web.play.runner import Side

MAGIC = b"FWR1"
HEADER = struct.Struct("<4sIIHHHHIIdff")
SIDE = struct.Struct("<HHHHIffB3x")
JUMPED = 0x8000
LARGEST_WORLD = JUMPED - 1  # states that fit beside that bit

PLAYING, FINISHED = 1, 2
ARRIVES, BEST, DONE = 1, 2, 4


class Moment(NamedTuple):
    """What the header of a frame says."""

    number: int
    world: int  # how many worlds the page has shown: frames of others are stale
    goal: int
    start: int
    states: int
    flags: int
    episode: int
    step: int
    total_steps: int
    rate: float  # steps a second of each agent
    lowest: float  # far end of the colour scale


class View(NamedTuple):
    """One side as a frame shows it."""

    side: Side
    belief: Belief
    route: Route
    best: bool


def encode(moment: Moment, views: list[View]) -> bytes:
    """The bytes of one frame."""
    return b"".join([HEADER.pack(MAGIC, *moment), *(_encode_side(view) for view in views)])


def _encode_side(view: View) -> bytes:
    side, belief, route, best = view
    states, jumped = side.trail()
    trail = np.where(jumped, states | JUMPED, states).astype("<u2")
    path = np.array(route.states, dtype="<u2")
    latest = side.curve.latest
    inefficiency = latest.inefficiency if latest else None
    flags = ARRIVES * route.arrives | BEST * best | DONE * side.finished
    head = SIDE.pack(
        side.state,
        len(trail),
        len(path),
        0,
        side.visits,
        latest.mean_reward if latest else np.nan,
        np.nan if inefficiency is None else inefficiency,
        flags,
    )
    return b"".join(
        [head, belief.way.astype("<f4").tobytes(), belief.arrows.tobytes(), trail.tobytes(), path.tobytes()]
    )
