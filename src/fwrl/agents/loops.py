"""The verbs of an agent as compiled loops call them.

`act`, `observe` and `action_values` below dispatch to the functions registered for the type of an agent's tables. Numba
resolves them when it compiles a loop, so one loop serves every agent and calls the same functions as the agent's Python
methods.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba.core.errors import NumbaError
from numba.extending import overload
from numpy.typing import NDArray

from fwrl.errors import CompilationError
from fwrl.kernels.jit import INNER, PACKAGE, borrowed, compile_for, compiled

LEARNED, POSITIVE_CYCLE, PENDING = 0, 1, 2  # results of `observe`


class Verbs(NamedTuple):
    """The compiled functions for one type of tables.

    Attributes:
        tables: the NamedTuple class.
        act: (tables, state, rng) -> action.
        observe: (tables, state, action, reward, next state, arrived) -> LEARNED, POSITIVE_CYCLE or PENDING.
        action_values: (tables, state, goal, values (A,) to fill) -> None.
        compiled: False if these are Python functions, so that loops over them aren't compiled.
    """

    tables: type
    act: Callable[[Any, int, np.random.Generator], int]
    observe: Callable[[Any, int, int, float, int, bool], int]
    action_values: Callable[[Any, int, int, NDArray[np.float64]], None]
    compiled: bool = True

    @property
    def foreign(self) -> tuple[Path, ...]:
        """The source files outside fwrl."""
        return _foreign(self.act, self.observe, self.action_values)


@functools.cache  # every call of `observe` asks
def _foreign(*verbs: Callable[..., Any]) -> tuple[Path, ...]:
    files = {Path(inspect.unwrap(verb).__code__.co_filename) for verb in verbs}
    return tuple(sorted(file for file in files if PACKAGE not in file.parents))


_VERBS: dict[type, Verbs] = {}


def register_verbs(
    tables: type,
    act: Callable[..., int],
    observe: Callable[..., int],
    action_values: Callable[..., None],
    *,
    compiled: bool = True,
) -> Verbs:
    """Register the compiled functions of an agent for the type of its tables.

    Args:
        tables: a NamedTuple class of arrays, or of such NamedTuples, with a field `episode`.
        act: (tables, state, rng) -> action.
        observe: (tables, state, action, reward, next state, arrived) -> `LEARNED`; `POSITIVE_CYCLE` if it changed
            nothing; `PENDING` if it learned, but the agent's method `flush` must be called before it acts again.
        action_values: (tables, state, goal, values) -> None; fills `values` (A,).
        compiled: False for Python functions, which numba must not compile.

    Returns:
        The value for the agent's class attribute `verbs`.
    """
    verbs = Verbs(tables, act, observe, action_values, compiled)
    _VERBS[tables] = verbs
    return verbs


def act(agent: Any, s: int, rng: np.random.Generator) -> int:
    """Return the action that the agent takes at `s`."""
    return _VERBS[type(agent)].act(agent, s, rng)


def observe(agent: Any, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn from one step: LEARNED, POSITIVE_CYCLE or PENDING."""
    return _VERBS[type(agent)].observe(agent, s, a, r, next_s, arrived)


def action_values(agent: Any, s: int, g: int, values: NDArray[np.float64]) -> None:
    """Fill `values` (A,) with the action values at `s` for the goal `g`."""
    _VERBS[type(agent)].action_values(agent, s, g, values)


# Numba requires the same annotations on an overload and on the function it returns.
@overload(act, jit_options=INNER)
def _overload_act(agent: Any, s: Any, rng: Any) -> Any:
    verb = _VERBS[agent.instance_class].act

    def call(agent: Any, s: Any, rng: Any) -> Any:
        return verb(borrowed(agent), s, rng)

    return call


@overload(observe, jit_options=INNER)
def _overload_observe(agent: Any, s: Any, a: Any, r: Any, next_s: Any, arrived: Any) -> Any:
    verb = _VERBS[agent.instance_class].observe

    def call(agent: Any, s: Any, a: Any, r: Any, next_s: Any, arrived: Any) -> Any:
        return verb(borrowed(agent), s, a, r, next_s, arrived)

    return call


@overload(action_values, jit_options=INNER)
def _overload_values(agent: Any, s: Any, g: Any, values: Any) -> Any:
    verb = _VERBS[agent.instance_class].action_values

    def call(agent: Any, s: Any, g: Any, values: Any) -> Any:
        verb(borrowed(agent), s, g, values)

    return call


class Loop:
    """A function over verbs, compiled once for fwrl's own agents and once for each foreign source file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._own = compiled(function)
        self._foreign: dict[tuple[Path, ...], Callable[..., Any]] = {}
        self._ready: set[type] = set()  # the tables it's compiled for

    def of(self, verbs: Verbs) -> Callable[..., Any]:
        """Return the function for these verbs; after an edit of a foreign file, the next process recompiles."""
        if not verbs.compiled:
            return self._function
        loop, foreign = self._own, verbs.foreign
        if foreign:
            if foreign not in self._foreign:
                sources = foreign if all(file.is_file() for file in foreign) else None
                self._foreign[foreign] = compiled(self._function, sources=sources)
            loop = self._foreign[foreign]
        if verbs.tables in self._ready or not hasattr(loop, "compile"):
            return loop

        def first_call(*arguments: Any) -> Any:
            try:
                compile_for(loop, arguments)
            except NumbaError as error:
                raise explained(error, verbs) from error
            self._ready.add(verbs.tables)
            return loop(*arguments)

        return first_call


def explained(error: NumbaError, verbs: Verbs) -> CompilationError:
    """Explain why numba can't compile some verbs: what's wrong, and in which line."""
    text = str(error)
    where = ""
    for file in verbs.foreign:
        line = re.search(rf"{re.escape(str(file))} \((\d+)\)", text)
        if line:
            source = linecache.getline(str(file), int(line[1])).strip()
            where = f" in {file.name}, line {line[1]}" + (f": {source}" if source else "")
            break
    reason = next((line.strip() for line in text.splitlines()[1:] if line.strip()), text)
    return CompilationError(
        f"numba can't compile an agent's function{where}: {reason}; use only what numba supports, or derive the agent "
        "from fwrl.PythonAgent, which isn't compiled"
    )


def _act(agent: Any, s: int, rng: np.random.Generator) -> int:
    return act(agent, s, rng)


def _observe(agent: Any, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    return observe(agent, s, a, r, next_s, arrived)


def _action_values(agent: Any, first: int, g: int, table: NDArray[np.float64]) -> None:
    """Fill `table` (n, A) with the action values of n states, from the state `first` on."""
    for k in range(len(table)):
        action_values(agent, first + k, g, table[k])


def _observe_all(
    agent: Any,
    states: NDArray[np.int64],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float64],
    next_states: NDArray[np.int64],
) -> tuple[int, int]:
    """Observe transitions up to the first that closes a positive cycle; return the number learned, and the status."""
    for n in range(len(states)):
        if observe(agent, states[n], actions[n], rewards[n], next_states[n], False) == POSITIVE_CYCLE:
            return n, POSITIVE_CYCLE
    return len(states), LEARNED


act_once, observe_once = Loop(_act), Loop(_observe)
observe_all, action_table = Loop(_observe_all), Loop(_action_values)
