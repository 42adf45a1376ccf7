"""Navigator files: the names of their sections, and how a navigator is written, read and checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fwrl.cells.action_labels import Headings, RawActions
from fwrl.cells.fitted import FittedCells
from fwrl.cells.motion import LinearMotion
from fwrl.cells.transitions import Transitions
from fwrl.errors import FileError, FwrlError
from fwrl.files import Archive, write_archive

if TYPE_CHECKING:
    from fwrl.cells.navigator import Navigator

KIND = "navigator"
# Sections by field of `Transitions`, with their types.
COUNT_SECTIONS: dict[str, tuple[str, type[np.generic]]] = {
    "source": ("source", np.int64),
    "label": ("label", np.int64),
    "target": ("target", np.int64),
    "jump": ("jump", np.bool_),
    "times": ("times", np.float64),
    "steps": ("steps", np.float64),
    "regular": ("regular", np.float64),
}
# Sections of floats with their numbers of dimensions.
CENTRES, SCALE, GRAM, CROSS, LOW, HIGH, ACTIONS = "centres", "scale", "gram", "cross", "low", "high", "actions"
FLOATS = {CENTRES: 2, SCALE: 1, GRAM: 2, CROSS: 2, LOW: 1, HIGH: 1}


def write_navigator(navigator: Navigator, path: str | Path) -> None:
    """Write a navigator file; an existing file is replaced completely or not at all."""
    motion, settings = navigator.motion, navigator.settings
    picked = settings.coordinates
    details = {
        "width": navigator.cells.width,
        "squares": motion.squares,
        "window": settings.window,
        "prior": settings.prior,
        "way_back": settings.way_back,
        "backup": settings.backup,
        "coordinates": list(picked) if isinstance(picked, tuple) else picked,
    }
    arrays: dict[str, NDArray[Any]] = {
        CENTRES: navigator.cells.centres,
        SCALE: navigator.scale,
        GRAM: motion.gram,
        CROSS: motion.cross,
        LOW: motion.low,
        HIGH: motion.high,
    }
    if isinstance(navigator.labels, RawActions):
        arrays[ACTIONS] = navigator.labels.actions
    for field, (name, dtype) in COUNT_SECTIONS.items():
        arrays[name] = getattr(navigator.counts, field).astype(dtype)
    write_archive(path, KIND, details, arrays)


def read_navigator(archive: Archive) -> Navigator:
    """The navigator in an opened file; FileError unless it is consistent."""
    from fwrl.cells.navigator import Navigator, Settings

    path = str(archive.path)
    if archive.kind != KIND:
        raise FileError(f"{path!r} holds a saved {archive.kind!r}, not a navigator")
    try:
        arrays = {name: _typed(archive, name, np.float64, n) for name, n in FLOATS.items()}
        counts = Transitions(*[_typed(archive, name, dtype, 1) for name, dtype in COUNT_SECTIONS.values()])
        details = archive.details
        cells = FittedCells(arrays[CENTRES], float(details["width"]))
        d = cells.centres.shape[1]
        labels: Headings | RawActions = Headings(d)
        if ACTIONS in archive:
            labels = RawActions(_typed(archive, ACTIONS, np.float64, 2))
        motion = LinearMotion(arrays[GRAM], arrays[CROSS], float(details["squares"]), arrays[LOW], arrays[HIGH])
        _check(arrays, counts, len(cells), labels.n)
        picked = details["coordinates"]
        settings = Settings(
            int(details["window"]),
            float(details["prior"]),
            float(details["way_back"]),
            details["backup"],
            tuple(map(int, picked)) if isinstance(picked, list) else picked,
        )
        return Navigator(cells, motion, labels, counts, settings, arrays[SCALE])
    except (FwrlError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{path!r} does not hold a sound navigator: {error}") from error


def _typed(archive: Archive, name: str, dtype: type[np.generic], dimensions: int) -> NDArray[Any]:
    array = archive[name]
    if array.dtype != dtype or array.ndim != dimensions:
        raise FileError(f"expected {name!r} as {np.dtype(dtype)} with {dimensions} dimensions")
    return np.array(array)  # a copy in memory: plans are solved in seconds, the file may go away


def _check(arrays: dict[str, NDArray[Any]], counts: Transitions, S: int, L: int) -> None:
    """Refuse indices out of range, which compiled code would follow, and shapes that do not fit."""
    z, d = arrays[CROSS].shape
    m = z - d
    shapes = {CENTRES: (S, d), SCALE: (d,), GRAM: (z, z), LOW: (m,), HIGH: (m,)}
    _expect(all(arrays[name].shape == shape for name, shape in shapes.items()), "shapes that fit together")
    _expect(all(np.isfinite(arrays[name]).all() for name in shapes), "finite numbers")
    _expect((arrays[SCALE] > 0.0).all(), "positive scales")
    E = len(counts.source)
    _expect(E > 0 and all(len(column) == E for column in counts), "columns of one length, at least one")
    for name, codes, n in (("cells", counts.source, S), ("cells", counts.target, S), ("labels", counts.label, L)):
        _expect(codes.min() >= 0 and codes.max() < n, f"{name} from 0 to {n - 1}")
    sums = np.stack([counts.times, counts.steps, counts.regular])
    _expect(np.isfinite(sums).all() and (sums[:2] > 0.0).all() and (sums[2] >= 0.0).all(), "positive counts")


def _expect(sound: object, what: str) -> None:
    if not sound:
        raise FileError(f"expected {what}; the file is damaged")
