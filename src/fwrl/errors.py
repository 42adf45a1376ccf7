"""The errors and warnings that fwrl raises.

Every message states the problem and a remedy. `FwrlError` is a `ValueError`, so callers may catch either. The
command line prints the message and exits with code 2, without a traceback.

One more child of `FwrlError` carries planner types and is defined there: `fwrl.planner.unreachable.NoRouteError`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FwrlError(ValueError):
    """An input that cannot be used. Parent of all errors that fwrl raises on purpose."""


class UnknownNameError(FwrlError, KeyError):
    """An unknown name of a world, agent, option or experiment; the message lists close matches."""

    __str__ = ValueError.__str__


class MapError(FwrlError):
    """A map or scenario with a fault; the message names file, line and column."""


class FileError(FwrlError):
    """A file that is missing, damaged, of another program or of a newer version, or that cannot be written."""


class OptionError(FwrlError):
    """An option out of range, or options that cannot be combined."""


class CompilationError(FwrlError):
    """An agent's function that cannot be compiled; the message names the line."""


class TaskError(FwrlError):
    """A world, start or goal for which the paper's protocol is not defined."""


class PositiveCycleError(FwrlError):
    """Rewards with a positive cycle, for which no best path exists. An agent that raises it is unchanged.

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
    close = difflib.get_close_matches(str(name), names, n=3)
    hint = f"; did you mean {' or '.join(repr(c) for c in close)}?" if close else "."
    return UnknownNameError(f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}")
