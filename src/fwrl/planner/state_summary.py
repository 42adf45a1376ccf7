"""States at a glance: how many neighbours each has, and how often it was seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwrl.arrays import Indices, Ints
from fwrl.planner.experience import Experience
from fwrl.planner.labels import Label


class StateSummary(NamedTuple):
    """A state and what was logged of it.

    Attributes:
        state: The state.
        next_states: Number of distinct states that it was seen to lead to.
        previous_states: Number of distinct states that were seen to lead to it.
        left: Number of observed transitions that leave it.
        entered: Number of observed transitions that lead to it.

    """

    state: Label
    next_states: int
    previous_states: int
    left: int
    entered: int


def state_summary(experience: Experience, code: int) -> StateSummary:
    """A summary of the state `code` alone, without counting those of all others."""
    leaving, entering = experience.source == code, experience.target == code
    return StateSummary(
        experience.states[code],
        len(np.unique(experience.target[leaving])),
        len(np.unique(experience.source[entering])),
        int(experience.count[leaving].sum()),
        int(experience.count[entering].sum()),
    )


def state_summaries(experience: Experience, codes: Indices) -> list[StateSummary]:
    """A summary of each of the states `codes`."""
    S = len(experience.states)
    source, target = experience.source.astype(np.int64), experience.target.astype(np.int64)
    pairs: Ints = np.unique(source * S + target)
    columns = (
        np.bincount(pairs // S, minlength=S),
        np.bincount(pairs % S, minlength=S),
        np.bincount(source, weights=experience.count, minlength=S).astype(np.int64),
        np.bincount(target, weights=experience.count, minlength=S).astype(np.int64),
    )
    rows = zip(experience.states.decode(codes.tolist()), *(column[codes].tolist() for column in columns), strict=True)
    return [StateSummary(*row) for row in rows]
