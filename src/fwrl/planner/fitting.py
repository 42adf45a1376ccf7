"""From a log of past trips to a planner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwrl.planner.ingest.learning import MEMORY, learned
from fwrl.planner.ingest.reader import Progress
from fwrl.planner.merging import merged
from fwrl.planner.planner import Planner
from fwrl.planner.positive_cycles import refuse_positive_cycle


def fit(
    source: Any,
    *,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    into: Planner | None = None,
    memory: str = MEMORY,
    connections: bool = True,
    progress: Progress | None = None,
    again: bool = False,
) -> Planner:
    """Learn a planner from a log of past trips.

    Rows are transitions (columns `state` and `next_state`) or visits (`trip`, `time` and `state`). Optional columns
    are `action` (default: the next state), `reward` (default: -1), `trip` and `time`.

    Args:
        source: The log: a path, a pattern or a list of them (CSV, Parquet, JSON-lines, also gzipped), an Arrow table,
            a pandas data frame, a NumPy record array, a mapping of columns, or an iterable of episodes or transitions.
        columns: The log's own names for columns, as `{"state": "from"}`.
        skip_bad: Leave out rows that lack a value, and count them; otherwise the first one is an error.
        into: A planner to whose experience the log is added. It is not changed. A trip of visits that goes on in the
            other log is joined.
        memory: The most memory that reading may take, as "1GB": what does not fit is kept on disk meanwhile. The
            experience itself is in memory in any case.
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
    old = into.experience if into is not None else None
    counted = connections and (old is None or old.summary.connected is not None)
    before = old.logs if old is not None else ()
    new = learned(source, columns, skip_bad, memory, counted, progress, again, before)
    if old is None:
        refuse_positive_cycle(new)
        return Planner(new)
    return Planner(merged([old, new], skip_bad))
