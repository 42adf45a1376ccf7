"""From a log of past trips to a planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fwrl.errors import OptionError
from fwrl.planner.aging import Aging, common_aging, rescale
from fwrl.planner.experience import Experience, LogSummary
from fwrl.planner.ingest.connections import with_connections
from fwrl.planner.ingest.encoding import encoded_experience
from fwrl.planner.ingest.errors import BrokenLinesError, MixedLinesError
from fwrl.planner.ingest.grouping import Counts, group
from fwrl.planner.ingest.log import Log, log_of
from fwrl.planner.ingest.options import MISSING, CellOptions, ReadOptions, Shape
from fwrl.planner.ingest.period import Moment, Period, duration
from fwrl.planner.ingest.reader import Progress, Reader, reading
from fwrl.planner.ingest.sources import sources_of
from fwrl.planner.planner import Planner
from fwrl.planner.positive_cycles import refuse_positive_cycle, warn_of_positive_rewards

MEMORY = "1GB"


def fit(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    shape: Shape | None = None,
    cost: str | None = None,
    cells: Sequence[str] | None = None,
    cell_width: float | None = None,
    resolution: int | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    hours: str | None = None,
    weekdays: str | None = None,
    half_life: str | float | None = None,
    header: bool | None = None,
    missing: Sequence[str] = MISSING,
    decimal: str = ".",
    dates: str | None = None,
    skip_bad: bool = False,
    into: Planner | None = None,
    memory: str = MEMORY,
    connections: bool = True,
    progress: Progress | None = None,
) -> Planner:
    """Learn a planner from a log of past trips.

    Rows are transitions (columns `state` and `next_state`) or visits (`trip`, `time` and `state`). Optional columns
    are `action` (default: the next state), `reward` (default: -1) or `cost`, `trip` and `time`. Rows of transitions may
    be counted already (`count`), as `Planner.edges` gives them.

    Args:
        source: The log: a path, a folder, a pattern, an address such as s3://... or a list of them (CSV, Parquet, JSON
            or Arrow, also packed), an open binary file, an Arrow table or reader, a pandas or polars data frame, a
            NumPy record array, a mapping of columns, or an iterable of episodes, trajectories (lists of states) or
            transitions.
        columns: The log's own names for columns, as `{"state": "from"}`, or their numbers from 1. Labels may be made
            of several columns, `{"state": "station+line"}`; numbers may be expressions, `{"reward": "-distance"}`.
            An empty name leaves a column out.
        shape: `transitions`, `visits` or `trajectories`, where the log itself does not tell.
        cost: `elapsed`: the cost of a move is the time to the next visit, in seconds or in the unit of times that are
            numbers.
        cells: Two columns of coordinates: states are cells that contain the points of rows. Four columns in
            transitions: of a state and of the next. Columns named as latitude and longitude give hexagons (H3, which
            needs the extra `geo`), others squares.
        cell_width: Side of square cells; None to choose it from the data.
        resolution: H3 resolution of hexagons, from 0 to 15; None to choose it from the data.
        since: The first moment to keep, as "2024-03-31 17:30", or a number where times are numbers.
        until: The first moment not to keep.
        hours: Hours of the day to keep, as "7-9": from 7:00 to before 9:00.
        weekdays: Days of the week to keep, as "mon-fri" or "sat,sun".
        half_life: Age at which an observation counts half, as "30d" (or s, min, h, w), or a number where times are
            numbers. Ages are counted from the newest time. Default: that of `into`, or no aging.
        header: Whether CSV files have a line of column names; by default they have, unless all `columns` are given by
            number.
        missing: Texts of CSV files that mean no value, unless they are in quotes.
        decimal: What stands before the decimals of numbers in text: "." or ",".
        dates: How dates in text are written, where not as 2024-03-31: `day-first`, `month-first`, or a format such as
            "%d.%m.%y %H:%M".
        skip_bad: Leave out rows that lack a value, and count them; otherwise the first one is an error.
        into: A planner to whose experience the log is added. A trip must not be cut in two by that. It is not changed.
        memory: Limit on the memory that DuckDB takes, as "1GB".
        connections: Count the pairs of states that are connected. If they are not counted for one log, they cannot be
            counted when others are added.
        progress: Called with the name of the current step and the part of it that is done, from 0 to 1.

    Returns:
        The planner.

    >>> planner = fit([("dock", "aisle"), ("aisle", "shelf"), ("gate", "aisle")])
    >>> planner.plan("gate", "shelf").states
    ('gate', 'aisle', 'shelf')

    """
    if cells is None and (cell_width is not None or resolution is not None):
        raise OptionError("a width or a resolution of cells needs cells: say which columns are coordinates")
    options = ReadOptions(
        columns or {},
        shape,
        skip_bad,
        cost,
        None if cells is None else CellOptions(tuple(cells), cell_width, resolution),
        header,
        tuple(missing),
        decimal,
        dates,
        Period(since, until, hours, weekdays),
        half_life,
    )
    old = into.experience if into is not None else None
    if old is not None and old.aging is not None and half_life is None:
        options = replace(options, half_life=old.aging.half_life)

    def experience(options: ReadOptions) -> Experience:
        with reading(memory, progress, option="memory") as reader:
            sources = sources_of(reader.con, source, options)
            log = log_of(reader.con, sources, options, None if old is None else old.cells)
            return _learned(reader, log, options, old, connections)

    try:
        return Planner(experience(options))
    except BrokenLinesError:
        return Planner(experience(replace(options, serial=True)))
    except MixedLinesError:
        return Planner(experience(replace(options, one_line_ending=True)))


def _learned(reader: Reader, log: Log, options: ReadOptions, old: Experience | None, connections: bool) -> Experience:
    """The experience of a log, added to `old`."""
    aging = _aging(log, options, old)
    counts = group(reader, log, options.skip_bad, aging)
    aging = counts.aging
    if old is not None and aging is not None and aging.newest is not None:
        old = rescale(old, aging.newest)
    learned = encoded_experience(reader, log, old, aging)
    learned = replace(learned, summary=_summary(learned, counts, old))
    refuse_positive_cycle(learned)
    warn_of_positive_rewards(learned)
    counted = "count" in log.has and "trip" in log.has  # which trip made which edges is not known then
    if connections and not counted and (old is None or old.evidence.sample is not None):
        learned = with_connections(reader, learned, old)
    return learned


def _aging(log: Log, options: ReadOptions, old: Experience | None) -> Aging | None:
    """How the observations of a log, and of an older experience, are weighted."""
    before = None if old is None else old.aging
    if before is not None and options.half_life == before.half_life:
        return before
    own = None if options.half_life is None else Aging(duration(options.half_life, log.time))
    return own if old is None else common_aging(before, own)


def _summary(experience: Experience, counts: Counts, old: Experience | None) -> LogSummary:
    before = old.summary if old is not None else LogSummary(None, 0, 0, 0)
    return LogSummary(
        trips=None if counts.trips is None else counts.trips + (before.trips or 0),
        transitions=counts.transitions + before.transitions,
        states=len(experience.states),
        edges=len(experience.source),
        uncertain=int(np.sum(np.bincount(experience.pair()) > 1)),
        skipped=counts.skipped + before.skipped,
    )
