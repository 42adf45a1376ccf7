"""The frames that a play page gets.

A frame has everything that moves, in binary. Little-endian: a header that begins with the magic number, then for each
side its own header, the path reward of every state (float32), its arrows (uint8), the trail and the greedy route from
the start (uint16). A state of the trail that the agent jumped to has the highest bit set.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Ints

FASTEST = 1e6  # steps per second; this and anything above means as fast as possible
LARGEST_SEED = 2**32 - 1

MAGIC = b"FWR1"
HEADER = struct.Struct("<4sIIHHHHIdff")
SIDE = struct.Struct("<HHHBxI")
JUMPED = 0x8000
LARGEST_COUNT = 2**32 - 1
PLAYING, FINISHED, GOAL_MOVED = 1, 2, 4  # flags of a frame; the last: and no step has been taken since
ARRIVES = 1  # flag of a side


class FrameHeader(NamedTuple):
    """The header of a frame, after the magic number."""

    number: int
    world: int  # how many worlds the page has shown; frames of earlier ones are stale
    goal: int
    start: int
    states: int
    flags: int
    episode: int
    total_steps: int
    rate: float  # steps per second of each agent
    lowest: float  # the far end of the colour scale


class SideFrame(NamedTuple):
    state: int
    flags: int
    steps: int
    path_reward: NDArray[np.float32]
    arrows: NDArray[np.uint8]
    trail: Ints
    jumped: NDArray[np.bool_]
    route: list[int]


def encode(header: FrameHeader, sides: list[SideFrame]) -> bytes:
    parts = [HEADER.pack(MAGIC, *header)]
    for side in sides:
        trail = np.where(side.jumped, side.trail | JUMPED, side.trail).astype("<u2")
        parts += [
            SIDE.pack(side.state, len(trail), len(side.route), side.flags, min(side.steps, LARGEST_COUNT)),
            side.path_reward.astype("<f4").tobytes(),
            side.arrows.tobytes(),
            trail.tobytes(),
            np.array(side.route, dtype="<u2").tobytes(),
        ]
    return b"".join(parts)
