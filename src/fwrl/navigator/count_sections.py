"""The sections of files with counted transitions, and checks of their contents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError
from fwrl.files import Archive
from fwrl.navigator.transitions import Transitions

# Sections by field of `Transitions`, with their types.
SECTIONS: dict[str, tuple[str, type[np.generic]]] = {
    "source": ("source", np.int64),
    "label": ("label", np.int64),
    "target": ("target", np.int64),
    "jump": ("jump", np.bool_),
    "times": ("times", np.float64),
    "steps": ("steps", np.float64),
    "regular": ("regular", np.float64),
}


def sections_of(counts: Transitions) -> dict[str, NDArray[Any]]:
    """Return the arrays of counts by section."""
    return {name: getattr(counts, field).astype(dtype) for field, (name, dtype) in SECTIONS.items()}


def read_counts(archive: Archive, n_states: int, n_labels: int) -> Transitions:
    """Read the counts from a file; FileError for indices out of range, which compiled code would follow."""
    counts = Transitions(*[typed(archive, name, dtype, 1) for name, dtype in SECTIONS.values()])
    E = len(counts.source)
    expect(E > 0 and all(len(column) == E for column in counts), "columns of one length, at least one")
    states = [("cells", codes, n_states) for codes in (counts.source, counts.target)]
    for name, codes, n in [*states, ("labels", counts.label, n_labels)]:
        expect(codes.min() >= 0 and codes.max() < n, f"{name} from 0 to {n - 1}")
    sums = np.stack([counts.times, counts.steps, counts.regular])
    expect(np.isfinite(sums).all() and (sums[:2] > 0.0).all() and (sums[2] >= 0.0).all(), "positive counts")
    return counts


def typed(archive: Archive, name: str, dtype: type[np.generic], dimensions: int) -> NDArray[Any]:
    """Copy a section into memory; FileError unless it has this type and number of dimensions."""
    array = archive[name]
    if array.dtype != dtype or array.ndim != dimensions:
        raise FileError(f"expected {name!r} as {np.dtype(dtype)} with {dimensions} dimensions")
    return np.array(array)


def expect(sound: object, what: str) -> None:
    """Raise FileError unless `sound`."""
    if not sound:
        raise FileError(f"expected {what}; the file is damaged")
