"""Handle an agent's tables by their fields' specification: make them empty, save, check, and grow them.

Names in a file are the paths of fields: `edges/next-leaving` is `tables.edges.next_leaving`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fwrl.arrays import Field, fields, parts
from fwrl.errors import FileError
from fwrl.files import Archive

Sections = Mapping[str, str]

SMALL = 1 << 20  # pairs of state and action that a file may declare without holding that many bytes


def sections_of(tables: type) -> dict[str, str]:
    """Return the arrays to save: names in the file, and paths."""
    saved = [path for path, field in fields(tables) if field.saved]
    return {path.replace(".", "/").replace("_", "-"): path for path in saved}


def check(tables: Any, sizes: Mapping[str, int], within: str = "") -> None:
    """Check tables from a file before compiled code reads them, because that checks no index.

    Raises:
        FileError: an array isn't as specified, or arrays don't fit each other.
    """
    for name, part in parts(cast(type, type(tables))).items():
        if not isinstance(part, Field):
            check(getattr(tables, name), sizes, f"{within}{name}.")
        elif part.saved and not part.fits(getattr(tables, name), sizes):
            shape = f"{sizes['S']} states and {sizes['A']} actions"
            raise FileError(f"the array {within + name!r} doesn't fit {shape}; the file is damaged")
    if hasattr(tables, "sound") and not tables.sound():
        raise FileError(
            f"the arrays of {within.rstrip('.') or 'the agent'!r} don't fit each other; the file is damaged"
        )


def saved_arrays(tables: Any, sections: Sections) -> dict[str, NDArray[Any]]:
    """Return the arrays to save, by section."""
    return {name: at(tables, path) for name, path in sections.items()}


def restored_tables(tables: Any, archive: Archive, sections: Sections) -> Any:
    """Return `tables` with copies of the archive's arrays for the fields that have a section."""
    for name, path in sections.items():
        array, blank = archive[name], at(tables, path)
        if array.dtype != blank.dtype or array.ndim != blank.ndim:
            raise FileError(f"expected {name!r} as {blank.dtype} with {blank.ndim} dimensions")
        tables = replaced(tables, path, array.copy())
    return tables


def grown_tables(blank: Any, known: Mapping[str, NDArray[Any]], sections: Sections) -> Any:
    """Copy the known arrays into the first rows and columns of `blank`, the tables for more states.

    States are numbered from 0, and pairs of state and action by s A + a, so known entries keep their indices.
    """
    for name, path in sections.items():
        fresh, old = at(blank, path), known[name]
        shape = tuple(max(sizes) for sizes in zip(fresh.shape, old.shape, strict=True))
        grown = np.zeros(shape, fresh.dtype)
        for part in (fresh, old):
            grown[tuple(map(slice, part.shape))] = part
        blank = replaced(blank, path, grown)
    return blank


def copied(tables: Any) -> Any:
    """Copy all arrays."""
    return type(tables)(*(copied(part) if isinstance(part, tuple) else part.copy() for part in tables))


def named_sizes(archive: Archive) -> tuple[int, int]:
    """Return the numbers of states and actions that a file declares, unless the file is far too small for them."""
    sizes = archive.details["n_states"], archive.details["n_actions"]
    if not all(type(n) is int and 0 < n < 2**31 for n in sizes):
        raise FileError(f"expected positive numbers of states and actions, got {sizes}")
    if sizes[0] * sizes[1] > max(SMALL, sum(archive[name].nbytes for name in archive.names)):
        raise FileError(f"the file is too small for {sizes[0]} states and {sizes[1]} actions")
    return sizes


def at(tables: Any, path: str) -> Any:
    """Return the array at a path of fields."""
    for field in path.split("."):
        tables = getattr(tables, field)
    return tables


def replaced(tables: Any, path: str, array: NDArray[Any]) -> Any:
    """Return the tables with another array at a path of fields."""
    field, _, rest = path.partition(".")
    part = replaced(getattr(tables, field), rest, array) if rest else array
    return tables._replace(**{field: part})
