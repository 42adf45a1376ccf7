"""Compiled loops that are interpreted until compiling them pays.

Compiling a loop and all that it calls takes seconds; a short run takes less than that interpreted. How long a run will
be is not known beforehand, so a loop is interpreted until that has taken about as long as compiling would, and is
compiled then: at most twice the time of the better choice (the ski-rental rule). Both give the same results, bit for
bit. Code that an earlier process has compiled is used at once.

The interpreted form of a function is its Python function with other names: every compiled function that it calls is
replaced by its own interpreted form.
"""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numba
import numpy as np

PATIENCE = 0.7e-3  # seconds of processor time for each byte of Python's code, about what compiling it takes
BEGUN = 0.05  # share of its patience after which a loop is compiled by another thread, while it goes on interpreted
SLICE = 100  # steps that an interpreted call may take before patience is asked again
MOST_STATES = 2000  # of worlds in which a single interpreted step is short

typeof: Any = numba.typeof  # which has no types
_pending: list[Deferred] = []  # loops that were interpreted in this process and are not compiled yet


class Deferred:
    """A loop in both forms.

    Args:
        loop: The compiled form, which numba compiles when it is first called.
        names: What the interpreted form uses in place of names of the loop's module.
        mark: The file that says that compiled code is cached on disk; None where nothing is cached.
    """

    def __init__(self, loop: Any, names: Mapping[str, Any], mark: Path | None) -> None:
        self.loop = loop
        self._names, self._mark = names, mark
        self._form: tuple[Callable[..., Any], int] | None = None
        self._signature: tuple[Any, ...] | None = None
        self._spent, self._compiling = 0.0, False
        self.compiled = mark is not None and mark.is_file()

    def __call__(self, *arguments: Any) -> Any:
        """Call the form that is due."""
        if not self.due:
            return self._interpret(arguments)
        if not self.compiled:
            self.compile(arguments)
        return self.loop(*arguments)

    @property
    def due(self) -> bool:
        """Whether the compiled form is to be used."""
        return self.compiled or (self.used >= 1.0 and not self._compiling)

    @property
    def used(self) -> float:
        """The share of its patience that a loop has used up."""
        patience = PATIENCE * self._interpreted[1]
        return self._spent / patience if patience > 0.0 else 1.0

    @property
    def _interpreted(self) -> tuple[Callable[..., Any], int]:
        """The interpreted form, and the bytes of code of all functions that it calls."""
        if self._form is None:
            made: dict[int, Any] = {}
            form = _interpreted(self.loop, self._names, made)
            self._form = form, sum(len(each.__code__.co_code) for each in made.values())
        return self._form

    def compile(self, arguments: tuple[Any, ...] | None = None) -> None:
        """Compile for the types of `arguments`, or of those that were interpreted last."""
        self._compiling = True
        try:
            signature = self._signature if arguments is None else _types_of(arguments)
            self.loop.compile(signature)
        finally:
            self._compiling = False
        self.compiled = True
        if self in _pending:
            _pending.remove(self)
        if self._mark is not None:
            self._mark.touch()

    def _interpret(self, arguments: tuple[Any, ...]) -> Any:
        if self._signature is None:
            self._signature = _types_of(arguments)
            _pending.append(self)
        begin = time.thread_time()
        with np.errstate(all="ignore"):  # compiled arithmetic gives inf and nan without warnings
            result = self._interpreted[0](*arguments)
        self._spent += time.thread_time() - begin
        return result


def is_interpreted(loop: Any) -> bool:
    """Whether the next call of a loop is interpreted."""
    return isinstance(loop, Deferred) and not loop.due


def compile_pending() -> None:
    """Compile the loops in use, the most used first: for another thread, while they go on interpreted.

    What was called now and then is left, since it would hold up others that have to be compiled.
    """
    while pending():
        max(_pending, key=lambda loop: loop.used).compile()  # which takes it off the list


def pending() -> bool:
    """Whether a loop in use is interpreted in this process."""
    return any(loop.used >= BEGUN for loop in _pending)


def compile_at_once() -> None:
    """Interpret no loop from now on: for long work, measurements and tests."""
    global PATIENCE
    PATIENCE = 0.0


def interpreted(function: Any, names: Mapping[str, Any] | None = None) -> Callable[..., Any]:
    """The interpreted form of a compiled function.

    Args:
        function: A compiled function.
        names: Replaces names of its module.

    Returns:
        A Python function with the same results.
    """
    form: Callable[..., Any] = _interpreted(function, names or {}, {})
    return form


def _interpreted(function: Any, names: Mapping[str, Any], made: dict[int, Any]) -> Any:
    if not hasattr(function, "py_func"):
        return function
    if id(function) not in made:
        python = function.py_func
        used: dict[str, Any] = {"__builtins__": __builtins__}
        made[id(function)] = types.FunctionType(
            python.__code__, used, python.__name__, python.__defaults__, python.__closure__
        )
        known = {**python.__globals__, **names}
        used |= {name: _interpreted(known[name], {}, made) for name in _names_of(python.__code__) if name in known}
    return made[id(function)]


def _names_of(code: types.CodeType) -> set[str]:
    """The names that code uses, that of comprehensions included."""
    inner = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return set(code.co_names).union(*map(_names_of, inner))


def _types_of(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(typeof(each) for each in arguments)
