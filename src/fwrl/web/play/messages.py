"""The messages that the play page may send."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fwrl.web.messages import Ack, Message, MessageError

FASTEST = 1e6  # steps per second; this and anything above means as fast as possible
LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True)
class Play(Message):
    """Let both agents go on."""


@dataclass(frozen=True)
class Pause(Message):
    """Stop both agents."""


@dataclass(frozen=True)
class Advance(Message):
    """Let each agent take one step."""


@dataclass(frozen=True)
class Speed(Message):
    """Steps per second of each agent; `FASTEST` and above is as fast as possible."""

    value: float

    def __post_init__(self) -> None:
        if not 1 <= self.value < math.inf:
            raise MessageError(f"expected a speed of at least 1 step a second, got {self.value:g}")


@dataclass(frozen=True)
class Reset(Message):
    """Replace both agents by new ones with this seed."""

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
    """Use a world drawn on the page, as a text map."""

    text: str


@dataclass(frozen=True)
class ChooseAgent(Message):
    """Use another agent on side 0 (left) or 1 (right)."""

    side: int
    name: str

    def __post_init__(self) -> None:
        if self.side not in (0, 1):
            raise MessageError(f"expected side 0 or 1, got {self.side}")


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


TYPES: dict[str, type[Message]] = {
    "ack": Ack,
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
}
