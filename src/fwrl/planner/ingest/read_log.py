"""One log to an experience: all steps of reading it, in order. No log is counted twice unnoticed.

A file is identified by its size and a SHA-256 digest, a packed one by what is in it: a log that is packed later stays
the same log. Of a file of more than 64 MiB only 64 blocks of 1 MiB, evenly spread from its first byte to its last, are
digested: reading all of it would take a noticeable part of the time of a fit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fwrl.cells import Cells
from fwrl.planner.ingest.discover import opened, readable
from fwrl.planner.ingest.encode import encoded_experience, with_connections
from fwrl.planner.ingest.group import group
from fwrl.planner.ingest.log import Log, log_of
from fwrl.planner.ingest.read_options import LogError, MemorySize, ReadOptions
from fwrl.planner.ingest.reader import Progress, Reader, Source, reading
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.ingest.times import duration, kept_hours
from fwrl.planner.transition_counts import Aging, LogFile, TransitionCounts, summarised

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


BLOCK = 2**20  # bytes
BLOCKS = 64


class IdentifiedFile(NamedTuple):
    """A file of a source that is on this computer, also one that was unpacked or came from standard input."""

    source: Source  # the source
    path: str  # of a readable copy
    log: LogFile  # how it is known again, by the name that messages call it


def identified_files(sources: Iterable[Source]) -> list[IdentifiedFile]:
    """The files of `sources` that are on this computer, in order of their names; tables in memory have none."""
    found = ((source, path) for source in sources for path in source.files if Path(path).is_file())
    files = [IdentifiedFile(source, path, log_file(path, source.file_name(path))) for source, path in found]
    return sorted(files, key=lambda file: (file.log.name, file.log.digest))


def log_file(path: str, name: str) -> LogFile:
    """How what is in the file at `path` is known again, by the `name` that messages call it."""
    digest = hashlib.sha256()
    with readable(name), opened(path) as content:
        size = content.seek(0, os.SEEK_END)
        for begin in _block_begins(size):
            content.seek(begin)
            digest.update(content.read(BLOCK))
    return LogFile(name, size, digest.hexdigest())


def _block_begins(size: int) -> list[int]:
    if size <= BLOCK * BLOCKS:
        return list(range(0, size, BLOCK))
    begins: list[int] = np.linspace(0, size - BLOCK, BLOCKS).astype(np.int64).tolist()
    return begins


def refuse_repeated(reader: Reader, new: Sequence[IdentifiedFile], old: Sequence[LogFile]) -> None:
    """Raise an error if a file with rows has the content of another one, or of one that was read before."""
    own = {id(file.log): file for file in new}
    pairs = repetitions([file.log for file in new], old)
    repeated = [(one, other) for one, other in pairs if _has_rows(reader, own[id(one)])]
    if not repeated:
        return
    one, other = repeated[0]
    known = ", which was read before" if other in old else ""
    said = f"{one.name!r} has the same content as {other.name!r}{known}"
    if one.name == other.name:
        said = f"{one.name!r} {'was read before' if known else 'is given twice'}"
    more = f" (and {len(repeated) - 1:,} more such files)" if len(repeated) > 1 else ""
    raise LogError(f"{said}{more}", "allow_duplicates")


def refuse_shared(planners: Sequence[Sequence[LogFile]]) -> None:
    """Raise an error if the logs of one planner are also among those of another."""
    for k, logs in enumerate(planners):
        old = [log for before in planners[:k] for log in before]
        shared = [pair for pair in repetitions(logs, old) if pair[1] in old]
        if shared:
            one, other = shared[0]
            content = f", whose content is that of {other.name!r}" if one.name != other.name else ""
            more = f" and {len(shared) - 1:,} more" if len(shared) > 1 else ""
            raise LogError(f"two planners have the log {one.name!r}{content}{more}", "allow_duplicates")


def repetitions(new: Sequence[LogFile], old: Sequence[LogFile]) -> Iterator[tuple[LogFile, LogFile]]:
    """The files of `new` whose content was there before, with the first file that has it."""
    first = {(file.size, file.digest): file for file in reversed(old)}
    for file in new:
        before = first.setdefault((file.size, file.digest), file)
        if before is not file:
            yield file, before


def _has_rows(reader: Reader, file: IdentifiedFile) -> bool:
    scan = file.source.scan_of([file.path])
    return bool(reader.one(f"SELECT count(*) FROM (SELECT 1 FROM {scan} LIMIT 1)")[0])
