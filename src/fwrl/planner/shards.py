"""The parts of a fit by many workers: which files are read together, and the tree in which their planners are merged.

Files are read together as far as that leaves work for every worker, since an edge costs as much as several rows each
time it is found. What is read together is written down when the fit begins, so that the same command continues with the
same parts, however many workers there are then.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fwrl.cells import Cells
from fwrl.errors import FileError
from fwrl.files import Partials
from fwrl.installed import installed
from fwrl.planner.experience import LogFile
from fwrl.planner.ingest.found_files import ADDRESS, matching
from fwrl.planner.ingest.learning import MEMORY
from fwrl.planner.ingest.log_files import identified_files, log_file, refuse_repeated, repetitions
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.reader import reading
from fwrl.planner.ingest.sources import sources_of

FAN_IN = 10  # planners merged by one task; more take more memory, fewer travel more often
MOST_BYTES = 2**30  # of files that are read together: as much work as may be lost with a worker


@dataclass(frozen=True)
class ShardFile:
    """A file of a log.

    Attributes:
        path: Where a worker finds it.
        log: How it is known again.

    """

    path: str
    log: LogFile


@dataclass(frozen=True)
class Shard:
    """Files that are read together: a leaf of the tree.

    Attributes:
        files: The files, in order.
        options: How they are read.
        cells: The division into cells of an older log.
        connections: Whether connected pairs are counted.
        again: Whether a file counts again that has the content of another one.
        memory: The most memory that reading may take.
        threads: Threads that reading may use.

    """

    files: tuple[ShardFile, ...]
    options: ReadOptions
    cells: Cells | None
    connections: bool
    again: bool
    memory: str
    threads: int

    @property
    def key(self) -> str:
        """All that determines its planner."""
        logs, how = [repr(file.log) for file in self.files], [repr(self.options), repr(self.cells)]
        return json.dumps([installed(), logs, how, self.connections, self.again])

    def __str__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"{self.files[0].log.name!r}{more}"


@dataclass(frozen=True)
class Branch:
    """Planners to merge: an inner node of the tree.

    Attributes:
        children: Shards or branches.
        skip_bad: Whether moves between files that lack a value are left out.

    """

    children: tuple[Shard | Branch, ...]
    skip_bad: bool

    @property
    def key(self) -> str:
        """All that determines its planner."""
        return json.dumps([[child.key for child in self.children], self.skip_bad])

    def __str__(self) -> str:
        return f"merging {self.children[0]} and others"


def files_of(source: str | Path | Sequence[str | Path]) -> list[ShardFile]:
    """The files that are meant by paths, folders, patterns or addresses.

    Args:
        source: As in `fwrl.fit`.

    Returns:
        At least one file.

    """
    given = [source] if isinstance(source, str | Path) else list(source)
    files: list[ShardFile] = []
    for name in matching(map(str, given)):
        if ADDRESS.match(name):
            files += _objects(name)
        else:
            files.append(ShardFile(str(Path(name).resolve()), log_file(name, name)))
    return files


def _objects(address: str) -> list[ShardFile]:
    """What is at an address, which may be a pattern; known again by size and time of its last change."""
    with reading(MEMORY, None, f"log {address}") as reader:
        sql = "SELECT filename, size, last_modified::VARCHAR FROM read_blob(?) ORDER BY filename"
        found = reader.con.execute(sql, [address]).fetchall()
    if not found:
        raise FileError(f"cannot read {address!r}: there is no such file")
    return [ShardFile(name, LogFile(name, size, changed)) for name, size, changed in found]


def refuse_repeated_files(files: Sequence[ShardFile], options: ReadOptions, old: Sequence[LogFile]) -> None:
    """Raise an error if a file with rows has the content of another one, or of one that was read before.

    Args:
        files: All that are to be read.
        options: How they are read.
        old: What was read before.

    """
    here = [file for file in files if not ADDRESS.match(file.path)]
    repeated = list(repetitions([file.log for file in here], old))
    if not repeated:
        return
    content = {(log.size, log.digest) for log, _ in repeated}
    names = [file.log.name for file in here if (file.log.size, file.log.digest) in content]
    with reading(MEMORY, None) as reader:
        refuse_repeated(reader, identified_files(sources_of(reader.con, names, options)), old)


def grouped(files: Sequence[ShardFile], workers: int, partials: Partials) -> list[tuple[ShardFile, ...]]:
    """The files that are read together: one group for each worker, or as many more as keep groups small enough.

    The numbers of files are kept, and those kept before are used again.

    Args:
        files: All files.
        workers: The number of workers.
        partials: Where finished parts are kept.

    Returns:
        Groups of neighbours.

    """
    key = json.dumps(["files read together", installed(), [repr(file.log) for file in files]])
    if not partials.path(key).is_file():
        counts = counts_of([file.log.size for file in files], workers)
        partials.write(key, json.dumps(counts).encode())
    kept = iter(files)
    return [tuple(itertools.islice(kept, n)) for n in json.loads(partials.path(key).read_bytes())]


def counts_of(sizes: Sequence[int], workers: int) -> list[int]:
    """How many files of these sizes are read together.

    Args:
        sizes: Bytes of each file, in order.
        workers: The number of workers.

    Returns:
        Numbers of neighbours, all positive.

    >>> counts_of([10] * 10, 2)
    [5, 5]
    """
    each = max(1, math.ceil(sum(sizes) / (max(1, workers) * MOST_BYTES)))  # groups for a worker
    share = max(1.0, sum(sizes) / (max(1, workers) * each))
    ends = itertools.accumulate(sizes)
    groups = [int((end - size / 2) / share) for end, size in zip(ends, sizes, strict=True)]
    return [len(list(group)) for _, group in itertools.groupby(groups)]


def tree(shards: Sequence[Shard], skip_bad: bool) -> Shard | Branch:
    """The shards in order under branches of at most `FAN_IN` children, and of as many levels as that needs.

    Args:
        shards: At least one.
        skip_bad: Whether moves between files that lack a value are left out.

    Returns:
        The top.

    """
    level: list[Shard | Branch] = list(shards)
    while len(level) > 1:
        groups = [tuple(level[k : k + FAN_IN]) for k in range(0, len(level), FAN_IN)]
        level = [group[0] if len(group) == 1 else Branch(group, skip_bad) for group in groups]
    return level[0]
