"""Parsing of the messages that a page sends: JSON objects with a `type`.

A page answers each type of message by a method of its controller; the parameters of that method are the fields of the
message, with their types. A message that doesn't fit is answered with an error and changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_origin, get_type_hints

from fwrl.errors import FwrlError, unknown_name

SHOWN = 60  # characters of a bad message that the error repeats
ACK = {"frame": int}  # the page has drawn this frame and can draw another
BY_PAGE = {"inspect", "names", "quantiles"}  # what pages also send without their user
Handlers = Mapping[str, Callable[..., Any]]  # by type of message


class MessageError(FwrlError):
    """A message that cannot be used."""


class Message(NamedTuple):
    """A message with the fields that its handler takes."""

    kind: str
    fields: dict[str, Any]


def parse(text: str, handlers: Handlers) -> Message:
    """The message in `text`, whose `type` is a key of `handlers`.

    >>> parse('{"type": "ack", "frame": 12}', {})
    Message(kind='ack', fields={'frame': 12})
    >>> parse('{"type": "ack", "frame": "12"}', {})
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
    if kind not in handlers and kind != "ack":
        raise MessageError(str(unknown_name("message", kind[:SHOWN], handlers)))
    return Message(kind, _checked(kind, fields_of(handlers[kind]) if kind != "ack" else ACK, received))


def fields_of(handler: Callable[..., Any]) -> dict[str, Any]:
    """The fields of the messages that a handler answers, with their types."""
    return {name: hint for name, hint in get_type_hints(handler).items() if name != "return"}


def _checked(kind: str, hints: Mapping[str, Any], received: dict[str, Any]) -> dict[str, Any]:
    if sorted(received) != sorted(hints):
        fields, got = list(hints), _short(str(sorted(received)))
        raise MessageError(f"expected the fields {fields} in the message {kind!r}, got {got}")
    for name, value in received.items():
        kept = get_origin(hints[name]) or hints[name]
        of_ints = hints[name] == list[int]
        if hints[name] is float and type(value) is int and abs(value) < 2**53:
            received[name] = float(value)
        elif type(value) is not kept or (of_ints and not all(type(part) is int for part in value)):
            said = "list of whole numbers" if of_ints else hints[name].__name__
            raise MessageError(f"expected {name!r} of the message {kind!r} as {said}, got {_short(repr(value))}")
    return received


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."
