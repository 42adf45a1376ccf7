"""From logs of past trips to a planner, here or on a cluster.

On a cluster, each worker reads some of the files, and the planners of these parts are merged in a tree.

Everything a planner keeps can be merged (see `merge`), so the result is that of one fit, up to the last bits of sums.
Files are read together as far as that leaves work for every worker, because finding an edge costs as much as reading
several rows. Parts and tree follow the order of the files, not of finished tasks, so the same number of workers with
one thread each gives the same bytes. A trip that continues in another part counts as two trips.

A worker reads files where they are and sends back what it learned. The caller makes the last merge.
"""

from __future__ import annotations

import inspect
import itertools
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from fwrl.arguments import check_function, check_kind
from fwrl.errors import FileError, FwrlError, OptionError
from fwrl.planner.ingest.discover import ADDRESS, matching
from fwrl.planner.ingest.read_log import MEMORY, identified_files, log_file, read_log, refuse_repeated, repetitions
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
Watch = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Shard:
    """Files that one worker reads together."""

    number: int
    logs: tuple[LogFile, ...]
    paths: tuple[str, ...]  # where workers find them
    arguments: Mapping[str, Any]  # of `read_log`

    def __str__(self) -> str:
        more = f" and {len(self.logs) - 1} more" if len(self.logs) > 1 else ""
        return f"{self.logs[0].name!r}{more}"

    @property
    def known_again(self) -> tuple[LogFile, ...]:
        """Those of the files that are known again: not those at addresses."""
        return tuple(log for log, path in zip(self.logs, self.paths, strict=True) if not ADDRESS.match(path))

    def work(self) -> TransitionCounts | None:
        """Read the experience in the files; None without transitions."""
        try:
            experience = read_log(list(self.paths), **self.arguments)
        except NoTransitionsError:
            return None
        if sorted(log[1:] for log in experience.logs) != sorted(log[1:] for log in self.known_again):
            raise FileError(f"{self} differs on a worker; workers must see the same files")
        return replace(experience, logs=self.known_again)


@dataclass(frozen=True)
class Merge:
    """Experiences that one worker merges; None are those of files without transitions."""

    number: int
    parts: tuple[TransitionCounts | None, ...]

    def __str__(self) -> str:
        return f"a merge of {len(self.parts)} planners"

    def work(self) -> TransitionCounts | None:
        """Merge them."""
        parts = [part for part in self.parts if part is not None]
        return merged(parts, whole=False) if len(parts) > 1 else next(iter(parts), None)


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
        _refuse_repeated_files(
            [log for path, log in files if not ADDRESS.match(path)], options, old.logs if old else ()
        )
    arguments: dict[str, Any] = {"options": options, "memory": memory, "connections": counted, "cells": cells}
    arguments |= {"allow_duplicates": allow_duplicates, "threads": pool.threads}
    left = iter(files)
    groups = [list(itertools.islice(left, n)) for n in counts_of([log.size for _, log in files], pool.workers())]
    shards = [
        Shard(k, tuple(log for _, log in group), tuple(path for path, _ in group), arguments)
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

    def by_workers(tasks: Sequence[Shard | Merge]) -> list[TransitionCounts | None]:
        nonlocal done
        results: list[TransitionCounts | None] = [None] * len(tasks)
        left: Iterator[Shard | Merge] = iter(tasks)
        watch(done, total, pool.workers())
        made: Iterator[tuple[Shard | Merge, TransitionCounts | None]]
        made = finished(pool, _work, lambda: next(left, None))
        for task, experience in made:
            results[task.number], done = experience, done + 1
            watch(done, total, pool.workers())
        return results

    parts = by_workers(shards)
    empty = [log for shard, part in zip(shards, parts, strict=True) if part is None for log in shard.known_again]
    while len(parts) > FAN_IN:
        parts = by_workers(
            [Merge(k, tuple(parts[first : first + FAN_IN])) for k, first in enumerate(range(0, len(parts), FAN_IN))]
        )
    found = Merge(0, tuple(parts)).work()
    if found is None:
        raise FwrlError("expected at least one transition, the logs have none")
    return replace(found, logs=tuple(sorted((*found.logs, *empty), key=lambda log: (log.name, log.digest))))


def _work(task: Shard | Merge) -> TransitionCounts | None:
    return task.work()


def _number_of_merges(n: int) -> int:
    """How many merges workers make of `n` planners."""
    return 0 if n <= FAN_IN else (above := math.ceil(n / FAN_IN)) + _number_of_merges(above)


def files_of(source: str | Path | Sequence[str | Path]) -> list[tuple[str, LogFile]]:
    """Expand paths, folders, patterns and addresses to files, by the paths where workers find them."""
    given = [source] if isinstance(source, str | Path) else list(source)
    files: list[tuple[str, LogFile]] = []
    for name in matching(map(str, given)):
        if ADDRESS.match(name):
            files += _objects(name)
        else:
            files.append((str(Path(name).resolve()), log_file(name, name)))
    return files


def _objects(address: str) -> list[tuple[str, LogFile]]:
    """The files at an address, which may be a pattern; identified by size and time of the last change."""
    with reading(MEMORY, None, f"log {address}") as reader:
        sql = "SELECT filename, size, last_modified::VARCHAR FROM read_blob(?) ORDER BY filename"
        found = reader.con.execute(sql, [address]).fetchall()
    if not found:
        raise FileError(f"cannot read {address!r}: there is no such file")
    return [(name, LogFile(name, size, changed)) for name, size, changed in found]


def _refuse_repeated_files(logs: Sequence[LogFile], options: ReadOptions, old: Sequence[LogFile]) -> None:
    """Refuse a file with rows that has the content of another one, or of one that was read before."""
    content = {log[1:] for log, _ in repetitions(logs, old)}
    if content:
        names = [log.name for log in logs if log[1:] in content]
        with reading(MEMORY, None) as reader:
            refuse_repeated(reader, identified_files(sources_of(reader.con, names, options)), old)


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
