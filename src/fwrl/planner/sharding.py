"""One fit by many workers: each reads some files, and the planners of these parts are merged in a tree.

Edges keep sums, counts, best rewards and latest trips, all of which can be merged (see `merging`), so the result is
that of one fit, up to the rounding of sums. Parts and tree are those of the files in order (see `shards`), whatever
finishes first, so that the same parts give the same bytes. Trips of visits that go on in another part are joined by the
move between. Where parts are merged that others lie between in time, trips seem to overlap; all parts are merged at
once then, and a trip that overlaps even so is an error that names it.

A worker reads files where they lie, and sends back a planner as the bytes of its file. What is finished is kept until
the whole is written (see `fwrl.files.atomic`). The last merge is made by the caller, to which all planners come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fwrl.errors import FileError, FwrlError, OptionError
from fwrl.files import Partials, scratch_folder
from fwrl.planner.experience import Experience
from fwrl.planner.ingest.errors import NoTransitionsError
from fwrl.planner.ingest.found_files import ADDRESS
from fwrl.planner.ingest.learning import MEMORY, learned
from fwrl.planner.ingest.log_files import log_file, refuse_shared
from fwrl.planner.ingest.options import ReadOptions
from fwrl.planner.merging import OverlapError, merged
from fwrl.planner.planner import Planner
from fwrl.planner.positive_cycles import refuse_positive_cycle, warn_of_positive_rewards
from fwrl.planner.shards import Branch, Shard, files_of, grouped, refuse_repeated_files, tree
from fwrl.pool import Pool, PoolError, finished

NOTHING = b""  # the content of the planner of files without rows
Watch = Callable[[int, int, int], None]


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
    """Learn a planner from files, some of which each worker of the pool reads: what `fwrl.fit` of all of them gives.

    Where a trip is in several parts, the pairs that it connects only across them count as connected by no single trip.

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
    if options.min_trips > 1:
        raise OptionError(
            "each worker sees some of the trips only, so none can count them all; fit without a cluster, or ask the "
            "planner for the minimum of trips"
        )
    if options.cells is not None and cells is None and options.cell_width is None and options.resolution is None:
        raise OptionError("each worker sees some of the data only: give the cell width or the resolution of the cells")
    counted, files = connections and (old is None or old.summary.connected is not None), files_of(source)
    if not again:
        refuse_repeated_files(files, options, () if old is None else old.logs)
    groups = grouped(files, pool.workers(), partials)
    shards = [Shard(group, options, cells, counted, again, memory, pool.threads) for group in groups]
    found = _experience(shards, pool, partials, watch)
    if found is None:
        raise FwrlError("expected at least one transition, the logs have none")
    if old is not None:
        found = merged([old, found], options.skip_bad)
    refuse_positive_cycle(found)
    warn_of_positive_rewards(found)
    return Planner(found)


def _experience(shards: Sequence[Shard], pool: Pool, partials: Partials, watch: Watch) -> Experience | None:
    """The experience of all shards; None without rows."""
    skip_bad = shards[0].options.skip_bad
    top = tree(shards, skip_bad)
    last: Sequence[Shard | Branch] = top.children if isinstance(top, Branch) else [top]
    try:
        try:
            _work(last, pool, partials, watch)
            found = _merged(last, shards, partials)
        except OverlapError:
            _work(shards, pool, partials, watch)
            found = _merged(shards, shards, partials)
    except PoolError as error:
        raise PoolError(f"{error}; finished files are kept, and the same command continues") from error
    return found


def _work(tops: Sequence[Shard | Branch], pool: Pool, partials: Partials, watch: Watch) -> None:
    """Make the planners of these nodes and of all below that are not kept already; a branch after its children."""
    ready: deque[Shard | Branch] = deque()
    parents: dict[str, list[Branch]] = {}  # nodes with equal keys are one task, and may have several parents
    lacking: dict[str, int] = {}  # for each task, how many others must be finished before

    def plan(node: Shard | Branch) -> None:
        """Plan the tasks of a node and of all below."""
        if node.key in lacking or partials.path(node.key).is_file():
            return
        lacking[node.key] = 0
        if isinstance(node, Branch):
            children = {child.key: child for child in node.children}
            for key, child in children.items():
                if not partials.path(key).is_file():
                    lacking[node.key] += 1
                    parents.setdefault(key, []).append(node)
                    plan(child)
        if lacking[node.key] == 0:
            ready.append(node)

    def next_task() -> Shard | Merge | None:
        if not ready:
            return None
        node = ready.popleft()
        if isinstance(node, Shard):
            return node
        return Merge(node, tuple(partials.path(child.key).read_bytes() for child in node.children))

    for top in tops:
        plan(top)
    total, done = len(lacking), 0
    watch(done, total, pool.workers())
    results: Iterator[tuple[Shard | Merge, bytes]] = finished(pool, planner_of, next_task)
    for task, content in results:
        node = task.branch if isinstance(task, Merge) else task
        partials.write(node.key, content)
        done += 1
        watch(done, total, pool.workers())
        for above in parents.get(node.key, ()):
            lacking[above.key] -= 1
            if lacking[above.key] == 0:
                ready.appendleft(above)


def planner_of(task: Shard | Merge) -> bytes:
    """What a worker does: it reads files, or merges planners. The file of the planner; nothing without rows."""
    with scratch_folder() as folder:
        if isinstance(task, Shard):
            experience = _read(task)
        else:
            files = [folder / str(k) for k, content in enumerate(task.planners) if content]
            for file, content in zip(files, filter(None, task.planners), strict=True):
                file.write_bytes(content)
            experience = _as_one([Planner.load(file).experience for file in files], task.branch.skip_bad)
        if experience is None:
            return NOTHING
        Planner(experience).save(folder / "out")
        return (folder / "out").read_bytes()


def _read(shard: Shard) -> Experience | None:
    """The experience in files; None where they have no rows."""
    for path, log in ((file.path, file.log) for file in shard.files if not ADDRESS.match(file.path)):
        if log_file(path, log.name) != log:
            raise FileError(f"{path!r} is another file on a worker than here; workers must see the same files")
    try:
        experience = learned(
            [file.path for file in shard.files],
            shard.options,
            memory=shard.memory,
            connections=shard.connections,
            again=shard.again,
            cells=shard.cells,
            threads=shard.threads,
        )
    except NoTransitionsError as error:
        if error.has_rows:
            raise FwrlError(
                f"{shard} has rows but no transition of its own, so that moves that join it to other files "
                "would be lost; leave it out, or fit without a cluster"
            ) from error
        return None
    logs = tuple(replace(log, name=_given_name(log.name, shard)) for log in experience.logs)
    return replace(experience, logs=logs)


def _given_name(name: str, shard: Shard) -> str:
    """The name of a log by the name of its file as the caller gave it."""
    known = [file for file in shard.files if name.startswith(file.path)]
    file = max(known, key=lambda file: len(file.path))  # one name may begin with another
    return name.replace(file.path, file.log.name, 1)


def _as_one(experiences: Sequence[Experience], skip_bad: bool) -> Experience | None:
    """Some experiences as one that others may be merged into; None where there are none."""
    if len(experiences) < 2:
        return experiences[0] if experiences else None
    return merged(experiences, skip_bad, whole=False)


def _merged(nodes: Sequence[Shard | Branch], shards: Sequence[Shard], partials: Partials) -> Experience | None:
    """The kept experiences of nodes as one, with all files of the shards below them among its logs."""
    paths = [path for path in (partials.path(node.key) for node in nodes) if path.stat().st_size]
    experiences = [Planner.load(path).experience for path in paths]
    if not shards[0].again:
        _refuse_shared_members(experiences, shards)
    found = _as_one(experiences, shards[0].options.skip_bad)
    if found is None:
        return None
    empty = [file.log for shard in shards if not partials.path(shard.key).stat().st_size for file in shard.files]
    return replace(found, logs=tuple(sorted((*found.logs, *empty), key=lambda log: (log.name, log.digest))))


def _refuse_shared_members(experiences: Sequence[Experience], shards: Sequence[Shard]) -> None:
    """Raise an error if a log inside of a packed file is in another one too; files themselves were compared before."""
    files = {(file.log.size, file.log.digest) for shard in shards for file in shard.files}
    logs = [[log for log in each.logs if (log.size, log.digest) not in files] for each in experiences]
    refuse_shared(logs)
