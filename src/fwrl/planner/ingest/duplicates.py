"""The files of a log, known again by their content, so that no log is counted twice unnoticed.

A file is identified by its size and a SHA-256 digest, a packed one by what is in it: a log that is packed later stays
the same log. Of a file of more than 64 MiB only 64 blocks of 1 MiB, evenly spread from its first byte to its last, are
digested: reading all of it would take a noticeable part of the time of a fit.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fwrl.planner.ingest.discover import opened, readable
from fwrl.planner.ingest.read_options import LogError
from fwrl.planner.ingest.reader import Reader, Source
from fwrl.planner.transition_counts import LogFile

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
