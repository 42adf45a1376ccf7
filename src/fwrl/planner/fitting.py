"""From a log of past trips to a planner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fwrl.planner.experience import Experience, LogSummary
from fwrl.planner.ingest.connections import with_connections
from fwrl.planner.ingest.encoding import encoded_experience
from fwrl.planner.ingest.errors import BrokenLinesError
from fwrl.planner.ingest.grouping import Counts, group
from fwrl.planner.ingest.log import log_of
from fwrl.planner.ingest.reader import Progress, reading
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
    """Learn a planner from a log of past trips.

    Rows are transitions (columns `state` and `next_state`) or visits (`trip`, `time` and `state`). Optional columns
    are `action` (default: the next state), `reward` (default: -1), `trip` and `time`.

    Args:
        source: The log: a path, a pattern or a list of them (CSV, Parquet, JSON-lines, also gzipped), an Arrow table,
            a pandas data frame, a NumPy record array, a mapping of columns, or an iterable of episodes or transitions.
        columns: The log's own names for columns, as `{"state": "from"}`.
        skip_bad: Leave out rows that lack a value, and count them; otherwise the first one is an error.
        into: A planner to whose experience the log is added. A trip must not be cut in two by that. It is not changed.
        memory: Limit on the memory that DuckDB takes, as "1GB".
        connections: Count the pairs of states that are connected. If they are not counted for one log, they cannot be
            counted when others are added.
        progress: Called with the name of the current step and the part of it that is done, from 0 to 1.

    Returns:
        The planner.

    >>> planner = fit([("dock", "aisle"), ("aisle", "shelf"), ("gate", "aisle")])
    >>> planner.plan("gate", "shelf").states
    ('gate', 'aisle', 'shelf')

    """
    old = into.experience if into is not None else None

    def experience(serial: bool) -> Experience:
        with reading(memory, progress, option="memory") as reader:
            log = log_of(reader.con, sources_of(reader.con, source, skip_bad, serial), columns or {})
            counts = group(reader, log, skip_bad)
            learned = encoded_experience(reader, log, old)
            learned = replace(learned, summary=_summary(learned, counts, old))
            refuse_positive_cycle(learned)
            if connections and (old is None or old.evidence.sample is not None):
                learned = with_connections(reader, learned, old)
        return learned

    try:
        return Planner(experience(serial=False))
    except BrokenLinesError:
        return Planner(experience(serial=True))


def _summary(experience: Experience, counts: Counts, old: Experience | None) -> LogSummary:
    before = old.summary if old is not None else LogSummary(None, 0, 0, 0)
    return LogSummary(
        trips=None if counts.trips is None else counts.trips + (before.trips or 0),
        transitions=counts.transitions + before.transitions,
        states=len(experience.states),
        edges=len(experience.source),
        uncertain=int(np.sum(np.bincount(experience.pair()) > 1)),
        skipped=counts.skipped + before.skipped,
    )
