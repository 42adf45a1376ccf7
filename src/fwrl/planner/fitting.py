"""From a log of past trips to a planner."""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import MISSING, replace
from typing import Any, Unpack

from fwrl.arguments import check_function, check_kind
from fwrl.planner.ingest.read_log import MEMORY, read_log
from fwrl.planner.ingest.read_options import FitOptions, MemorySize, read_options, reading_options
from fwrl.planner.ingest.reader import Progress
from fwrl.planner.merge import merged
from fwrl.planner.planner import Planner
from fwrl.planner.policy import refuse_positive_cycle, warn_of_positive_rewards


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
