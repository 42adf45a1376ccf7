"""Reading again in another way where DuckDB cannot read a CSV file at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from fwrl.planner.ingest.errors import BrokenLinesError, MixedLinesError
from fwrl.planner.ingest.options import ReadOptions

T = TypeVar("T")


def read_in_some_way(read: Callable[[ReadOptions], T], options: ReadOptions) -> T:
    """What `read` gives with `options`, or with those that the lines of the files turn out to need."""
    try:
        return read(options)
    except BrokenLinesError:
        if options.serial:
            raise
        return read_in_some_way(read, replace(options, serial=True))
    except MixedLinesError:
        if options.one_line_ending:
            raise
        return read_in_some_way(read, replace(options, one_line_ending=True))
