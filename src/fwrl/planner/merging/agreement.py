"""Whether experiences can be merged: the same columns, cells and half-lives, and times of one unit."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fwrl.arrays import Ints
from fwrl.errors import FwrlError
from fwrl.planner.aging import common_aging, refuse_mixed_times, rescale
from fwrl.planner.experience import MILLION, Experience

LARGEST = (2**63 - 1) // MILLION  # absolute time that fits into 64 bits in millionths


def with_one_time_unit(experiences: Sequence[Experience]) -> list[Experience]:
    """The experiences with times in one unit; an error where columns, cells, half-lives or kinds of times differ."""
    kinds = {experience.time for experience in experiences}
    for one, other in itertools.pairwise(experiences):
        _check_columns(one, other)
        _check_cells(one, other)
        refuse_mixed_times(one.aging, (one.time, other.time))
        common_aging(one.aging, other.aging)
    if len(kinds) == 1:
        return list(experiences)
    if "timestamp" in kinds:
        raise FwrlError("the times of some logs are dates, those of others numbers; all must be alike")
    return [_in_millionths(e) if e.time == "integer" else e for e in experiences]


def _check_columns(one: Experience, other: Experience) -> None:
    for name, there, here in (
        ("action", one.action is not None, other.action is not None),
        ("trip", one.evidence.trip is not None, other.evidence.trip is not None),
        ("time", one.time is not None, other.time is not None),
    ):
        if there != here:
            has, lacks = ("have", "do not") if there else ("do not have", "do")
            raise FwrlError(f"some logs {has} a column {name}, others {lacks}; all must have the same columns")


def _check_cells(one: Experience, other: Experience) -> None:
    if one.cells != other.cells:
        states = [each.cells or "names" for each in (one, other)]
        raise FwrlError(
            f"the states of some logs are {states[0]}, those of others {states[1]}; all must be divided alike"
        )


def with_one_newest_time(experiences: Sequence[Experience]) -> list[Experience]:
    """The experiences with weights at the latest of their newest times; an error where half-lives differ."""
    aging = functools.reduce(common_aging, (experience.aging for experience in experiences))
    if aging is None or aging.newest is None:
        return list(experiences)
    return [rescale(experience, aging.newest) for experience in experiences]


def _in_millionths(experience: Experience) -> Experience:
    evidence = experience.evidence
    ends = evidence.ends
    if ends is not None:
        arrival = None if ends.last_arrival is None else _scaled(ends.last_arrival)
        first, last = _scaled(ends.first_time), _scaled(ends.last_time)
        ends = replace(ends, first_time=first, last_time=last, last_arrival=arrival)
    latest = None if evidence.last is None else _scaled(evidence.last)
    trip_time = None if evidence.trip_time is None else _scaled(evidence.trip_time)
    scaled = replace(evidence, last=latest, trip_time=trip_time, ends=ends)
    return replace(experience, time="number", evidence_source=scaled)


def _scaled(times: Ints) -> Ints:
    """Whole times in millionths; an error where one is too large for that."""
    low, high = (int(times.min()), int(times.max())) if times.size else (0, 0)
    if max(-low, high) > LARGEST:
        raise FwrlError(
            f"expected times up to {LARGEST:,} in size where some are integers and some are not, got "
            f"{high if high > LARGEST else low:,}; write them all alike"
        )
    return times.astype(np.int64) * MILLION
