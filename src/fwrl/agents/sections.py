"""An agent's tables, nested NamedTuples of arrays, to the sections of a file and back.

An agent declares its sections as a mapping from names in the file to paths of fields in its tables:
`{"edges/pair": "edges.pair"}`. Renaming a field changes the path and no file. Fields with a section
are state. Fields without one are derived from state or configuration, and computed anew, or scratch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.files import Archive

Sections = Mapping[str, str]

SMALL = 1 << 20  # pairs of state and action that a file may name without holding as many bytes

EPISODE = {"episode": "episode"}
TERMINATED = {"terminated": "terminated"}
DOUBT = {"doubt/trips": "doubt.trips", "doubt/lost": "doubt.lost", "doubt/start": "doubt.start"}
EDGES = {
    "edges/first-leaving": "edges.leaving",
    "edges/first-entering": "edges.entering",
    "edges/next-leaving": "edges.next_leaving",
    "edges/next-entering": "edges.next_entering",
    "edges/pair": "edges.pair",
    "edges/target": "edges.target",
    "edges/count": "edges.times",
    "edges/total-reward": "edges.total",
    "edges/best-reward": "edges.best",
    "edges/used": "edges.used",
}
REPLAY = {
    "replay/state": "ring.state",
    "replay/action": "ring.action",
    "replay/reward": "ring.reward",
    "replay/next-state": "ring.next_state",
    "replay/stored": "ring.stored",
    "replay/generator": "splitmix64",
}


def optimism_sections(path: str) -> dict[str, str]:
    """The sections of the evidence for optimism, which the tables hold at `path`."""
    return {
        "optimism/on": f"{path}.on",
        "optimism/reward": f"{path}.reward",
        "optimism/prior": f"{path}.prior",
        "optimism/unseen-probability": f"{path}.unseen",
        "optimism/tries": f"{path}.tries",
        "optimism/new-outcomes": f"{path}.new_outcomes",
    }


def income_sections(path: str) -> dict[str, str]:
    """The sections of what an agent has earned, which the tables hold at `path`."""
    return {
        "income/sums": f"{path}.sums",
        "income/starts": f"{path}.starts",
        "income/trip-begins": f"{path}.trip_begins",
    }


def saved_arrays(tables: Any, sections: Sections) -> dict[str, NDArray[Any]]:
    """The arrays that a file holds, by section."""
    return {name: _at(tables, path.split(".")) for name, path in sections.items()}


def restored_tables(tables: Any, archive: Archive, sections: Sections) -> Any:
    """`tables` with copies of the archive's arrays in place of those that have a section."""
    for name, path in sections.items():
        array, empty = archive[name], _at(tables, path.split("."))
        if array.dtype != empty.dtype or array.ndim != empty.ndim:
            raise FileError(f"expected {name!r} as {empty.dtype} with {empty.ndim} dimensions")
        tables = _replaced(tables, path.split("."), array.copy())
    return tables


def grown_tables(empty: Any, known: Mapping[str, NDArray[Any]], sections: Sections) -> Any:
    """`empty`, the tables for more states, with the known arrays in their first rows and columns.

    States are numbered from 0, and pairs of state and action by s A + a, so what is known keeps its indices.
    """
    for name, path in sections.items():
        fresh, old = _at(empty, path.split(".")), known[name]
        shape = tuple(max(sizes) for sizes in zip(fresh.shape, old.shape, strict=True))
        grown = np.zeros(shape, fresh.dtype)
        for part in (fresh, old):
            grown[tuple(map(slice, part.shape))] = part
        empty = _replaced(empty, path.split("."), grown)
    return empty


def named_sizes(archive: Archive) -> tuple[int, int]:
    """The numbers of states and actions that a file names, unless it is far too small to hold so many."""
    sizes = archive.details["n_states"], archive.details["n_actions"]
    if not all(type(n) is int and 0 < n < 2**31 for n in sizes):
        raise FileError(f"expected positive numbers of states and actions, got {sizes}")
    if sizes[0] * sizes[1] > max(SMALL, sum(archive[name].nbytes for name in archive.names)):
        raise FileError(f"expected more data for {sizes[0]} states and {sizes[1]} actions")
    return sizes


def _at(tables: Any, path: list[str]) -> Any:
    for field in path:
        tables = getattr(tables, field)
    return tables


def _replaced(tables: Any, path: list[str], array: NDArray[Any]) -> Any:
    field, *rest = path
    part = _replaced(getattr(tables, field), rest, array) if rest else array
    return tables._replace(**{field: part})
