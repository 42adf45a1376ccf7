"""Types of arrays, and how an array of an agent's tables is specified.

Tables are NamedTuples of arrays, or of such NamedTuples. `Annotated[Floats, Field("S A", fill=1.0)]` says once what an
array looks like: empty tables, the sections of a saved file, checks of a file, and growth follow from it (see
`fwrl.agents.tables`). A NamedTuple whose arrays must also fit each other has a method `sound`.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FwrlError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Indices = NDArray[np.int32]
Marks = NDArray[np.int8]


@dataclass(frozen=True)
class Field:
    """One array.

    Attributes:
        shape: sizes by letter or number, as in "S A 4": S states, A actions, P pairs of them, and what an agent adds.
            Any other letter is a size that varies, 0 at first.
        dtype: of its elements.
        fill: the content of empty tables; several numbers fill rows.
        least: no element is less.
        most: no element is more; a letter for an index below that size.
        saved: False for scratch, and for what follows from the other arrays.
    """

    shape: str
    dtype: type = np.float64
    fill: float | tuple[float, ...] = 0
    least: float = -np.inf
    most: float | str = np.inf
    saved: bool = True

    def empty(self, sizes: Mapping[str, int]) -> NDArray[Any]:
        """The array of empty tables."""
        return np.full([_size(part, sizes, 0) for part in self.shape.split()], self.fill, self.dtype)

    def fits(self, array: NDArray[Any], sizes: Mapping[str, int]) -> bool:
        """Whether an array of a file is as specified; NaN never is."""
        letters = self.shape.split()
        if array.dtype != self.dtype or array.ndim != len(letters):
            return False
        if any(_size(letter, sizes, n) != n for letter, n in zip(letters, array.shape, strict=True)):
            return False
        most = sizes[self.most] - 1 if isinstance(self.most, str) else self.most
        return bool(np.all((array >= self.least) & (array <= most)))


def _size(part: str, sizes: Mapping[str, int], otherwise: int) -> int:
    return int(part) if part.isdigit() else sizes.get(part, otherwise)


StateMarks = Annotated[Marks, Field("S", np.int8, least=0, most=1)]  # 1 for some of the states
ActionScratch = Annotated[Floats, Field("A", saved=False)]
Setting = Annotated[Floats, Field("1", saved=False)]  # a number of the agent's options
Count = Annotated[Ints, Field("1", np.int64, saved=False)]  # a whole number of them


@functools.cache
def parts(tables: type) -> dict[str, Field | type]:
    """The fields of a NamedTuple class: how each array looks, or the class of another NamedTuple."""
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
    """All arrays: the path of each, and how it looks."""
    for name, part in parts(tables).items():
        if isinstance(part, Field):
            yield name, part
        else:
            yield from ((f"{name}.{path}", field) for path, field in fields(part))


def empty(tables: type, sizes: Mapping[str, int]) -> Any:
    """Tables of these sizes before anything is observed."""
    return tables(
        **{
            name: part.empty(sizes) if isinstance(part, Field) else empty(part, sizes)
            for name, part in parts(tables).items()
        }
    )
