"""The errors and warnings that fwrl raises.

Every message states the problem and a remedy. `FwrlError` is a `ValueError`, so callers may catch either. The
command line prints the message and exits with code 2, without a traceback.

One more child of `FwrlError` carries planner types and is defined there: `fwrl.planner.weak_spots.NoRouteError`.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
from collections.abc import Iterable
from pathlib import Path

MOST_FILES = 1000  # files of a folder to search for close matches


class FwrlError(ValueError):
    """Unusable input. Parent of all errors that fwrl raises on purpose.

    >>> import fwrl
    >>> try:
    ...     fwrl.load_world("h-maize")
    ... except fwrl.FwrlError as error:
    ...     print(str(error).partition(" Known")[0])
    unknown world 'h-maize'; did you mean 'h-maze'?
    """


class UnknownNameError(FwrlError, KeyError):
    """An unknown name of a world, agent, option or experiment; the message lists close matches."""

    __str__ = ValueError.__str__


class MapError(FwrlError):
    """A mistake in a map or scenario; the message names file, line and column."""


class FileError(FwrlError):
    """A file that is missing, damaged, not fwrl's, in a different format version, or not writable."""


class OptionError(FwrlError):
    """An option out of range, or options that can't be combined."""


class CompilationError(FwrlError):
    """An agent's function doesn't compile; the message names the line."""


class TaskError(FwrlError):
    """The paper's protocol isn't defined for this world, start or goal."""


class UncertifiedError(FwrlError):
    """Floating point can't certify the values to nine digits, such as in a loop left with probability 1e-12."""


class PositiveCycleError(FwrlError):
    """The rewards have a positive cycle, so no best path exists. The agent that raises this is unchanged.

    Attributes:
        states: the states of the cycle in order; empty if the cycle wasn't traced.
    """

    def __init__(self, message: str, states: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.states = states


class NoPlanError(FwrlError):
    """Nothing that was seen reaches the goal from here.

    Attributes:
        nearest: the reachable state of the switches that differs from the goal in the fewest of them, by name.
    """

    def __init__(self, message: str, nearest: dict[str, int] | None = None) -> None:
        super().__init__(message)
        self.nearest = nearest or {}


class FwrlWarning(UserWarning):
    """Parent of all warnings from fwrl: it did only part of what you asked, or did it slower than possible."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """Make the error for a `name` that isn't `known`; `kind` says what it should name.

    >>> print(unknown_name("agent", "qlcta", ["fwrl", "ql", "qlcat"]))
    unknown agent 'qlcta'; did you mean 'qlcat'? Known: fwrl, ql, qlcat
    """
    names = sorted(known)
    hint = _did_you_mean(str(name), names) or "."
    return UnknownNameError(f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}")


def missing_file(path: str | Path) -> FileError:
    """Make the error for a missing file; it suggests close matches in the same folder.

    >>> print(missing_file("rooms.fwrl"))
    cannot read 'rooms.fwrl': there is no such file
    """
    names: list[str] = []
    with contextlib.suppress(OSError):  # the folder is missing too, or can't be listed
        others = (each for each in itertools.islice(Path(path).parent.iterdir(), MOST_FILES) if each.exists())
        names = sorted(each.name for each in others)
    return FileError(f"cannot read {str(path)!r}: there is no such file{_did_you_mean(Path(path).name, names)}")


def _did_you_mean(name: str, names: list[str]) -> str:
    """Suggest similar names, as the end of a sentence; empty if there are none."""
    folded = {each.casefold(): each for each in names}
    close = [folded[each] for each in difflib.get_close_matches(name.casefold(), folded, n=3)]
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
