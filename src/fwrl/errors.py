"""What fwrl says when an input cannot be used.

Every message says what was expected, what came and what to do next. `FwrlError` is a `ValueError`, so
callers who do not know fwrl catch it all the same; the command line turns it into exit code 2 without a
traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class FwrlError(ValueError):
    """An input that cannot be used; the message is written for the person who gave it."""


class UnknownNameError(FwrlError, KeyError):
    """A name that is not known; the message carries close matches."""

    __str__ = ValueError.__str__


class MapError(FwrlError):
    """A map that cannot be read; the message names file, line and column."""


class FileError(FwrlError):
    """A saved file that is missing, damaged, foreign or newer than this fwrl."""


class OptionError(FwrlError):
    """An option out of range, or options that do not go together."""


class TaskError(FwrlError):
    """A world on which the paper's protocol makes no sense."""


class PositiveCycleError(FwrlError):
    """A reward that would close a cycle worth more than nothing; the agent is unchanged.

    `states` go round the cycle, where it was looked for.
    """

    def __init__(self, message: str, states: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.states = states


class FwrlWarning(UserWarning):
    """Something works, but not as well as it could."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UnknownNameError:
    """The error for a `name` that is none of the `known` ones.

    >>> print(unknown_name("agent", "qlcta", ["fwrl", "ql", "qlcat"]))
    unknown agent 'qlcta'; did you mean 'qlcat'? Known: fwrl, ql, qlcat
    """
    names = sorted(known)
    close = difflib.get_close_matches(str(name), names, n=3)
    hint = f"; did you mean {' or '.join(repr(c) for c in close)}?" if close else "."
    return UnknownNameError(f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}")
