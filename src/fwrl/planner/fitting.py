"""From logs of past trips to a planner, here or on a cluster.

On a cluster, each worker reads some of the files, and the planners of these parts are merged in a tree.

Everything a planner keeps can be merged (see `merge`), so the result is that of one fit, up to the last bits of sums.
Files are read together as far as that leaves work for every worker, because finding an edge costs as much as reading
several rows. Parts and tree follow the order of the files, not of finished tasks, so the same number of workers with
one thread each gives the same bytes. A trip that continues in another part counts as two trips.

A worker reads files where they are and sends back a planner as the bytes of its file. The caller makes the last merge.
"""

from __future__ import annotations

import inspect
import itertools
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from fwrl.arguments import check_function, check_kind
from fwrl.cells import Cells
from fwrl.errors import FileError, FwrlError, OptionError
from fwrl.files import scratch_folder
from fwrl.planner.ingest.discover import ADDRESS, matching
from fwrl.planner.ingest.duplicates import identified_files, log_file, refuse_repeated, repetitions
from fwrl.planner.ingest.read_log import MEMORY, read_log
from fwrl.planner.ingest.read_options import (
    FitOptions,
    MemorySize,
    NoTransitionsError,
    ReadOptions,
    read_options,
    reading_options,
)
from fwrl.planner.ingest.reader import Progress, reading
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.merge import merged
from fwrl.planner.planner import Planner
from fwrl.planner.policy import refuse_positive_cycle, warn_of_positive_rewards
from fwrl.planner.transition_counts import LogFile, TransitionCounts
from fwrl.pool import Pool, finished


def fit(
    source: Any,
    *,
    into: Planner | None = None,
    memory: MemorySize = MEMORY,
    connections: bool = True,
    allow_duplicates: bool = False,
    progress: Progress | None = None,
    **options: Unpack[FitOptions],
) -> Planner:
    """Learn a planner from a log of past trips.

    Rows are transitions (columns `state` and `next_state`) or visits (`trip`, `time` and `state`). Optional columns
    are `action` (default: the next state), `reward` (default: -1) or `cost`, `trip` and `time`, and `terminated` (0 or
    1): the next state of a transition, or the state of a visit, is terminal, a dead end unless it is the goal. Rows of
    transitions may be counted already (`count`), as `Planner.edges` gives them.

    Args:
        source: The log: a path, a folder, a pattern, an address such as s3://... or a list of them (CSV, Parquet, JSON
            or Arrow, also packed), an open file, an Arrow table, reader or data set, a pandas or polars data frame, a
            NumPy record array, a mapping of columns, a Minari dataset, or an iterable of episodes, trajectories (lists
            of states) or transitions.
        into: A planner to add the log to. It is not changed, and its half-life is the default. A trip that goes on in
            the other log is two trips: the move between them isn't counted.
        memory: The most memory that reading may take, in bytes or as "1GB"; the rest is kept on disk meanwhile. The
            edges themselves, about 100 bytes each, must fit; otherwise the error names their size.
        connections: Count the pairs of states that are connected. If they are not counted for one log, they cannot be
            counted when others are added.
        allow_duplicates: Read a file even if one with the same content is part of the log, or was read into `into`;
            otherwise that is an error.
        progress: Called with the name of the current step and the part of it that is done, from 0 to 1.
        options: How the log is read, see above.

    >>> planner = fit([("dock", "aisle"), ("aisle", "shelf"), ("gate", "aisle")])
    >>> planner.plan("gate", "shelf").states
    ('gate', 'aisle', 'shelf')
    """
    check_kind("a planner as into", into, (Planner, type(None)), "load one with into=fwrl.load('trips.fwrl')")
    check_function("progress", progress)
    reading = read_options(options)
    old = into.experience if into is not None else None
    if old is not None and reading.half_life is None:
        reading = replace(reading, half_life=old.aging)
    found = read_log(
        source,
        reading,
        memory=memory,
        connections=connections and (old is None or old.summary.connected is not None),
        progress=progress,
        allow_duplicates=allow_duplicates,
        into=old,
    )
    if old is None:
        refuse_positive_cycle(found)
    else:
        found = merged([old, found])
    warn_of_positive_rewards(found)
    return Planner(found)


def _show_reading_options() -> None:
    """Let signature and docstring of `fit` show the options of `ReadOptions` in place of `**options`."""
    shown, signature = reading_options(), inspect.signature(fit)
    declared = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None if each.default is MISSING else each.default,
            annotation=each.type,
        )
        for name, each in shown.items()
    ]
    source, *others, _ = signature.parameters.values()
    fit.__signature__ = signature.replace(parameters=[source, *declared, *others])  # type: ignore[attr-defined]
    texts = (f"{name}: {each.metadata['help']}" for name, each in shown.items())
    lines = "\n".join(textwrap.fill(text, 120, initial_indent=8 * " ", subsequent_indent=12 * " ") for text in texts)
    fit.__doc__ = (fit.__doc__ or "").replace("        options: How the log is read, see above.", lines)


_show_reading_options()


FAN_IN = 10  # planners merged by one task; more take more memory, fewer travel more often
MOST_BYTES = 2**30  # of files that are read together: as much work as may be lost with a worker
NOTHING = b""  # the planner of files without transitions
Watch = Callable[[int, int, int], None]


@dataclass(frozen=True)
class ShardFile:
    """A file by the path where workers find it."""

    path: str
    log: LogFile


@dataclass(frozen=True)
class Shard:
    """Files that one worker reads together, and how."""

    number: int
    files: tuple[ShardFile, ...]
    options: ReadOptions
    cells: Cells | None
    connections: bool
    allow_duplicates: bool
    memory: MemorySize
    threads: int

    def __str__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"{self.files[0].log.name!r}{more}"


@dataclass(frozen=True)
class Merge:
    """Planners that one worker merges, as the bytes of their files."""

    number: int
    planners: tuple[bytes, ...]

    def __str__(self) -> str:
        return f"a merge of {len(self.planners)} planners"


def fit_on_cluster(
    source: str | Path | Sequence[str | Path],
    pool: Pool,
    *,
    into: Planner | None = None,
    memory: MemorySize = MEMORY,
    connections: bool = True,
    allow_duplicates: bool = False,
    watch: Watch = lambda *_: None,
    **reading_options: Any,
) -> Planner:
    """Learn a planner from files, some of which each worker of the pool reads; arguments as in `fwrl.fit`.

    Workers must find the same files at the same paths, and each may use `memory`. `watch` is called with the number of
    finished tasks, of all tasks, and of workers.
    """
    options, old = read_options(reading_options), None if into is None else into.experience
    if old is not None and options.half_life is None:
        options = replace(options, half_life=old.aging)
    cells = None if old is None else old.cells
    if options.min_trips > 1:
        raise OptionError(
            "each worker sees only some of the trips, so none can count them all; fit without a cluster, or ask the "
            "planner for the minimum of trips"
        )
    if options.cells is not None and cells is None and options.cell_width is None and options.resolution is None:
        raise OptionError(
            "each worker sees only some of the data, so it can't choose cells: set a cell width or a resolution"
        )
    counted, files = connections and (old is None or old.summary.connected is not None), files_of(source)
    if not allow_duplicates:
        _refuse_repeated_files(files, options, () if old is None else old.logs)
    groups = grouped(files, pool.workers())
    shards = [
        Shard(k, group, options, cells, counted, allow_duplicates, memory, pool.threads)
        for k, group in enumerate(groups)
    ]
    found = _experience(shards, pool, watch)
    if old is not None:
        found = merged([old, found])
    refuse_positive_cycle(found)
    warn_of_positive_rewards(found)
    return Planner(found)


def _experience(shards: Sequence[Shard], pool: Pool, watch: Watch) -> TransitionCounts:
    """The experience of all shards: fitted by workers, merged level by level, the last few by the caller."""
    done, total = 0, len(shards) + _number_of_merges(len(shards))

    def by_workers(tasks: Iterable[Shard | Merge], n: int) -> list[bytes]:
        nonlocal done
        results, left = [NOTHING] * n, iter(tasks)
        watch(done, total, pool.workers())
        made: Iterator[tuple[Shard | Merge, bytes]] = finished(pool, planner_of, lambda: next(left, None))
        for task, planner in made:
            results[task.number], done = planner, done + 1
            watch(done, total, pool.workers())
        return results

    planners = by_workers(shards, len(shards))
    empty = [file.log for shard, planner in zip(shards, planners, strict=True) if not planner for file in shard.files]
    while len(planners) > FAN_IN:
        merges = [
            Merge(k, tuple(planners[first : first + FAN_IN])) for k, first in enumerate(range(0, len(planners), FAN_IN))
        ]
        planners = by_workers(merges, len(merges))
    with scratch_folder() as folder:
        found = _merged(planners, folder)
    if found is None:
        raise FwrlError("expected at least one transition, the logs have none")
    return replace(found, logs=tuple(sorted((*found.logs, *empty), key=lambda log: (log.name, log.digest))))


def _number_of_merges(n: int) -> int:
    """How many merges workers make of `n` planners."""
    return 0 if n <= FAN_IN else (above := math.ceil(n / FAN_IN)) + _number_of_merges(above)


def planner_of(task: Shard | Merge) -> bytes:
    """Do the work of a worker: read files, or merge planners. The file of the planner; nothing without transitions."""
    with scratch_folder() as folder:
        experience = _read(task) if isinstance(task, Shard) else _merged(task.planners, folder)
        if experience is None:
            return NOTHING
        Planner(experience).save(folder / "out")
        return (folder / "out").read_bytes()


def _merged(planners: Sequence[bytes], folder: Path) -> TransitionCounts | None:
    """The planners as one, None if all are empty."""
    experiences = []
    for k, planner in enumerate(planners):
        if planner:
            (folder / str(k)).write_bytes(planner)
            experiences.append(Planner.load(folder / str(k)).experience)
    if len(experiences) < 2:
        return experiences[0] if experiences else None
    return merged(experiences, whole=False)


def _read(shard: Shard) -> TransitionCounts | None:
    """Read the experience in files; None without transitions."""
    here = [file for file in shard.files if not ADDRESS.match(file.path)]
    try:
        experience = read_log(
            [file.path for file in shard.files],
            shard.options,
            memory=shard.memory,
            connections=shard.connections,
            allow_duplicates=shard.allow_duplicates,
            cells=shard.cells,
            threads=shard.threads,
        )
    except NoTransitionsError:
        experience = None
    found = [log_file(file.path, file.path) for file in here] if experience is None else experience.logs
    content = {log.name: (log.size, log.digest) for log in found}
    for path, log in ((file.path, file.log) for file in here):
        if content[path] != (log.size, log.digest):
            raise FileError(f"{path!r} is a different file on a worker; workers must see the same files")
    return None if experience is None else replace(experience, logs=tuple(file.log for file in here))


def files_of(source: str | Path | Sequence[str | Path]) -> list[ShardFile]:
    """Expand paths, folders, patterns and addresses to files; at least one."""
    given = [source] if isinstance(source, str | Path) else list(source)
    files: list[ShardFile] = []
    for name in matching(map(str, given)):
        if ADDRESS.match(name):
            files += _objects(name)
        else:
            files.append(ShardFile(str(Path(name).resolve()), log_file(name, name)))
    return files


def _objects(address: str) -> list[ShardFile]:
    """The files at an address, which may be a pattern; identified by size and time of the last change."""
    with reading(MEMORY, None, f"log {address}") as reader:
        sql = "SELECT filename, size, last_modified::VARCHAR FROM read_blob(?) ORDER BY filename"
        found = reader.con.execute(sql, [address]).fetchall()
    if not found:
        raise FileError(f"cannot read {address!r}: there is no such file")
    return [ShardFile(name, LogFile(name, size, changed)) for name, size, changed in found]


def _refuse_repeated_files(files: Sequence[ShardFile], options: ReadOptions, old: Sequence[LogFile]) -> None:
    """Refuse a file with rows that has the content of another one, or of one that was read before."""
    here = [file for file in files if not ADDRESS.match(file.path)]
    repeated = list(repetitions([file.log for file in here], old))
    if not repeated:
        return
    content = {(log.size, log.digest) for log, _ in repeated}
    names = [file.log.name for file in here if (file.log.size, file.log.digest) in content]
    with reading(MEMORY, None) as reader:
        refuse_repeated(reader, identified_files(sources_of(reader.con, names, options)), old)


def grouped(files: Sequence[ShardFile], workers: int) -> list[tuple[ShardFile, ...]]:
    """Neighbouring files that are read together."""
    left = iter(files)
    return [tuple(itertools.islice(left, n)) for n in counts_of([file.log.size for file in files], workers)]


def counts_of(sizes: Sequence[int], workers: int) -> list[int]:
    """How many neighbouring files of these sizes are read together: one group for each worker, or more small ones.

    >>> counts_of([10] * 10, 2)
    [5, 5]
    """
    each = max(1, math.ceil(sum(sizes) / (max(1, workers) * MOST_BYTES)))  # groups for a worker
    share = max(1.0, sum(sizes) / (max(1, workers) * each))
    ends = itertools.accumulate(sizes)
    groups = [int((end - size / 2) / share) for end, size in zip(ends, sizes, strict=True)]
    return [len(list(group)) for _, group in itertools.groupby(groups)]
