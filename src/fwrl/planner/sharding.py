"""One fit by many workers: every file is read by one of them, and the planners of files are merged in a tree.

Edges keep sums, counts, best rewards and latest trips, all of which can be merged (see `merging`), so the result is
that of one fit, up to the rounding of sums. The tree is that of the files in order, whatever finishes first, so that
the same files give the same bytes. Trips of visits that go on in another file are joined by the move between. Where
files are merged that others lie between in time, trips seem to overlap; all files are merged at once then, and a trip
that overlaps even so is an error that names it.

A worker reads a file where it lies, and sends back a planner as the bytes of its file. What is finished is kept until
the whole is written (see `fwrl.files.partials`).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fwrl.cells import Cells
from fwrl.errors import FileError, FwrlError, OptionError
from fwrl.files import Partials, scratch_folder
from fwrl.installed import installed
from fwrl.planner.experience import Experience, LogFile
from fwrl.planner.ingest.errors import NoTransitionsError
from fwrl.planner.ingest.found_files import ADDRESS, matching
from fwrl.planner.ingest.learning import MEMORY, learned
from fwrl.planner.ingest.log_files import log_file, refuse_shared
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.ingest.reader import reading
from fwrl.planner.merging import OverlapError, merged
from fwrl.planner.planner import Planner
from fwrl.planner.positive_cycles import refuse_positive_cycle, warn_of_positive_rewards
from fwrl.pool import Pool, PoolError, finished

FAN_IN = 4  # planners merged by one task
NOTHING = b""  # the content of the planner of a file without rows
Watch = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Shard:
    """A file to read: a leaf of the tree.

    Attributes:
        path: Where a worker finds it.
        log: How it is known again.
        options: How it is read.
        cells: The division into cells of an older log.
        connections: Whether connected pairs are counted.
        memory: The most memory that reading may take.
        threads: Threads that reading may use.

    """

    path: str
    log: LogFile
    options: ReadOptions
    cells: Cells | None
    connections: bool
    memory: str
    threads: int

    @property
    def key(self) -> str:
        """All that determines its planner."""
        return json.dumps([installed(), repr(self.log), repr(self.options), repr(self.cells), self.connections])

    def __str__(self) -> str:
        return repr(self.log.name)


@dataclass(frozen=True)
class Branch:
    """Planners to merge: an inner node of the tree.

    Attributes:
        children: Shards or branches.
        again: Whether logs that several have are counted several times.
        skip_bad: Whether moves between files that lack a value are left out.

    """

    children: tuple[Shard | Branch, ...]
    again: bool
    skip_bad: bool

    @property
    def key(self) -> str:
        """All that determines its planner."""
        return json.dumps([[child.key for child in self.children], self.again, self.skip_bad])

    def __str__(self) -> str:
        return f"merging {self.children[0]} and others"


@dataclass(frozen=True)
class Merge:
    """A branch with the files of its children's planners, as it is sent to a worker."""

    branch: Branch
    planners: tuple[bytes, ...]

    def __str__(self) -> str:
        return str(self.branch)


def fit_shards(
    source: str | Path | Sequence[str | Path],
    pool: Pool,
    partials: Partials,
    *,
    into: Planner | None = None,
    memory: str = MEMORY,
    connections: bool = True,
    again: bool = False,
    watch: Watch = lambda *_: None,
    **reading_options: Any,
) -> Planner:
    """Learn a planner from files, each of which a worker of the pool reads: what `fwrl.fit` of all of them gives.

    Where a trip is in several files, the pairs that it connects only across them count as connected by no single trip.

    Args:
        source: Paths, folders, patterns or addresses; workers must find the same files there.
        pool: Where to read and merge.
        partials: Where finished planners of files are kept; save the planner before they are removed.
        into: A planner to whose experience the log is added, as in `fwrl.fit`.
        memory: The most memory that reading may take, for each worker.
        connections: Count the pairs of states that are connected.
        again: Read a file although another one has the same content.
        watch: Called with the number of finished tasks, of all tasks, and of workers.
        reading_options: The options of `fwrl.fit` that say how a log is read.

    Returns:
        The planner.

    """
    options, old = ReadOptions(**reading_options), None if into is None else into.experience
    if old is not None and options.half_life is None:
        options = replace(options, half_life=old.aging)
    cells = None if old is None else old.cells
    if options.cells is not None and cells is None and options.cell_width is None and options.resolution is None:
        raise OptionError("each worker sees some of the data only: give the cell width or the resolution of the cells")
    counted = connections and (old is None or old.summary.connected is not None)
    shards = [Shard(path, log, options, cells, counted, memory, pool.threads) for path, log in _files(source)]
    top = _tree(shards, again, options.skip_bad)
    try:
        try:
            _work([top], pool, partials, watch)
            found = _loaded(top, partials)
        except OverlapError:
            _work(shards, pool, partials, watch)
            found = _merged_at_once(shards, partials, again, options.skip_bad)
    except PoolError as error:
        raise PoolError(f"{error}; finished files are kept, and the same command continues") from error
    if found is None:
        raise FwrlError("expected at least one transition, the logs have none")
    found = _with_logs(found, shards, partials)
    if old is not None:
        if not again:
            refuse_shared([old.logs, found.logs])
        found = merged([old, found], options.skip_bad)
    refuse_positive_cycle(found)
    warn_of_positive_rewards(found)
    return Planner(found)


def _files(source: str | Path | Sequence[str | Path]) -> list[tuple[str, LogFile]]:
    """The files, with how they are known again."""
    given = [source] if isinstance(source, str | Path) else list(source)
    files = []
    for name in matching(map(str, given)):
        if ADDRESS.match(name):
            files += _objects(name)
        else:
            files.append((str(Path(name).resolve()), log_file(name, name)))
    return files


def _objects(address: str) -> list[tuple[str, LogFile]]:
    """What is at an address, which may be a pattern; known again by size and time of its last change."""
    with reading(MEMORY, None, f"log {address}") as reader:
        sql = "SELECT filename, size, last_modified::VARCHAR FROM read_blob(?) ORDER BY filename"
        found = reader.con.execute(sql, [address]).fetchall()
    if not found:
        raise FileError(f"cannot read {address!r}: there is no such file")
    return [(name, LogFile(name, size, changed)) for name, size, changed in found]


def _tree(shards: Sequence[Shard], again: bool, skip_bad: bool) -> Shard | Branch:
    """The shards in order under branches of at most `FAN_IN` children, and of as many levels as that needs."""
    level: list[Shard | Branch] = list(shards)
    while len(level) > 1:
        groups = [tuple(level[k : k + FAN_IN]) for k in range(0, len(level), FAN_IN)]
        level = [group[0] if len(group) == 1 else Branch(group, again, skip_bad) for group in groups]
    return level[0]


def _work(tops: Sequence[Shard | Branch], pool: Pool, partials: Partials, watch: Watch) -> None:
    """Make the planners of these nodes and of all below that are not kept already; a branch after its children."""
    ready: deque[Shard | Branch] = deque()
    parent: dict[str, Branch] = {}
    lacking: dict[str, int] = {}

    def plan(node: Shard | Branch) -> int:
        """Plan the work below a node; the number of its tasks."""
        if partials.path(node.key).is_file():
            return 0
        if isinstance(node, Shard):
            ready.append(node)
            return 1
        missing = [child for child in node.children if not partials.path(child.key).is_file()]
        parent.update({child.key: node for child in missing})
        lacking[node.key] = len(missing)
        if not missing:
            ready.append(node)
        return 1 + sum(plan(child) for child in missing)

    def next_task() -> Shard | Merge | None:
        if not ready:
            return None
        node = ready.popleft()
        if isinstance(node, Shard):
            return node
        return Merge(node, tuple(partials.path(child.key).read_bytes() for child in node.children))

    total, done = sum(map(plan, tops)), 0
    watch(done, total, pool.workers())
    results: Iterator[tuple[Shard | Merge, bytes]] = finished(pool, planner_of, next_task)
    for task, content in results:
        node = task.branch if isinstance(task, Merge) else task
        partials.write(node.key, content)
        done += 1
        watch(done, total, pool.workers())
        above = parent.get(node.key)
        if above is not None:
            lacking[above.key] -= 1
            if lacking[above.key] == 0:
                ready.appendleft(above)


def planner_of(task: Shard | Merge) -> bytes:
    """What a worker does: it reads a file, or merges planners. The file of the planner; nothing without rows."""
    with scratch_folder() as folder:
        if isinstance(task, Shard):
            experience = _read(task)
        else:
            files = [folder / str(k) for k, content in enumerate(task.planners) if content]
            for file, content in zip(files, filter(None, task.planners), strict=True):
                file.write_bytes(content)
            branch = task.branch
            experience = _merged([Planner.load(file).experience for file in files], branch.again, branch.skip_bad)
        if experience is None:
            return NOTHING
        Planner(experience).save(folder / "out")
        return (folder / "out").read_bytes()


def _read(shard: Shard) -> Experience | None:
    """The experience in a file; None where it has no rows."""
    if not ADDRESS.match(shard.path):
        here = log_file(shard.path, shard.log.name)
        if here != shard.log:
            raise FileError(f"{shard.path!r} is another file on a worker than here; workers must see the same files")
    try:
        experience = learned(
            [shard.path],
            shard.options,
            memory=shard.memory,
            connections=shard.connections,
            again=True,
            cells=shard.cells,
            threads=shard.threads,
        )
    except NoTransitionsError as error:
        if error.has_rows:
            raise FwrlError(
                f"{shard.log.name!r} has rows but no transition of its own, so that moves that join it to other files "
                "would be lost; leave it out, or fit without a cluster"
            ) from error
        return None
    named = (replace(log, name=log.name.replace(shard.path, shard.log.name, 1)) for log in experience.logs)
    return replace(experience, logs=tuple(named))


def _merged(experiences: Sequence[Experience], again: bool, skip_bad: bool) -> Experience | None:
    """Some experiences as one that others may be merged into; None where there are none."""
    if not again:
        refuse_shared([experience.logs for experience in experiences])
    if len(experiences) < 2:
        return experiences[0] if experiences else None
    return merged(experiences, skip_bad, whole=False)


def _merged_at_once(shards: Iterable[Shard], partials: Partials, again: bool, skip_bad: bool) -> Experience | None:
    loaded = (_loaded(shard, partials) for shard in shards)
    return _merged([experience for experience in loaded if experience is not None], again, skip_bad)


def _loaded(node: Shard | Branch, partials: Partials) -> Experience | None:
    """The kept experience of a node; None where there is nothing in it."""
    path = partials.path(node.key)
    return Planner.load(path).experience if path.stat().st_size else None


def _with_logs(found: Experience, shards: Iterable[Shard], partials: Partials) -> Experience:
    """The experience with the files without rows among its logs, as after one fit of all."""
    empty = [shard.log for shard in shards if not partials.path(shard.key).stat().st_size]
    logs = sorted((*found.logs, *empty), key=lambda log: (log.name, log.digest))
    return replace(found, logs=tuple(logs))
