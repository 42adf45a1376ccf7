"""The messages that the play page may send."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fwrl.errors import unknown_name
from fwrl.web.messages import Ack, Message, MessageError, OpenAddress

FASTEST = 1e6  # steps per second; this and anything above means as fast as possible
LARGEST_SEED = 2**32 - 1
TRIANGLE_MOVES = ("next", "improvement", "finish")
MOST_SEEDS = 30


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
    """Use a map drawn on the page; with `keep`, agents keep what they know. `edit` numbers the edits of a page."""

    text: str
    keep: bool
    edit: int


@dataclass(frozen=True)
class ChooseAgent(Message):
    """Use another agent on side 0 (left) or 1 (right); options not given have their usual values."""

    side: int
    name: str
    options: dict[str, Any]

    def __post_init__(self) -> None:
        _check_side(self.side)


@dataclass(frozen=True)
class Forget(Message):
    """Let the agent of a side forget the steps that the world no longer has."""

    side: int

    def __post_init__(self) -> None:
        _check_side(self.side)


@dataclass(frozen=True)
class Undo(Message):
    """Undo the last change of world, map or agents; what was learned before it comes back."""


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


@dataclass(frozen=True)
class Share(Message):
    """Ask for what the page shows as a link, as a file and as Python."""


@dataclass(frozen=True)
class RunSeeds(Message):
    """Repeat what both agents have done with this many other seeds."""

    seeds: int

    def __post_init__(self) -> None:
        if not 1 <= self.seeds <= MOST_SEEDS:
            raise MessageError(f"expected from 1 to {MOST_SEEDS} seeds, got {self.seeds}")


def _check_side(side: int) -> None:
    if side not in (0, 1):
        raise MessageError(f"expected side 0 or 1, got {side}")


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
    "share": Share,
    "seeds": RunSeeds,
}
