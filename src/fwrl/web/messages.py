"""Parsing of the messages that a page sends: JSON objects with a `type`.

Every message is checked by its type and field by field. A message that does not fit is answered with an error and
changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, get_origin, get_type_hints

from fwrl.errors import FwrlError, unknown_name

SHOWN = 60  # characters of a bad message that the error repeats


class MessageError(FwrlError):
    """A message that cannot be used."""


class Message:
    """Base class of messages; `by_user` is false for those that a page sends without its user."""

    by_user: ClassVar[bool] = True


@dataclass(frozen=True)
class Ack(Message):
    """The page has drawn this frame and can draw another."""

    frame: int


@dataclass(frozen=True)
class OpenAddress(Message):
    """Show what another link carries: the part after `#`."""

    address: str


def parse(text: str, types: Mapping[str, type[Message]]) -> Message:
    """The message in `text`, whose `type` is a key of `types`.

    >>> parse('{"type": "ack", "frame": 12}', {"ack": Ack})
    Ack(frame=12)
    >>> parse('{"type": "ack", "frame": "12"}', {"ack": Ack})
    Traceback (most recent call last):
    ...
    fwrl.web.messages.MessageError: expected 'frame' of the message 'ack' as int, got '12'
    """
    try:
        received = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise MessageError(f"expected a JSON object, got {_short(text)}") from None
    if not isinstance(received, dict) or not isinstance(received.get("type"), str):
        raise MessageError(f"expected a JSON object with a 'type', got {_short(text)}")
    kind = received.pop("type")
    if kind not in types:
        raise MessageError(str(unknown_name("message", kind[:SHOWN], types)))
    return _filled(kind, types[kind], received)


def _filled(kind: str, wanted: type[Any], received: dict[str, Any]) -> Message:
    names = [field.name for field in fields(wanted)]
    if sorted(received) != sorted(names):
        raise MessageError(f"expected the fields {names} in the message {kind!r}, got {_short(str(sorted(received)))}")
    hints = get_type_hints(wanted)
    for name, value in received.items():
        if hints[name] is float and type(value) is int and abs(value) < 2**53:
            received[name] = float(value)
        elif type(value) is not (get_origin(hints[name]) or hints[name]):
            raise MessageError(
                f"expected {name!r} of the message {kind!r} as {hints[name].__name__}, got {_short(repr(value))}"
            )
    message: Message = wanted(**received)
    return message


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
