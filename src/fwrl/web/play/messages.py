"""Messages: what a page may say, as JSON objects with a `type`.

Everything a page sends is checked here, type by type and field by field; what does not fit is answered with a
sentence and changes nothing.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, get_type_hints

from fwrl.errors import FwrlError, unknown_name

FASTEST = 1e6  # steps a second; from here on, as fast as it goes
LARGEST_SEED = 2**32 - 1
SHOWN = 60  # characters of a bad message that the answer repeats


class MessageError(FwrlError):
    """A message that cannot be used."""


@dataclass(frozen=True)
class Ack:
    """The page has drawn this frame and can draw another."""

    frame: int


@dataclass(frozen=True)
class Play:
    """Let both agents go on."""


@dataclass(frozen=True)
class Pause:
    """Stop both agents."""


@dataclass(frozen=True)
class Step:
    """One step of each agent."""


@dataclass(frozen=True)
class Speed:
    """Steps a second of each agent; `FASTEST` and above is as fast as it goes."""

    value: float

    def __post_init__(self) -> None:
        if not 1 <= self.value < math.inf:
            raise MessageError(f"expected a speed of at least 1 step a second, got {self.value:g}")


@dataclass(frozen=True)
class Reset:
    """Both agents forget everything and start over with this seed."""

    seed: int

    def __post_init__(self) -> None:
        if not 0 <= self.seed <= LARGEST_SEED:
            raise MessageError(f"expected a seed from 0 to {LARGEST_SEED}, got {self.seed}")


@dataclass(frozen=True)
class ChooseWorld:
    """One of the worlds on offer."""

    name: str


@dataclass(frozen=True)
class DrawWorld:
    """A world drawn on the page, as a text map."""

    text: str


@dataclass(frozen=True)
class ChooseAgent:
    """Another agent on side 0 or 1."""

    side: int
    name: str

    def __post_init__(self) -> None:
        if self.side not in (0, 1):
            raise MessageError(f"expected side 0 or 1, got {self.side}")


@dataclass(frozen=True)
class MoveGoal:
    """The goal is now this cell: row times width plus column."""

    cell: int


@dataclass(frozen=True)
class MoveStart:
    """The start is now this cell."""

    cell: int


@dataclass(frozen=True)
class Starts:
    """Trips begin anywhere, or all at the start."""

    anywhere: bool


@dataclass(frozen=True)
class Inspect:
    """What do the agents know about this cell?"""

    cell: int


@dataclass(frozen=True)
class Tour:
    """Show this step of the guided tour, counted from 0; -1 leaves it."""

    step: int


Message: TypeAlias = (
    Ack
    | Play
    | Pause
    | Step
    | Speed
    | Reset
    | ChooseWorld
    | DrawWorld
    | ChooseAgent
    | MoveGoal
    | MoveStart
    | Starts
    | Inspect
    | Tour
)

TYPES: dict[str, type[Any]] = {
    "ack": Ack,
    "play": Play,
    "pause": Pause,
    "step": Step,
    "speed": Speed,
    "reset": Reset,
    "world": ChooseWorld,
    "map": DrawWorld,
    "agent": ChooseAgent,
    "goal": MoveGoal,
    "start": MoveStart,
    "starts": Starts,
    "inspect": Inspect,
    "tour": Tour,
}


def parse(text: str) -> Message:
    """The message that `text` is.

    >>> parse('{"type": "goal", "cell": 12}')
    MoveGoal(cell=12)
    >>> parse('{"type": "goal", "cell": "12"}')
    Traceback (most recent call last):
    ...
    fwrl.web.play.messages.MessageError: expected 'cell' of the message 'goal' as int, got '12'
    """
    try:
        said = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise MessageError(f"expected a JSON object, got {_short(text)}") from None
    if not isinstance(said, dict) or not isinstance(said.get("type"), str):
        raise MessageError(f"expected a JSON object with a 'type', got {_short(text)}")
    kind = said.pop("type")
    if kind not in TYPES:
        raise MessageError(str(unknown_name("message", kind[:SHOWN], TYPES)))
    return _filled(kind, said)


def _filled(kind: str, said: dict[str, Any]) -> Message:
    wanted = TYPES[kind]
    names = [field.name for field in fields(wanted)]
    if sorted(said) != sorted(names):
        raise MessageError(f"expected the fields {names} in the message {kind!r}, got {_short(str(sorted(said)))}")
    hints = get_type_hints(wanted)
    for name, value in said.items():
        if hints[name] is float and type(value) is int and abs(value) < 2**53:
            said[name] = float(value)
        elif type(value) is not hints[name]:
            raise MessageError(
                f"expected {name!r} of the message {kind!r} as {hints[name].__name__}, got {_short(repr(value))}"
            )
    message: Message = wanted(**said)
    return message


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
