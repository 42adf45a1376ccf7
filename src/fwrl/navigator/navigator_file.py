"""Write, read and check navigator files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError, FwrlError
from fwrl.files import Archive, write_archive
from fwrl.navigator.action_labels import Headings, RawActions
from fwrl.navigator.count_sections import expect, read_counts, sections_of, typed
from fwrl.navigator.fitted import FittedCells
from fwrl.navigator.motion import LinearMotion

if TYPE_CHECKING:
    from fwrl.navigator.navigator import Navigator

KIND = "navigator"
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
    write_archive(path, KIND, details, arrays | sections_of(navigator.counts))


def read_navigator(archive: Archive) -> Navigator:
    """Read the navigator in an open file; FileError unless it's consistent."""
    from fwrl.navigator.navigator import Navigator, Settings

    path = str(archive.path)
    if archive.kind != KIND:
        raise FileError(f"{path!r} holds a saved {archive.kind!r}, not a navigator")
    try:
        arrays = {name: typed(archive, name, np.float64, n) for name, n in FLOATS.items()}
        details = archive.details
        cells = FittedCells(arrays[CENTRES], float(details["width"]))
        d = cells.centres.shape[1]
        labels: Headings | RawActions = Headings(d)
        if ACTIONS in archive:
            labels = RawActions(typed(archive, ACTIONS, np.float64, 2))
        motion = LinearMotion(arrays[GRAM], arrays[CROSS], float(details["squares"]), arrays[LOW], arrays[HIGH])
        _check(arrays, len(cells))
        counts = read_counts(archive, len(cells), labels.n)
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
        raise FileError(f"{path!r} is not a valid navigator file: {error}") from error


def _check(arrays: dict[str, NDArray[Any]], S: int) -> None:
    """Refuse shapes that don't fit together and numbers that aren't finite."""
    z, d = arrays[CROSS].shape
    m = z - d
    shapes = {CENTRES: (S, d), SCALE: (d,), GRAM: (z, z), LOW: (m,), HIGH: (m,)}
    expect(all(arrays[name].shape == shape for name, shape in shapes.items()), "shapes that fit together")
    expect(all(np.isfinite(arrays[name]).all() for name in shapes), "finite numbers")
    expect((arrays[SCALE] > 0.0).all(), "positive scales")
