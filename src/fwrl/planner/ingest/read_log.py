"""One log to an experience: all steps of reading it, in order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fwrl.cells import Cells
from fwrl.planner.ingest.duplicates import identified_files, refuse_repeated
from fwrl.planner.ingest.encode import encoded_experience, with_connections
from fwrl.planner.ingest.group import group
from fwrl.planner.ingest.log import Log, log_of
from fwrl.planner.ingest.read_options import MemorySize, ReadOptions
from fwrl.planner.ingest.reader import Progress, reading
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.ingest.times import duration, kept_hours
from fwrl.planner.transition_counts import Aging, TransitionCounts, summarised

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
    with reading(memory, progress, option="memory", threads=threads) as reader:
        sources = sources_of(reader.con, source, options)
        files = identified_files(sources)
        if not allow_duplicates:
            refuse_repeated(reader, files, () if into is None else into.logs)
        log = log_of(reader.con, sources, options, cells if into is None else into.cells)
        counts = group(reader, log, options.skip_bad, _aging(log, options), options.min_trips)
        found = encoded_experience(reader, log, counts.aging)
        found = replace(found, hours=kept_hours(options), logs=tuple(file.log for file in files))
        found = summarised(found, counts.trips, counts.transitions, counts.skipped)
        return with_connections(reader, found) if connections else found


def _aging(log: Log, options: ReadOptions) -> Aging | None:
    """How the observations of a log are weighted."""
    if options.half_life is None:
        return None
    if isinstance(options.half_life, Aging):
        return Aging(options.half_life.half_life)
    return Aging(duration(options.half_life, log.time))
