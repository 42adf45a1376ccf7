"""Steps that at least some number of distinct trips made, and nothing else: one person's detour leaves no trace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fwrl.errors import FwrlError, OptionError
from fwrl.planner.ingest.read_options import check_min_trips
from fwrl.planner.transition_counts import KEPT, NONE, Evidence, TransitionCounts


def supported(experience: TransitionCounts, least: int) -> TransitionCounts:
    """The experience of the edges that at least `least` distinct trips made, with their states, actions and trips."""
    check_min_trips(least)
    if least > KEPT:
        raise OptionError(
            f"a planner keeps the latest {KEPT} trips of each step, so it can't tell whether {least} made it; fit the "
            f"log with min_trips={least} (--min-trips {least}), or ask for at most {KEPT}"
        )
    evidence = experience.evidence
    if evidence.trip is None or evidence.trips is None:
        raise OptionError("the log names no trips, so steps can't be limited by trips; fit it with a column of trips")
    listed = (evidence.trip != NONE).sum(axis=1)
    kept = np.flatnonzero(listed >= least)
    if not len(kept):
        raise FwrlError(f"no step was made by {least} distinct trips or more; ask for fewer, or add logs")
    source, target = experience.source[kept], experience.target[kept]
    states, ends = np.unique(np.concatenate((source, target)), return_inverse=True)
    actions, action = experience.actions, None
    if actions is not None and experience.action is not None:
        used, codes = np.unique(experience.action[kept], return_inverse=True)
        actions, action = actions.subset(used), codes.astype(np.int32)
    trip = evidence.trip[kept]
    named = np.unique(trip[trip != NONE])
    terminated = None if experience.terminated is None else np.asarray(experience.terminated[states])
    few = replace(
        experience,
        states=experience.states.subset(states),
        actions=actions,
        source=ends[: len(kept)].astype(np.int32),
        action=action,
        target=ends[len(kept) :].astype(np.int32),
        count=experience.count[kept],
        total=experience.total[kept],
        best=experience.best[kept],
        terminated=terminated,
        weight=None if experience.weight is None else experience.weight[kept],
        position=None if experience.position is None else experience.position[states],
        evidence_source=Evidence(
            last=None if evidence.last is None else evidence.last[kept],
            trips=evidence.trips.subset(named),
            trip=np.where(trip == NONE, NONE, np.searchsorted(named, trip)).astype(np.int32),
            trip_time=None if evidence.trip_time is None else evidence.trip_time[kept],
        ),
    )
    all_listed = bool(((listed[kept] < KEPT) | (few.count == KEPT)).all())
    summary = replace(
        experience.summary,
        trips=len(named) if all_listed else None,
        transitions=int(few.count.sum()),
        states=len(states),
        edges=len(kept),
        uncertain=int(np.sum(np.bincount(few.pair()) > 1)),
        terminated=few.n_terminated,
        connected=None,
        stitched=None,
        sampled=None,
    )
    return replace(few, summary=summary)
