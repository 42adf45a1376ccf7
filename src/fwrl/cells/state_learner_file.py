"""Files of state learners: the names of their sections, and how one is written, read and checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fwrl.cells.action_labels import RawActions
from fwrl.cells.count_sections import expect, read_counts, sections_of, typed
from fwrl.cells.fitted import FittedCells
from fwrl.errors import FileError, FwrlError
from fwrl.files import Archive, write_archive

if TYPE_CHECKING:
    from fwrl.cells.state_learner import StateLearner

KIND = "state-learner"
CENTRES, LOW, HIGH, ACTIONS = "centres", "low", "high", "actions"


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
    write_archive(path, KIND, details, arrays | sections_of(experience.counts))


def read_state_learner(archive: Archive) -> StateLearner:
    """The learner in an opened file; FileError unless it is consistent."""
    from fwrl.cells.state_learner import Experience, StateLearner

    path = str(archive.path)
    try:
        details = archive.details
        low, high = typed(archive, LOW, np.float64, 1), typed(archive, HIGH, np.float64, 1)
        labels = RawActions(typed(archive, ACTIONS, np.float64, 2))
        expect(labels.n > 0 and np.isfinite(labels.actions).all(), "at least one finite action")
        cells = FittedCells(typed(archive, CENTRES, np.float64, 2), float(details["width"]))
        expect(cells.centres.shape[1] == len(low), "centres with as many coordinates as bounds")
        learner = StateLearner(low, high, labels, discrete=bool(details["discrete"]), window=int(details["window"]))
        learner.resume(Experience(cells, read_counts(archive, len(cells) + 1, labels.n)))
        learner.rng.bit_generator.state = details["generator"]
        return learner
    except (FwrlError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{path!r} does not hold a sound learner: {error}") from error
