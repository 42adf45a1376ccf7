"""One log to an experience: all steps of reading it, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fwrl.planner.experience import Experience, LogFile, LogSummary
from fwrl.planner.ingest.connections import with_connections
from fwrl.planner.ingest.encoding import encoded_experience
from fwrl.planner.ingest.errors import BrokenLinesError
from fwrl.planner.ingest.grouping import Counts, group
from fwrl.planner.ingest.log import log_of
from fwrl.planner.ingest.log_files import log_files, refuse_repeated
from fwrl.planner.ingest.reader import Progress, reading
from fwrl.planner.ingest.sources import sources_of

MEMORY = "1GB"


def learned(
    source: Any,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    memory: str = MEMORY,
    connections: bool = True,
    progress: Progress | None = None,
    again: bool = False,
    before: Sequence[LogFile] = (),
) -> Experience:
    """The experience in a log; arguments as in `fwrl.fit`, `before` the files that were read earlier."""

    def experience(serial: bool) -> Experience:
        with reading(memory, progress, option="memory") as reader:
            sources = sources_of(reader.con, source, skip_bad, serial)
            logs = log_files(sources)
            if not again:
                refuse_repeated(reader, sources, logs, before)
            log = log_of(reader.con, sources, columns or {})
            counts = group(reader, log, skip_bad)
            found = encoded_experience(reader, log)
            found = replace(found, logs=logs, summary=_summary(found, counts))
            return with_connections(reader, found) if connections else found

    try:
        return experience(serial=False)
    except BrokenLinesError:
        return experience(serial=True)


def _summary(experience: Experience, counts: Counts) -> LogSummary:
    return LogSummary(
        trips=counts.trips,
        transitions=counts.transitions,
        states=len(experience.states),
        edges=len(experience.source),
        uncertain=int(np.sum(np.bincount(experience.pair()) > 1)),
        skipped=counts.skipped,
    )
