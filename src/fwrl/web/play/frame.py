"""Frames: everything that moves on the page, in binary.

Little-endian: a header that begins with the magic number, then for each side its own header, the path reward of every
state (float32), its arrows (uint8), the trail and the greedy route from the start (uint16). A state of the trail that
the agent jumped to has the highest bit set.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from fwrl.web.play.runner import Runner
from fwrl.web.play.value_field import ValueField
from fwrl.worlds.likely_route import LikelyRoute

MAGIC = b"FWR1"
HEADER = struct.Struct("<4sIIHHHHIIdff")
SIDE = struct.Struct("<HHHHIffB3x")
JUMPED = 0x8000
LARGEST_WORLD = JUMPED - 1  # states that can be numbered beside that bit

LARGEST_COUNT = 2**32 - 1

PLAYING, FINISHED = 1, 2
ARRIVES, DONE = 1, 2


class FrameHeader(NamedTuple):
    """The header of a frame, after the magic number."""

    number: int
    world: int  # how many worlds the page has shown; frames of earlier ones are stale
    goal: int
    start: int
    states: int
    flags: int
    episode: int
    step: int
    total_steps: int
    rate: float  # steps per second of each agent
    lowest: float  # the far end of the colour scale


class SideView(NamedTuple):
    """One side of a frame."""

    runner: Runner
    field: ValueField
    route: LikelyRoute


def encode(header: FrameHeader, views: list[SideView]) -> bytes:
    """The bytes of one frame."""
    return b"".join([HEADER.pack(MAGIC, *header), *(_encode_side(view) for view in views)])


def _encode_side(view: SideView) -> bytes:
    runner, field, route = view
    states, jumped = runner.trail()
    trail = np.where(jumped, states | JUMPED, states).astype("<u2")
    path = np.array(route.states, dtype="<u2")
    latest = runner.curve.latest
    inefficiency = latest.inefficiency if latest else None
    flags = ARRIVES * route.arrives | DONE * runner.finished
    head = SIDE.pack(
        runner.state,
        len(trail),
        len(path),
        0,
        min(runner.total_steps, LARGEST_COUNT),
        latest.mean_reward if latest else np.nan,
        np.nan if inefficiency is None else inefficiency,
        flags,
    )
    values = field.path_reward.astype("<f4").tobytes()
    return b"".join([head, values, field.arrows.tobytes(), trail.tobytes(), path.tobytes()])
