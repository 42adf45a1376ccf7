"""One log to an experience: all steps of reading it, in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fwrl.cells import Cells
from fwrl.planner.aging import Aging, common_aging, refuse_mixed_times
from fwrl.planner.experience import Experience, LogSummary
from fwrl.planner.ingest.attempts import read_in_some_way
from fwrl.planner.ingest.connections import with_connections
from fwrl.planner.ingest.encoding import encoded_experience
from fwrl.planner.ingest.grouping import Counts, group
from fwrl.planner.ingest.log import Log, log_of
from fwrl.planner.ingest.log_files import identified_files, refuse_repeated
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.period import duration
from fwrl.planner.ingest.reader import Progress, Reader, reading
from fwrl.planner.ingest.sources import sources_of

MEMORY = "4GB"


def learned(
    source: Any,
    options: ReadOptions,
    *,
    memory: str = MEMORY,
    connections: bool = True,
    progress: Progress | None = None,
    again: bool = False,
    into: Experience | None = None,
    cells: Cells | None = None,
    threads: int | None = None,
) -> Experience:
    """The experience in a log alone.

    Arguments are as in `fwrl.fit`; `into` is the experience that it is to be merged with, `cells` a division into cells
    that is given, `threads` the number of threads to use, by default one per core.
    """

    def experience(options: ReadOptions) -> Experience:
        with reading(memory, progress, option="memory", threads=threads) as reader:
            sources = sources_of(reader.con, source, options)
            files = identified_files(sources)
            if not again:
                refuse_repeated(reader, files, () if into is None else into.logs)
            log = log_of(reader.con, sources, options, cells if into is None else into.cells)
            found = _grouped(reader, log, options, into)
            counted = "count" in log.has and "trip" in log.has  # which trip made which edges is not known then
            found = with_connections(reader, found) if connections and not counted else found
            return replace(found, logs=tuple(file.log for file in files))

    return read_in_some_way(experience, options)


def _grouped(reader: Reader, log: Log, options: ReadOptions, into: Experience | None) -> Experience:
    counts = group(reader, log, options.skip_bad, _aging(log, options, into), options.min_trips)
    experience = encoded_experience(reader, log, counts.aging)
    evidence = experience.evidence
    if options.min_trips > 1:  # a move that joins parts of one trip would be a step of that trip alone
        evidence = replace(evidence, ends=None)
    summary = _summary(experience, counts)
    return replace(experience, hours=options.kept_hours, summary=summary, evidence_source=evidence)


def _aging(log: Log, options: ReadOptions, into: Experience | None) -> Aging | None:
    """How the observations of a log are weighted; those of `into` must be weighted alike."""
    if options.half_life is None:
        aging = None
    elif isinstance(options.half_life, Aging):
        aging = Aging(options.half_life.half_life)
    else:
        aging = Aging(duration(options.half_life, log.time))
    if into is not None:
        refuse_mixed_times(aging, (into.time, log.time))
        common_aging(into.aging, aging)
    return aging


def _summary(experience: Experience, counts: Counts) -> LogSummary:
    return LogSummary(
        trips=counts.trips,
        transitions=counts.transitions,
        states=len(experience.states),
        edges=len(experience.source),
        uncertain=int(np.sum(np.bincount(experience.pair()) > 1)),
        skipped=counts.skipped,
        terminated=experience.n_terminated,
    )
