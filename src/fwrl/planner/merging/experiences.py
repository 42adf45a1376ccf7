"""Several experiences as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fwrl.arrays import Floats, Indices
from fwrl.errors import FwrlError
from fwrl.planner.connection_counts import with_counts
from fwrl.planner.experience import LARGEST, MOST, Bits, Evidence, Experience, LogSummary
from fwrl.planner.ingest.learning import learned
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.labels import Labels
from fwrl.planner.merging.agreement import with_one_newest_time, with_one_time_unit
from fwrl.planner.merging.continuations import Continuations, continued_trips
from fwrl.planner.merging.edges import Edges, merge_edges
from fwrl.planner.merging.evidence import joined_by_trips, latest_trips
from fwrl.planner.merging.unions import united
from fwrl.planner.positive_cycles import refuse_positive_cycle


def merged(experiences: Sequence[Experience], skip_bad: bool = False, whole: bool = True) -> Experience:
    """What one fit of the logs of all experiences gives.

    Args:
        experiences: At least one. Logs that several of them have are counted several times.
        skip_bad: Leave out moves that join the parts of a trip but lack an action or a reward, and count them;
            otherwise the first one is an error.
        whole: Whether no further logs are merged into the result, so that a positive cycle is an error: with further
            logs, mean rewards change.

    Returns:
        The merged experience.

    """
    alike = with_one_time_unit(experiences)
    continuations = continued_trips(alike, skip_bad)
    parts = with_one_newest_time([*alike, *_joining(continuations, alike)])
    states, state_codes = united([part.states for part in parts])
    actions, action_codes = _united_actions(parts)
    several = [_recoded(*each) for each in zip(parts, state_codes, action_codes, strict=True)]
    edges, places = merge_edges(several, len(states), 0 if actions is None else len(actions))
    evidence = _evidence(parts, places, edges, state_codes, states, continuations)
    experience = Experience(
        states,
        actions,
        edges.source,
        edges.action,
        edges.target,
        edges.count,
        edges.total,
        edges.best,
        terminated=_terminated(parts, state_codes, states, continuations),
        weight=edges.weight,
        aging=parts[0].aging,
        cells=parts[0].cells,
        position=_positions(parts, state_codes, len(states)),
        time=parts[0].time,
        hours=alike[0].hours if len({each.hours for each in alike}) == 1 else None,
        logs=tuple(sorted((log for each in alike for log in each.logs), key=lambda log: (log.name, log.digest))),
        evidence_source=evidence,
    )
    experience = replace(experience, summary=_summary(experience, alike, continuations))
    _check_size(experience)
    if whole:
        refuse_positive_cycle(experience)
    return experience if evidence.sample is None else with_counts(experience)


def _joining(continuations: Continuations, alike: Sequence[Experience]) -> list[Experience]:
    """The experience of the moves that join parts of trips, if there are any."""
    if not continuations.moves:
        return []
    counted, like = all(each.evidence.sample is not None for each in alike), alike[0]
    moves = learned(continuations.moves, ReadOptions(half_life=like.aging), connections=counted)
    position = None if like.cells is None else like.cells.centres(list(map(str, moves.states)))
    # The times are in the unit of the others already, and the states are named as theirs.
    return [replace(moves, time=like.time, cells=like.cells, position=position)]


def _terminated(
    parts: Sequence[Experience], codes: Sequence[Indices], states: Labels, continuations: Continuations
) -> Bits | None:
    """(S,) 1 where some part saw a trip terminate; None where none logs it."""
    if all(part.terminated is None for part in parts):
        return None
    terminated = np.zeros(len(states), np.uint8)
    for part, code in zip(parts, codes, strict=True):
        if part.terminated is not None:
            terminated[code[part.terminated == 1]] = 1
    ended = [states.code(label) for label in continuations.terminated]
    terminated[[code for code in ended if code is not None]] = 1  # others are in no transition
    return terminated


def _positions(parts: Sequence[Experience], codes: Sequence[Indices], n_states: int) -> Floats | None:
    """(S, 2) the centres of all cells; None where states are not cells."""
    positions = np.empty((n_states, 2))
    for part, code in zip(parts, codes, strict=True):
        if part.position is None:
            return None
        positions[code] = part.position
    return positions


def _united_actions(parts: Sequence[Experience]) -> tuple[Labels | None, list[Indices]]:
    named = [part.actions for part in parts if part.actions is not None]
    if not named:
        return None, [np.zeros(0, np.int32)] * len(parts)
    return united(named)


def _recoded(part: Experience, state: Indices, action: Indices) -> Edges:
    return Edges(
        state[part.source],
        None if part.action is None else action[part.action],
        state[part.target],
        part.count,
        part.total,
        part.best,
        part.evidence.last,
        part.weight,
    )


def _evidence(
    parts: Sequence[Experience],
    places: Sequence[Indices],
    edges: Edges,
    state_codes: Sequence[Indices],
    states: Labels,
    continuations: Continuations,
) -> Evidence:
    known, last = [part.evidence for part in parts], edges.last
    sample, joined = joined_by_trips(known, state_codes, states)
    if known[0].trip is None:
        return Evidence(last, sample=sample, joined=joined)
    trips, trip_codes = united([evidence.trips for evidence in known if evidence.trips is not None])
    trip, trip_time = latest_trips(known, places, trip_codes, trips, len(edges.source))
    return Evidence(last, trips, trip, trip_time, sample, joined, continuations.ends)


def _summary(experience: Experience, merged: Sequence[Experience], continuations: Continuations) -> LogSummary:
    before = [each.summary for each in merged]
    joins = len(continuations.moves["trip"]) if continuations.moves else 0
    trips = experience.evidence.trips
    return LogSummary(
        trips=None if trips is None else len(trips),
        transitions=sum(each.transitions for each in before) + joins,
        states=len(experience.states),
        edges=len(experience.source),
        uncertain=int(np.sum(np.bincount(experience.pair()) > 1)),
        skipped=sum(each.skipped for each in before) + continuations.skipped,
        terminated=experience.n_terminated,
        continued=sum(each.continued for each in before) + joins + continuations.stays + _shared_trips(merged),
    )


def _shared_trips(merged: Sequence[Experience]) -> int:
    """How often a trip of transitions is in a further log; where trips have ends, they are joined."""
    named = [each.evidence.trips for each in merged if each.evidence.ends is None and each.evidence.trips is not None]
    return sum(map(len, named)) - len(united(named)[0]) if named else 0


def _check_size(experience: Experience) -> None:
    if not ((experience.count > 0) & (experience.count < MOST)).all():  # too large for 64 bits, it may be negative
        raise FwrlError(f"the counts of one edge sum up to {MOST:,} (2^62) or more; scale them down")
    if not (np.abs(experience.total) <= LARGEST).all():
        raise FwrlError(f"the rewards of one edge sum up to more than {LARGEST:g} in size; scale them down")
