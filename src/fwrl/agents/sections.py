"""An agent's tables, named tuples of arrays within each other, to a file and back."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.files import Archive

SMALL = 1 << 20  # pairs of state and action that a file may name without showing data for them


def sizes_named(archive: Archive) -> tuple[int, int]:
    """The numbers of states and actions that a file names, unless it is far too small to hold so many."""
    sizes = archive.details["n_states"], archive.details["n_actions"]
    if not all(type(n) is int and 0 < n < 2**31 for n in sizes):
        raise FileError(f"expected positive numbers of states and actions, got {sizes}")
    if sizes[0] * sizes[1] > max(SMALL, sum(archive[name].nbytes for name in archive.names)):
        raise FileError(f"expected more data for {sizes[0]} states and {sizes[1]} actions")
    return sizes


def flattened(tables: Any, scratch: tuple[str, ...], prefix: str = "") -> list[tuple[str, NDArray[Any]]]:
    """Every array with its name, fields of fields by dotted names, those in `scratch` left out."""
    flat: list[tuple[str, NDArray[Any]]] = []
    for name, part in tables._asdict().items():
        full = prefix + name
        if full not in scratch:
            flat += flattened(part, scratch, f"{full}.") if hasattr(part, "_asdict") else [(full, part)]
    return flat


def refilled(tables: NamedTuple, archive: Archive, scratch: tuple[str, ...], prefix: str = "") -> Any:
    """The tables with the archive's arrays in place of the empty ones."""
    filled: dict[str, Any] = {}
    for name, part in cast(Any, tables)._asdict().items():
        full = prefix + name
        if full in scratch:
            continue
        if hasattr(part, "_asdict"):
            filled[name] = refilled(part, archive, scratch, f"{full}.")
            continue
        array = archive[full]
        if array.dtype != part.dtype or array.ndim != part.ndim:
            raise FileError(f"expected {full!r} as {part.dtype} with {part.ndim} dimensions")
        filled[name] = array.copy()
    return cast(Any, tables)._replace(**filled)
