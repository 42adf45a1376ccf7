"""From a log of past trips to a planner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fwrl.planner.experience import Experience, LogSummary
from fwrl.planner.ingest.connections import count, joined_by_trips
from fwrl.planner.ingest.encoding import Numbered
from fwrl.planner.ingest.grouping import Counts, group
from fwrl.planner.ingest.log import log_of
from fwrl.planner.ingest.reader import BrokenLinesError, Progress, reading
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.planner import Planner
from fwrl.planner.positive_cycles import refuse_positive_cycle

MEMORY = "1GB"


def fit(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    into: Planner | None = None,
    memory: str = MEMORY,
    connections: bool = True,
    progress: Progress | None = None,
) -> Planner:
    """Learn from a log: files (CSV, Parquet, JSON-lines), an Arrow table, a record array, episodes or transitions.

    `columns` names theirs for ours: {"state": "from"}. `skip_bad` leaves out rows that lack a value, and counts them.
    `into` is a planner whose experience the log is added to; a trip must not be cut in two by that. `memory`
    is DuckDB's limit. `connections=False` leaves out the count of pairs of states that are now connected: for good, as
    what was not counted of one log cannot be made up for when others are added.
    `progress` is told what is being done and which part of it is done.

    >>> planner = fit([("dock", "aisle"), ("aisle", "shelf"), ("gate", "aisle")])
    >>> planner.plan("gate", "shelf").states
    ('gate', 'aisle', 'shelf')
    """
    old = into.experience if into is not None else None

    def learned(serial: bool) -> Experience:
        with reading(memory, progress, more="; allow more with --memory") as reader:
            log = log_of(reader.con, sources_of(reader.con, source, skip_bad, serial), columns or {})
            counts = group(reader, log, skip_bad)
            experience = Numbered(reader, log, old).experience()
            experience = replace(experience, summary=_summary(experience, counts, old))
            refuse_positive_cycle(experience)
            if connections and (old is None or old.evidence.sample is not None):
                sample, joined = joined_by_trips(reader, experience, old)
                evidence = replace(experience.evidence, sample=sample, joined=joined)
                experience = count(replace(experience, recall=lambda: evidence))
        return experience

    try:
        return Planner(learned(serial=False))
    except BrokenLinesError:
        return Planner(learned(serial=True))


def _summary(experience: Experience, counts: Counts, old: Experience | None) -> LogSummary:
    before = old.summary if old is not None else LogSummary(None, 0, 0, 0)
    fresh = experience.fresh_pair()
    pairs = np.cumsum(fresh) - 1
    return LogSummary(
        trips=None if counts.trips is None else counts.trips + (before.trips or 0),
        transitions=counts.transitions + before.transitions,
        states=len(experience.states),
        edges=len(experience.source),
        uncertain=int(np.sum(np.bincount(pairs) > 1)),
        skipped=counts.skipped + before.skipped,
    )
