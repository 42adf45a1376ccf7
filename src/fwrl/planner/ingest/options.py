"""How a log is read: the options of `fwrl.fit` that concern reading, in one value."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fwrl.errors import OptionError
from fwrl.planner.aging import Aging
from fwrl.planner.ingest.period import AROUND, Moment, Period, hours_around
from fwrl.planner.min_trips import check_min_trips

Shape = Literal["transitions", "visits", "trajectories"]
SHAPES: tuple[Shape, ...] = ("transitions", "visits", "trajectories")
MISSING = ("", "NA", "N/A", "<NA>", "NULL", "null")  # texts of CSV that mean no value
ELAPSED = "elapsed"
DECIMALS = (".", ",")
UTF8 = "utf-8"


@dataclass(frozen=True)
class CellOptions:
    """Which columns are coordinates, and how they become cells.

    Attributes:
        columns: Two columns of coordinates, or four: those of a state and those of the next state.
        width: Side of square cells; None to choose it from the data.
        resolution: H3 resolution of hexagons; None for squares, or to choose it from the data.

    """

    columns: tuple[str, ...]
    width: float | None = None
    resolution: int | None = None

    def __post_init__(self) -> None:
        if len(self.columns) not in (2, 4):
            raise OptionError(
                "expected two columns of coordinates as cells, or four (of a state and of the next), "
                f"got {len(self.columns)}"
            )
        if self.width is not None and self.resolution is not None:
            raise OptionError("cells are either squares of a width or hexagons of a resolution; leave one out")
        if self.width is not None and not 0 < self.width < float("inf"):
            raise OptionError(f"expected a positive width of cells, got {self.width:g}")
        if self.resolution is not None and not 0 <= self.resolution <= 15:
            raise OptionError(f"expected an H3 resolution from 0 to 15, got {self.resolution}")


@dataclass(frozen=True)
class ReadOptions:
    """The options of `fwrl.fit` that concern reading, by the same names, and what files turn out to need.

    Attributes:
        half_life: As in `fwrl.fit`, or the aging of an experience that the log is added to.
        serial: Whether to read CSV with one thread, which line breaks inside quotes need.
        one_line_ending: Whether to rewrite line endings, which files that mix them need.

    """

    columns: Mapping[str, str] = field(default_factory=dict)
    shape: Shape | None = None
    cost: str | None = None
    cells: Sequence[str] | None = None
    cell_width: float | None = None
    resolution: int | None = None
    since: Moment | None = None
    until: Moment | None = None
    hours: str | None = None
    weekdays: str | None = None
    at: str | None = None
    around: str = AROUND
    min_trips: int = 1
    half_life: str | float | Aging | None = None
    header: bool | None = None
    missing: Sequence[str] = MISSING
    encoding: str = UTF8
    decimal: str = "."
    dates: str | None = None
    skip_bad: bool = False
    serial: bool = False
    one_line_ending: bool = False

    def __post_init__(self) -> None:
        if self.shape is not None and self.shape not in SHAPES:
            raise OptionError(f"expected shape to be one of {', '.join(SHAPES)}, got {self.shape!r}")
        if self.cost not in (None, ELAPSED):
            raise OptionError(
                f"expected cost to be {ELAPSED!r}, got {self.cost!r}; a column of costs is named with "
                "columns={'cost': ...}"
            )
        if self.decimal not in DECIMALS:
            raise OptionError(f"expected '.' or ',' as decimal, got {self.decimal!r}")
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise OptionError(f"expected an encoding such as utf-8, cp1252 or latin-1, got {self.encoding!r}") from None

        check_min_trips(self.min_trips)
        if self.at is not None and self.hours is not None:
            raise OptionError("hours and a time of day can't be combined; leave one out")
        if self.at is None and self.around != AROUND:
            raise OptionError("a time around the hour needs the time of day: say which with at")
        _ = self.kept_hours  # checked

        if self.cells is None and (self.cell_width is not None or self.resolution is not None):
            raise OptionError("a width or a resolution of cells needs cells: say which columns are coordinates")
        if self.cells is not None:
            _ = self.coordinates  # checked

    @property
    def coordinates(self) -> CellOptions | None:
        """Which columns are coordinates, and how they become cells; None where states are names."""
        return None if self.cells is None else CellOptions(tuple(self.cells), self.cell_width, self.resolution)

    @property
    def period(self) -> Period:
        """Which times to keep."""
        return Period(self.since, self.until, self.kept_hours, self.weekdays)

    @property
    def kept_hours(self) -> str | None:
        """Which hours of the day to keep; None for all."""
        return self.hours if self.at is None else hours_around(self.at, self.around)

    @property
    def is_utf8(self) -> bool:
        """Whether text files are in UTF-8."""
        return codecs.lookup(self.encoding).name == UTF8

    @property
    def has_header(self) -> bool:
        """Whether CSV files have a line of column names: unless `columns` are given by number only."""
        if self.header is not None:
            return self.header
        given = [*self.columns.values(), *(self.cells or ())]
        return not given or not all(text.removeprefix("#").isdecimal() for text in given)
