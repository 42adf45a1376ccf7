"""Write, read and check files of navigators and of state learners: cells, counted transitions and what acts on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError, FwrlError
from fwrl.files import Archive, write_archive
from fwrl.navigator.action_labels import Headings, RawActions
from fwrl.navigator.fitted import FittedCells
from fwrl.navigator.motion import LinearMotion
from fwrl.navigator.transitions import Transitions

if TYPE_CHECKING:
    from fwrl.navigator.navigator import Navigator
    from fwrl.navigator.state_learner import StateLearner

NAVIGATOR, STATE_LEARNER = "navigator", "state-learner"
# Sections of floats with their numbers of dimensions.
CENTRES, SCALE, GRAM, CROSS, LOW, HIGH, ACTIONS = "centres", "scale", "gram", "cross", "low", "high", "actions"
FLOATS = {CENTRES: 2, SCALE: 1, GRAM: 2, CROSS: 2, LOW: 1, HIGH: 1}
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
    write_archive(path, NAVIGATOR, details, arrays | sections_of(navigator.counts))


def read_navigator(archive: Archive) -> Navigator:
    """Read the navigator in an open file; FileError unless it's consistent."""
    from fwrl.navigator.navigator import Navigator, Settings

    path = str(archive.path)
    if archive.kind != NAVIGATOR:
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


def write_state_learner(learner: StateLearner, path: str | Path) -> None:
    """Write a file; an existing file is replaced completely or not at all."""
    experience = learner.experience
    details = {
        "width": experience.cells.width,
        "window": learner.window,
        "discrete": learner.discrete,
        "generator": learner.rng.bit_generator.state,
    }
    arrays = {
        CENTRES: experience.cells.centres,
        LOW: learner.low,
        HIGH: learner.high,
        ACTIONS: learner.labels.actions,
    }
    write_archive(path, STATE_LEARNER, details, arrays | sections_of(experience.counts))


def read_state_learner(archive: Archive) -> StateLearner:
    """Read the learner in an open file; FileError unless it's consistent."""
    from fwrl.navigator.state_learner import CountedCells, StateLearner

    path = str(archive.path)
    try:
        details = archive.details
        low, high = typed(archive, LOW, np.float64, 1), typed(archive, HIGH, np.float64, 1)
        labels = RawActions(typed(archive, ACTIONS, np.float64, 2))
        expect(labels.n > 0 and np.isfinite(labels.actions).all(), "at least one finite action")
        cells = FittedCells(typed(archive, CENTRES, np.float64, 2), float(details["width"]))
        expect(cells.centres.shape[1] == len(low), "centres and bounds with the same number of coordinates")
        learner = StateLearner(low, high, labels, discrete=bool(details["discrete"]), window=int(details["window"]))
        learner.resume(CountedCells(cells, read_counts(archive, len(cells) + 1, labels.n)))
        learner.rng.bit_generator.state = details["generator"]
        return learner
    except (FwrlError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{path!r} is not a valid state learner file: {error}") from error


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
