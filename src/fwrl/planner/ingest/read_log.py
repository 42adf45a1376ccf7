"""One log to an experience: all steps of reading it, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from fwrl.cells import Cells
from fwrl.planner.ingest.duplicates import identified_files, refuse_repeated
from fwrl.planner.ingest.encode import encoded_experience, with_connections
from fwrl.planner.ingest.group import Counts, group
from fwrl.planner.ingest.log import Log, log_of
from fwrl.planner.ingest.read_options import BrokenLinesError, MemorySize, ReadOptions
from fwrl.planner.ingest.reader import Progress, Reader, reading
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.ingest.times import duration, kept_hours
from fwrl.planner.transition_counts import Aging, LogSummary, TransitionCounts, common_aging, refuse_mixed_times

T = TypeVar("T")


def retry_csv(read: Callable[[ReadOptions], T], options: ReadOptions) -> T:
    """What `read` gives, with one thread where CSV files have line breaks in quotes: only all their lines tell."""
    try:
        return read(options)
    except BrokenLinesError:
        return read(replace(options, serial=True))


MEMORY = "4GB"


def read_log(
    source: Any,
    options: ReadOptions,
    *,
    memory: MemorySize = MEMORY,
    connections: bool = True,
    progress: Progress | None = None,
    allow_duplicates: bool = False,
    into: TransitionCounts | None = None,
    cells: Cells | None = None,
    threads: int | None = None,
) -> TransitionCounts:
    """The experience in a log alone.

    Arguments are as in `fwrl.fit`; `into` is the experience that it is to be merged with, `cells` a division into cells
    that is given, `threads` the number of threads to use, by default one per core.
    """

    def experience(options: ReadOptions) -> TransitionCounts:
        with reading(memory, progress, option="memory", threads=threads) as reader:
            sources = sources_of(reader.con, source, options)
            files = identified_files(sources)
            if not allow_duplicates:
                refuse_repeated(reader, files, () if into is None else into.logs)
            log = log_of(reader.con, sources, options, cells if into is None else into.cells)
            found = _grouped(reader, log, options, into)
            counted = "count" in log.has and "trip" in log.has  # which trip made which edges is not known then
            found = with_connections(reader, found) if connections and not counted else found
            return replace(found, logs=tuple(file.log for file in files))

    return retry_csv(experience, options)


def _grouped(reader: Reader, log: Log, options: ReadOptions, into: TransitionCounts | None) -> TransitionCounts:
    counts = group(reader, log, options.skip_bad, _aging(log, options, into), options.min_trips)
    experience = encoded_experience(reader, log, counts.aging)
    return replace(experience, hours=kept_hours(options), summary=_summary(experience, counts))


def _aging(log: Log, options: ReadOptions, into: TransitionCounts | None) -> Aging | None:
    """How the observations of a log are weighted; `into` must use the same weights."""
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


def _summary(experience: TransitionCounts, counts: Counts) -> LogSummary:
    return LogSummary(
        trips=counts.trips,
        transitions=counts.transitions,
        states=len(experience.states),
        edges=len(experience.source),
        uncertain=int(np.sum(np.bincount(experience.pair()) > 1)),
        skipped=counts.skipped,
        terminated=experience.n_terminated,
    )
