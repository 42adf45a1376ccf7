"""Write, read and check files of state learners."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fwrl.errors import FileError, FwrlError
from fwrl.files import Archive, write_archive
from fwrl.navigator.action_labels import RawActions
from fwrl.navigator.count_sections import expect, read_counts, sections_of, typed
from fwrl.navigator.fitted import FittedCells

if TYPE_CHECKING:
    from fwrl.navigator.state_learner import StateLearner

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
