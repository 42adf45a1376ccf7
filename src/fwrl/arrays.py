"""Array types, and the field specification for agents' tables.

Tables are NamedTuples of arrays, or of such NamedTuples. `Annotated[Floats, Field("S A", fill=1.0)]` specifies an
array once: empty tables, the sections of a saved file, checks of a file, and growth follow from it (see
`fwrl.agents.tables`). A NamedTuple whose arrays must also fit each other has a method `sound`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError, OptionError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.int8]


@dataclass(frozen=True)
class Field:
    """One array.

    Attributes:
        shape: sizes by letter or number, as in "S A 4": S states, A actions, P state-action pairs, plus letters an
            agent adds. Any other letter is a size that varies, 0 at first.
        fill: initial value; several numbers fill each row.
        least: smallest allowed element.
        most: largest allowed element; a letter means an index below that size.
        saved: False for scratch arrays and anything that can be recomputed from the others.
    """

    shape: str
    dtype: type = np.float64
    fill: float | tuple[float, ...] = 0
    least: float = -np.inf
    most: float | str = np.inf
    saved: bool = True

    def empty(self, sizes: Mapping[str, int]) -> NDArray[Any]:
        """Return the array as it is before anything has been observed."""
        shape = [_size(part, sizes, 0) for part in self.shape.split()]
        try:
            return np.full(shape, self.fill, self.dtype)
        except (MemoryError, ValueError):  # ValueError if NumPy can't even count its bytes
            numbers = " x ".join(f"{n:,}" for n in shape)
            raise OptionError(f"a table of {numbers} numbers doesn't fit into memory; choose fewer states") from None

    def fits(self, array: NDArray[Any], sizes: Mapping[str, int]) -> bool:
        """Check an array read from a file against the specification; NaN never passes."""
        letters = self.shape.split()
        if array.dtype != self.dtype or array.ndim != len(letters):
            return False
        if any(_size(letter, sizes, n) != n for letter, n in zip(letters, array.shape, strict=True)):
            return False
        most = sizes[self.most] - 1 if isinstance(self.most, str) else self.most
        return bool(np.all((array >= self.least) & (array <= most)))


def _size(part: str, sizes: Mapping[str, int], otherwise: int) -> int:
    return int(part) if part.isdigit() else sizes.get(part, otherwise)


StateMarks = Annotated[Marks, Field("S", np.int8, least=0, most=1)]  # 1 for marked states
ActionScratch = Annotated[Floats, Field("A", saved=False)]
Setting = Annotated[Floats, Field("1", saved=False)]  # a number from the agent's options
Count = Annotated[Ints, Field("1", np.int64, saved=False)]  # a whole number from the agent's options


@functools.cache
def parts(tables: type) -> dict[str, Field | type]:
    """Return the fields of a NamedTuple class: a `Field` for each array, or the class of a nested NamedTuple."""
    found: dict[str, Field | type] = {}
    for name, hint in get_type_hints(tables, include_extras=True).items():
        if get_origin(hint) is Annotated:
            found[name] = next(part for part in get_args(hint) if isinstance(part, Field))
        elif isinstance(hint, type) and hasattr(hint, "_fields"):
            found[name] = hint
        else:
            raise FwrlError(
                f"the field {name!r} of {tables.__name__} doesn't say what its array looks like; annotate it, as in "
                'Annotated[np.ndarray, Field("S A")]'
            )
    return found


def fields(tables: type) -> Iterator[tuple[str, Field]]:
    """Yield every array's dotted path and its field."""
    for name, part in parts(tables).items():
        if isinstance(part, Field):
            yield name, part
        else:
            yield from ((f"{name}.{path}", field) for path, field in fields(part))


def empty(tables: type, sizes: Mapping[str, int]) -> Any:
    """Make tables of these sizes, before any observation."""
    return tables(
        **{
            name: part.empty(sizes) if isinstance(part, Field) else empty(part, sizes)
            for name, part in parts(tables).items()
        }
    )
