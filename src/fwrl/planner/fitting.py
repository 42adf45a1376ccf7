"""From a log of past trips to a planner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fwrl.planner.ingest.learning import MEMORY, learned
from fwrl.planner.ingest.options import MISSING, UTF8, ReadOptions, Shape
from fwrl.planner.ingest.period import AROUND, Moment
from fwrl.planner.ingest.reader import Progress
from fwrl.planner.merging import merged
from fwrl.planner.planner import Planner
from fwrl.planner.positive_cycles import refuse_positive_cycle, warn_of_positive_rewards


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
    at: str | None = None,
    around: str = AROUND,
    min_trips: int = 1,
    half_life: str | float | None = None,
    header: bool | None = None,
    missing: Sequence[str] = MISSING,
    encoding: str = UTF8,
    decimal: str = ".",
    dates: str | None = None,
    skip_bad: bool = False,
    into: Planner | None = None,
    memory: str = MEMORY,
    connections: bool = True,
    progress: Progress | None = None,
    again: bool = False,
) -> Planner:
    """Learn a planner from a log of past trips.

    Rows are transitions (columns `state` and `next_state`) or visits (`trip`, `time` and `state`). Optional columns
    are `action` (default: the next state), `reward` (default: -1) or `cost`, `trip` and `time`, and `terminated` (0 or
    1): the next state of a transition, or the state of a visit, is terminal, a trap unless it is the goal. Rows of
    transitions may be counted already (`count`), as `Planner.edges` gives them.

    Args:
        source: The log: a path, a folder, a pattern, an address such as s3://... or a list of them (CSV, Parquet, JSON
            or Arrow, also packed), an open file, an Arrow table, reader or data set, a pandas or polars data frame, a
            NumPy record array, a mapping of columns, a Minari dataset, or an iterable of episodes, trajectories (lists
            of states) or transitions.
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
        hours: Hours of the day to keep, as "7-9" (from 7:00 to before 9:00) or "8:30-9:15".
        weekdays: Days of the week to keep, as "mon-fri" or "sat,sun".
        at: A time of day, as "08:30", to plan for: keep what was logged around it. `summary.trips` says how many trips
            that is.
        around: How far before and after `at`.
        min_trips: Keep only steps that at least this many distinct trips of the log made.
        half_life: Age at which an observation counts half, as "30d" (or s, min, h, w), or a number where times are
            numbers. Ages are counted from the newest time. Default: that of `into`, or no aging.
        header: Whether CSV files have a line of column names; by default they have, unless all `columns` are given by
            number.
        missing: Texts of CSV files that mean no value, unless they are in quotes.
        encoding: The encoding of text files, as "cp1252", unless a byte order mark tells it.
        decimal: What stands before the decimals of numbers in text: "." or ",".
        dates: How dates in text are written, where not as 2024-03-31: `day-first`, `month-first`, or a format such as
            "%d.%m.%y %H:%M".
        skip_bad: Leave out rows that lack a value, and count them; otherwise the first one is an error.
        into: A planner to whose experience the log is added. It is not changed. A trip of visits that goes on in the
            other log is joined.
        memory: The most memory that reading may take, as "1GB": what does not fit is kept on disk meanwhile. The edges
            themselves, about 100 bytes each, must fit; otherwise the error names their size.
        connections: Count the pairs of states that are connected. If they are not counted for one log, they cannot be
            counted when others are added.
        progress: Called with the name of the current step and the part of it that is done, from 0 to 1.
        again: Read a file although one with the same content is part of the log, or was read into `into`; otherwise
            that is an error.

    Returns:
        The planner.

    >>> planner = fit([("dock", "aisle"), ("aisle", "shelf"), ("gate", "aisle")])
    >>> planner.plan("gate", "shelf").states
    ('gate', 'aisle', 'shelf')

    """
    options = ReadOptions(
        columns=columns or {},
        shape=shape,
        cost=cost,
        cells=cells,
        cell_width=cell_width,
        resolution=resolution,
        since=since,
        until=until,
        hours=hours,
        weekdays=weekdays,
        at=at,
        around=around,
        min_trips=min_trips,
        half_life=half_life,
        header=header,
        missing=missing,
        encoding=encoding,
        decimal=decimal,
        dates=dates,
        skip_bad=skip_bad,
    )
    old = into.experience if into is not None else None
    if old is not None and half_life is None:
        options = replace(options, half_life=old.aging)
    counted = connections and (old is None or old.summary.connected is not None)
    found = learned(source, options, memory=memory, connections=counted, progress=progress, again=again, into=old)
    if old is None:
        refuse_positive_cycle(found)
    else:
        found = merged([old, found], skip_bad)
    warn_of_positive_rewards(found)
    return Planner(found)
