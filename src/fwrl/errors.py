"""The errors and warnings that fwrl raises.

Every message states the problem and a remedy. `FwrlError` is a `ValueError`, so callers may catch either. The
command line prints the message and exits with code 2, without a traceback.

One more child of `FwrlError` carries planner types and is defined there: `fwrl.planner.unreachable.NoRouteError`.
"""

from __future__ import annotations

import contextlib
import difflib
import itertools
from collections.abc import Iterable
from pathlib import Path

MOST_FILES = 1000  # of a folder that are looked through for close matches


class FwrlError(ValueError):
    """An input that cannot be used. Parent of all errors that fwrl raises on purpose."""


class UnknownNameError(FwrlError, KeyError):
    """An unknown name of a world, agent, option or experiment; the message lists close matches."""

    __str__ = ValueError.__str__


class MapError(FwrlError):
    """A map or scenario with a fault; the message names file, line and column."""


class FileError(FwrlError):
    """A file that is missing, damaged, of another program or of another format version, or that cannot be written."""


class OptionError(FwrlError):
    """An option out of range, or options that cannot be combined."""


class CompilationError(FwrlError):
    """An agent's function that cannot be compiled; the message names the line."""


class TaskError(FwrlError):
    """A world, start or goal for which the paper's protocol is not defined."""


class UncertifiedError(FwrlError):
    """Values that floating point can't certify to nine digits, as where a loop is left once in a million million."""


class PositiveCycleError(FwrlError):
    """Rewards with a positive cycle, for which no best path exists. An agent that raises it is unchanged.

    Args:
        message: The problem and a remedy.

    Attributes:
        states: The states of the cycle in order; empty where the cycle was not traced.
    """

    def __init__(self, message: str, states: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.states = states


class FwrlWarning(UserWarning):
    """Parent of all warnings that fwrl issues: a request was carried out in part, or more slowly than possible."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """The error for a `name` that is not among the `known` ones; `kind` is what it names.

    >>> print(unknown_name("agent", "qlcta", ["fwrl", "ql", "qlcat"]))
    unknown agent 'qlcta'; did you mean 'qlcat'? Known: fwrl, ql, qlcat
    """
    names = sorted(known)
    hint = _did_you_mean(str(name), names) or "."
    return UnknownNameError(f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}")


def missing_file(path: str | Path) -> FileError:
    """The error for a `path` at which there is no file; it lists close matches in the same folder.

    >>> print(missing_file("rooms.fwrl"))
    cannot read 'rooms.fwrl': there is no such file
    """
    names: list[str] = []
    with contextlib.suppress(OSError):  # no such folder either, or one that may not be listed
        names = sorted(each.name for each in itertools.islice(Path(path).parent.iterdir(), MOST_FILES))
    return FileError(f"cannot read {str(path)!r}: there is no such file{_did_you_mean(Path(path).name, names)}")


def _did_you_mean(name: str, names: list[str]) -> str:
    """The end of a sentence that lists the names which are close to one; empty if none is."""
    close = difflib.get_close_matches(name, names, n=3)
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""
