"""Observations as bytes: equal bytes for equal content, so that observations can be numbered and saved.

Arrays compare by type, shape and bytes; mappings by their items, sorted by key; sequences by their elements. We refuse
floating-point numbers, because two observations of a continuous space are hardly ever equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from fwrl.errors import FwrlError

CONTINUOUS = (
    "use fwrl.make_navigator(env) for continuous spaces, or pass key=, a function from an observation to an integer, a "
    "text or a tuple"
)


def observation_key(observation: Any) -> bytes:
    """Encode an observation: the same bytes for the same content, in any process.

    Args:
        observation: integers, texts, bytes, None, arrays of integers, and mappings and sequences of these.

    Raises:
        FwrlError: a part is a floating-point number, or has another type.

    >>> observation_key({"b": (1, 2), "a": np.zeros(2, np.uint8)}) == observation_key(
    ...     {"a": np.zeros(2, np.uint8), "b": [1, 2]}
    ... )
    True
    """
    if isinstance(observation, np.ndarray) and observation.dtype.kind in "biuSU":
        head = f"{observation.dtype.str}{observation.shape}".encode()
        return _framed(b"a", head, np.ascontiguousarray(observation).tobytes())
    if isinstance(observation, bool | np.bool_ | int | np.integer):
        return _framed(b"i", str(int(observation)).encode())
    if isinstance(observation, str):
        return _framed(b"s", observation.encode())
    if isinstance(observation, bytes):
        return _framed(b"b", observation)
    if observation is None:
        return _framed(b"n")
    if isinstance(observation, Mapping):
        items = sorted((observation_key(key), observation_key(value)) for key, value in observation.items())
        return _framed(b"m", *(part for item in items for part in item))
    if isinstance(observation, Set):
        return _framed(b"u", *sorted(map(observation_key, observation)))
    if isinstance(observation, Sequence):
        return _framed(b"t", *map(observation_key, observation))
    if isinstance(observation, float | np.floating) or getattr(observation, "dtype", np.dtype(object)).kind in "fc":
        raise FwrlError(f"observations are numbered by content, and this one has floating-point numbers; {CONTINUOUS}")
    raise FwrlError(
        f"observations are numbered by content, and one has a part of type {type(observation).__name__}; pass key=, a "
        "function from an observation to an integer, a text or a tuple"
    )


def _framed(kind: bytes, *parts: bytes) -> bytes:
    """Join parts with their lengths, so different lists of parts never give the same bytes."""
    return kind + b"".join(len(part).to_bytes(4, "big") + part for part in (len(parts).to_bytes(4, "big"), *parts))
