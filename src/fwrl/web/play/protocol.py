"""The protocol of a play page's websocket: the messages it may send, and the frames it gets.

A frame has everything that moves, in binary. Little-endian: a header that begins with the magic number, then for each
side its own header, the path reward of every state (float32), its arrows (uint8), the trail and the greedy route from
the start (uint16). A state of the trail that the agent jumped to has the highest bit set.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Ints
from fwrl.errors import unknown_name
from fwrl.web.messages import Ack, Message, MessageError, OpenAddress

FASTEST = 1e6  # steps per second; this and anything above means as fast as possible
LARGEST_SEED = 2**32 - 1
TRIANGLE_MOVES = ("next", "improvement", "finish")

MAGIC = b"FWR1"
HEADER = struct.Struct("<4sIIHHHHIdff")
SIDE = struct.Struct("<HHHBxI")
JUMPED = 0x8000
LARGEST_COUNT = 2**32 - 1
PLAYING, FINISHED, GOAL_MOVED = 1, 2, 4  # flags of a frame; the last: and no step has been taken since
ARRIVES = 1  # flag of a side


@dataclass(frozen=True)
class Begin(Message):
    """The first message: go on with a session of before, show what a link says, or both empty for the first world."""

    session: str
    address: str


@dataclass(frozen=True)
class Play(Message):
    """Let both agents go on."""


@dataclass(frozen=True)
class Pause(Message):
    """Stop both agents."""


@dataclass(frozen=True)
class Advance(Message):
    """Let each agent take one step, and show what it changed."""


@dataclass(frozen=True)
class Speed(Message):
    """Steps per second of each agent; `FASTEST` and above is as fast as possible."""

    value: float

    def __post_init__(self) -> None:
        if not 1 <= self.value < math.inf:
            raise MessageError(f"expected a speed of at least 1 step a second, got {self.value:g}")


@dataclass(frozen=True)
class Reset(Message):
    """Replace both agents by new ones with this seed, who know nothing."""

    seed: int

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= LARGEST_SEED:
            raise MessageError(f"expected a seed from 0 to {LARGEST_SEED}, got {self.seed}")


@dataclass(frozen=True)
class ChooseWorld(Message):
    """Use a world of the menu."""

    name: str


@dataclass(frozen=True)
class DrawWorld(Message):
    """Use a map drawn on the page; with `keep`, agents keep what they know. `edit` numbers the edits of a page."""

    text: str
    keep: bool
    edit: int


@dataclass(frozen=True)
class _OfSide(Message):
    side: int

    def __post_init__(self) -> None:
        if self.side not in (0, 1):
            raise MessageError(f"expected side 0 or 1, got {self.side}")


@dataclass(frozen=True)
class ChooseAgent(_OfSide):
    """Use another agent on side 0 (left) or 1 (right); options not given have their usual values."""

    name: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Forget(_OfSide):
    """Let the agent of a side forget the steps that the world no longer has."""


@dataclass(frozen=True)
class Undo(Message):
    """Undo the last change of world, map, agents, start or goal."""


@dataclass(frozen=True)
class MoveGoal(Message):
    """Move the goal to this cell: row times width plus column."""

    cell: int


@dataclass(frozen=True)
class MoveStart(Message):
    """Move the start to this cell."""

    cell: int


@dataclass(frozen=True)
class ChooseStarts(Message):
    """Let trips begin anywhere, or all at the start."""

    anywhere: bool


@dataclass(frozen=True)
class Inspect(Message):
    """Ask what the agents know about this cell."""

    by_user = False  # the page repeats it while it plays

    cell: int


@dataclass(frozen=True)
class ShowTour(Message):
    """Show this step of the guided tour, counted from 0; -1 leaves the tour."""

    step: int


@dataclass(frozen=True)
class ShowTriangle(Message):
    """Show the next triangle of the last step, the next that improves a pair, or finish the step."""

    move: str

    def __post_init__(self) -> None:
        if self.move not in TRIANGLE_MOVES:
            raise MessageError(str(unknown_name("move", self.move[:60], TRIANGLE_MOVES)))


@dataclass(frozen=True)
class ShowKnowledge(Message):
    """Whether to show how many other cells each cell is known to reach."""

    shown: bool


@dataclass(frozen=True)
class ShowLesson(Message):
    """Begin a lesson; an empty name leaves it."""

    name: str


@dataclass(frozen=True)
class OpenScenario(Message):
    """Show the scenario in this text, the content of a file."""

    text: str


TYPES: dict[str, type[Message]] = {
    "ack": Ack,
    "begin": Begin,
    "play": Play,
    "pause": Pause,
    "step": Advance,
    "speed": Speed,
    "reset": Reset,
    "world": ChooseWorld,
    "map": DrawWorld,
    "agent": ChooseAgent,
    "goal": MoveGoal,
    "start": MoveStart,
    "starts": ChooseStarts,
    "inspect": Inspect,
    "tour": ShowTour,
    "forget": Forget,
    "undo": Undo,
    "triangle": ShowTriangle,
    "knowledge": ShowKnowledge,
    "lesson": ShowLesson,
    "open": OpenScenario,
    "address": OpenAddress,
}


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
    """One side of a frame."""

    state: int
    flags: int
    steps: int
    path_reward: NDArray[np.float32]
    arrows: NDArray[np.uint8]
    trail: Ints
    jumped: NDArray[np.bool_]
    route: list[int]


def encode(header: FrameHeader, sides: list[SideFrame]) -> bytes:
    """The bytes of one frame."""
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
