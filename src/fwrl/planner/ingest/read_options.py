"""Options for reading logs, the columns a log can have, and errors that name the option that helps."""

from __future__ import annotations

import codecs
import dataclasses
import datetime
import re
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from fwrl.arguments import check_list, check_real, check_whole
from fwrl.arguments import shown as shown_value
from fwrl.errors import FwrlError, OptionError, unknown_name

if TYPE_CHECKING:
    from fwrl.planner.transition_counts import Aging

FitOption = Literal[
    "columns",
    "skip_bad",
    "memory",
    "allow_duplicates",
    "shape",
    "visits",
    "header",
    "encoding",
    "decimal",
    "dates",
    "cells",
    "cost",
]
REMEDIES: dict[FitOption, str] = {
    "columns": "name the columns with columns={'state': ..., 'next_state': ...}, or give their numbers if there's no "
    "header",
    "skip_bad": "fix it, or skip such rows with skip_bad=True",
    "memory": "allow more with memory=...",
    "allow_duplicates": "leave it out, or count it again with allow_duplicates=True",
    "shape": "set shape='trajectories' or shape='transitions'",
    "visits": "give four, or set shape='visits'",
    "header": "set header=True, or header=False and columns by number if there's no header",
    "encoding": "set encoding, for example to 'cp1252' or 'latin-1'",
    "decimal": "set decimal=',' for decimal commas",
    "dates": "set dates to 'day-first', 'month-first' or a format such as '%d.%m.%y %H:%M'",
    "cost": "drop one of them with an empty name: columns={'reward': ''}",
    "cells": "turn them into states with cells=('lat', 'lon') or cells=('x', 'y'), and name the columns of trips and "
    "times if need be: columns={'trip': 'vehicle', 'time': 'timestamp'}",
}


MemorySize = int | str  # bytes, or text such as "4GB"
PREFIXES = ("", "K", "M", "G", "T")
UNITS = {"": 1} | {f"{prefix}B": 1000**k for k, prefix in enumerate(PREFIXES)}
UNITS |= {f"{prefix}IB": 1024**k for k, prefix in enumerate(PREFIXES) if prefix}
SIZE = re.compile(r"\s*(\d{1,18}(?:\.\d*)?)\s*([A-Za-z]*)\s*")


class LogError(FwrlError):
    """A log that can't be read with these options of `fit`, but could be with others.

    Attributes:
        problem: The message without the remedy.
        option: The option of `fit` that helps.
    """

    def __init__(self, problem: str, option: FitOption) -> None:
        super().__init__(f"{problem}; {REMEDIES[option]}")
        self.problem, self.option = problem, option

    def __reduce__(self) -> tuple[type[LogError], tuple[str, FitOption]]:
        return type(self), (self.problem, self.option)


class NoTransitionsError(FwrlError):
    """The log has no transitions."""


COLUMNS = ("state", "next_state", "action", "reward", "trip", "time", "count", "terminated")
BEST = "best"  # one more column, for edges that are already counted
LABELS = ("state", "next_state", "action", "trip")
Moment = str | float | datetime.datetime | datetime.date
Shape = Literal["transitions", "visits", "trajectories"]
SHAPES: tuple[Shape, ...] = ("transitions", "visits", "trajectories")
MISSING = ("", "NA", "N/A", "<NA>", "NULL", "null")  # CSV texts for a missing value
ELAPSED = "elapsed"
AROUND = "30min"  # on either side of a time of day
DECIMALS = (".", ",")
UTF8 = "utf-8"
MOST_TRIPS = 2**62  # a log can count

# Options with a type of their own, and what to call it.
TYPES: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("hours", "weekdays", "at", "dates"), ((str, type(None)), "text")),
    **dict.fromkeys(("encoding", "decimal"), (str, "text")),
    "header": ((bool, type(None)), "True or False"),
    "skip_bad": (bool, "True or False"),
}


def option(default: Any, text: str, factory: Any = dataclasses.MISSING) -> Any:
    """A public option, with its text for `fwrl.fit`, the command line and the docs."""
    return field(default=default, default_factory=factory, metadata={"help": text})


@dataclass(frozen=True)
class ReadOptions:
    """Options for reading a log. `fwrl.fit`, the commands and the docs take them from here."""

    columns: Mapping[str, str] = option(
        dataclasses.MISSING,
        "Say what the log calls our columns: state=from,next_state=to, or give column numbers from 1. You can "
        "join columns into a label (state=station+line), compute numbers (reward=-distance), and drop a column "
        "with an empty name.",
        factory=dict,
    )
    shape: Shape | None = option(
        None, "Row layout if it can't be inferred: transitions or visits; in Python also trajectories."
    )
    cost: str | None = option(
        None, "Use elapsed to make a step cost the time to the next visit, in seconds or the log's unit."
    )
    cells: Sequence[str] | None = option(
        None,
        "Turn coordinates into states: name two columns, or four in transitions. Latitude and longitude become "
        "hexagons (H3; needs the extra geo), other coordinates squares.",
    )
    cell_width: float | None = option(None, "Make square cells this wide. Default: chosen from the data.")
    resolution: int | None = option(
        None, "Make hexagons of this H3 resolution, 0 to 15. Default: chosen from the data."
    )
    since: Moment | None = option(None, "Keep only data from this moment on: '2024-03-31 17:30', or a number.")
    until: Moment | None = option(None, "Keep only data before this moment.")
    hours: str | None = option(None, "Keep only these hours of the day: 7-9 (before 9:00), or 8:30-9:15.")
    weekdays: str | None = option(None, "Keep only these days of the week: mon-fri, or sat,sun.")
    at: str | None = option(None, "Plan for this time of day, such as 08:30: keep only data from around it.")
    around: str = option(AROUND, "With --at, keep data up to this long before and after, such as 30min.")
    min_trips: int = option(1, "Keep only steps that at least this many trips took.")
    half_life: str | float | Aging | None = option(
        None,
        "Halve an observation's weight for every 30d (s, min, h, d, w) of age, or for a number if times are "
        "numbers. Ages are measured from the newest time.",
    )
    header: bool | None = option(
        None, "Say whether CSV files start with column names. Default: yes, unless you number all columns."
    )
    missing: Sequence[str] = option(
        MISSING, "Treat these unquoted CSV texts as missing. Default: empty, NA, N/A, <NA>, NULL, null."
    )
    encoding: str = option(
        UTF8, "Read text files in this encoding, such as cp1252, unless they have a byte order mark."
    )
    decimal: str = option(".", "Decimal separator in text, . or ,")
    dates: str | None = option(
        None, "Read dates not written like 2024-03-31 as day-first, month-first, or in a format like '%d.%m.%y %H:%M'."
    )
    skip_bad: bool = option(
        False, "Skip rows with missing or unreadable values and count them, instead of stopping at the first."
    )

    def __post_init__(self) -> None:
        if self.shape is not None and self.shape not in SHAPES:
            raise OptionError(f"expected shape to be one of {', '.join(SHAPES)}, got {self.shape!r}")
        if self.cost not in (None, ELAPSED):
            raise OptionError(
                f"cost can only be {ELAPSED!r}, not {self.cost!r}; for a column of costs, use columns={{'cost': ...}}"
            )
        if self.decimal not in DECIMALS:
            raise OptionError(f"expected '.' or ',' as decimal, got {self.decimal!r}")
        try:
            "a".encode(self.encoding)  # unlike codecs.lookup, refuses codecs that aren't of text, such as base64
        except (LookupError, ValueError):
            raise OptionError(f"expected an encoding such as utf-8, cp1252 or latin-1, got {self.encoding!r}") from None
        check_whole("min_trips", self.min_trips, 1, MOST_TRIPS)
        if self.at is not None and self.hours is not None:
            raise OptionError("hours and a time of day can't be combined; leave one out")
        if self.at is None and self.around != AROUND:
            raise OptionError("around needs a time of day: set at")
        if self.cells is None and (self.cell_width is not None or self.resolution is not None):
            raise OptionError("a cell width or resolution needs coordinates: name their columns with cells")
        if self.cells is not None and len(self.cells) not in (2, 4):
            raise OptionError(
                f"cells need two columns of coordinates, or four (of state and next state), not {len(self.cells)}"
            )
        if self.cell_width is not None and self.resolution is not None:
            raise OptionError("square cells have a width, hexagons a resolution; leave one of the two out")
        if self.cell_width is not None and not 0 < self.cell_width < float("inf"):
            raise OptionError(f"expected a positive cell width, got {self.cell_width:g}")
        if self.resolution is not None and not 0 <= self.resolution <= 15:
            raise OptionError(f"expected an H3 resolution from 0 to 15, got {self.resolution}")

    @property
    def is_utf8(self) -> bool:
        """Whether the encoding is UTF-8, under any of its names."""
        return codecs.lookup(self.encoding).name == UTF8

    @property
    def has_header(self) -> bool:
        """Whether CSV files start with column names: by default unless all columns are given by number."""
        if self.header is not None:
            return self.header
        given = [*self.columns.values(), *(self.cells or ())]
        return not given or not all(text.removeprefix("#").isdecimal() for text in given)


class FitOptions(TypedDict, total=False):
    """The public options of `ReadOptions`, so that editors and mypy can check calls of `fwrl.fit`."""

    columns: Mapping[str, str]
    shape: Shape | None
    cost: str | None
    cells: Sequence[str] | None
    cell_width: float | None
    resolution: int | None
    since: Moment | None
    until: Moment | None
    hours: str | None
    weekdays: str | None
    at: str | None
    around: str
    min_trips: int
    half_life: str | float | Aging | None
    header: bool | None
    missing: Sequence[str]
    encoding: str
    decimal: str
    dates: str | None
    skip_bad: bool


def reading_options() -> dict[str, Field[Any]]:
    """The public options by name, with their help text in `metadata["help"]`."""
    return {each.name: each for each in fields(ReadOptions) if "help" in each.metadata}


def read_options(given: Mapping[str, Any]) -> ReadOptions:
    """Check options given by name; the error for an unknown name suggests close matches."""
    if not isinstance(given, Mapping):
        raise OptionError(f"expected options by name, as {{'decimal': ','}}, got {given!r}")
    known = reading_options()
    for name in given:
        if name not in known:
            raise OptionError(str(unknown_name("option", name, known)))
    if not isinstance(given.get("columns") or {}, Mapping):
        raise OptionError(f"expected columns by name, as {{'state': 'stop'}}, got {given['columns']!r}")
    _check_types(given)
    return ReadOptions(**{**given, "columns": given.get("columns") or {}})


def _check_types(given: Mapping[str, Any]) -> None:
    """Check the types of options given by name. Where they are used, their values are checked."""
    for name, value in given.items():
        kinds, words = TYPES.get(name, (object, ""))
        if not isinstance(value, kinds):
            raise OptionError(f"expected {name} as {words}, got {shown_value(value)}")
    for name in ("cells", "missing"):
        if given.get(name) is not None:
            check_list(name, given[name], "texts")
    for name, theirs in (given.get("columns") or {}).items():
        if not isinstance(theirs, str):
            raise OptionError(f"expected the log's name for {name!r} as text, got {shown_value(theirs)}")
    if given.get("cell_width") is not None:
        check_real("cell_width", given["cell_width"])
    if given.get("resolution") is not None:
        check_whole("resolution", given["resolution"])


def memory_size(memory: MemorySize) -> int:
    """Convert a size to bytes.

    >>> memory_size("1.5 GB"), memory_size("2GiB"), memory_size(1000)
    (1500000000, 2147483648, 1000)
    """
    found = SIZE.fullmatch(memory if isinstance(memory, str) else shown_value(memory))
    unit = UNITS.get(found[2].upper()) if found else None
    if found is None or unit is None:
        raise OptionError(f"expected an amount of memory such as 500MB or 2GB, got {shown_value(memory)}")
    return int(float(found[1]) * unit)
