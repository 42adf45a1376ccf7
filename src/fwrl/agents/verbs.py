"""The verbs of an agent as compiled loops call them.

`act`, `observe` and `action_values` below stand for the functions that were registered for the type of an agent's
tables. Numba resolves them when it compiles a loop, so one loop serves every agent and calls the same functions as
the agent's Python methods.
"""

from __future__ import annotations

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
from fwrl.kernels.runtime import deferred
from fwrl.kernels.runtime.compiled import OPTIONS, PACKAGE, cache_folder, compiled
from fwrl.kernels.runtime.deferred import Deferred

LEARNED, POSITIVE_CYCLE, UNSETTLED = 0, 1, 2  # what `observe` returns


class Verbs(NamedTuple):
    """The compiled functions for one type of tables.

    Attributes:
        tables: the NamedTuple class.
        act: (tables, state, rng) -> action.
        observe: (tables, state, action, reward, next state, arrived) -> LEARNED, POSITIVE_CYCLE or UNSETTLED.
        action_values: (tables, state, goal, values (A,) to fill) -> None.
        compiled: False where these are Python functions, so that loops over them are not compiled.
    """

    tables: type
    act: Callable[[Any, int, np.random.Generator], int]
    observe: Callable[[Any, int, int, float, int, bool], int]
    action_values: Callable[[Any, int, int, NDArray[np.float64]], None]
    compiled: bool = True

    @property
    def foreign(self) -> tuple[Path, ...]:
        """The source files outside fwrl."""
        verbs = (self.act, self.observe, self.action_values)
        files = {Path(verb.__code__.co_filename) for verb in verbs}
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
        observe: (tables, state, action, reward, next state, arrived) -> `LEARNED`; `POSITIVE_CYCLE` where it has
            changed nothing; `UNSETTLED` where it has learned, and the agent's method `settle` is to be called before
            it acts again.
        action_values: (tables, state, goal, values) -> None; fills `values` (A,).
        compiled: False for Python functions, which numba shall not compile.

    Returns:
        What the agent's class attribute `verbs` is set to.
    """
    verbs = Verbs(tables, act, observe, action_values, compiled)
    _VERBS[tables] = verbs
    return verbs


def act(agent: Any, s: int, rng: np.random.Generator) -> int:
    """The action that the agent takes at `s`."""
    return _VERBS[type(agent)].act(agent, s, rng)


def observe(agent: Any, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Learn from one step: LEARNED, POSITIVE_CYCLE or UNSETTLED."""
    return _VERBS[type(agent)].observe(agent, s, a, r, next_s, arrived)


def action_values(agent: Any, s: int, g: int, values: NDArray[np.float64]) -> None:
    """Fill `values` (A,) with the action values at `s` for the goal `g`."""
    _VERBS[type(agent)].action_values(agent, s, g, values)


# Numba requires the same annotations on an overload and on the function it returns.
@overload(act, jit_options=OPTIONS)
def _act(agent: Any, s: Any, rng: Any) -> Any:
    verb = _VERBS[agent.instance_class].act

    def call(agent: Any, s: Any, rng: Any) -> Any:
        return verb(agent, s, rng)

    return call


@overload(observe, jit_options=OPTIONS)
def _observe(agent: Any, s: Any, a: Any, r: Any, next_s: Any, arrived: Any) -> Any:
    verb = _VERBS[agent.instance_class].observe

    def call(agent: Any, s: Any, a: Any, r: Any, next_s: Any, arrived: Any) -> Any:
        return verb(agent, s, a, r, next_s, arrived)

    return call


@overload(action_values, jit_options=OPTIONS)
def _action_values(agent: Any, s: Any, g: Any, values: Any) -> Any:
    verb = _VERBS[agent.instance_class].action_values

    def call(agent: Any, s: Any, g: Any, values: Any) -> Any:
        verb(agent, s, g, values)

    return call


class SingleCall:
    """A compiled function over tables as agents' methods call it; its compilation is deferred like that of loops.

    Args:
        name: Of the function.
        function: The function itself; None for the verb of this name.
    """

    def __init__(self, name: str, function: Callable[..., Any] | None = None) -> None:
        self._name, self._function = name, function
        self._deferred: dict[type, Callable[..., Any]] = {}

    def of(self, verbs: Verbs, n_states: int) -> Callable[..., Any]:
        """The function for the tables of these verbs."""
        if verbs.tables not in self._deferred:
            verb: Callable[..., Any] = self._function or getattr(verbs, self._name)
            waits = not verbs.foreign and _may_wait(verb, n_states)
            self._deferred[verbs.tables] = Deferred(verb, {}, _mark(self._name, verbs)) if waits else verb
        found = self._deferred[verbs.tables]
        return found if n_states <= deferred.MOST_STATES else getattr(found, "loop", found)


def _may_wait(function: Any, n_states: int) -> bool:
    """Whether the world is small enough to interpret a function, and it would be compiled otherwise."""
    return n_states <= deferred.MOST_STATES and hasattr(function, "py_func")


def _mark(name: str, verbs: Verbs) -> Path | None:
    """The file that says that a function over these verbs is compiled; None where nothing is cached."""
    sources, tables = verbs.foreign, verbs.tables
    folder = cache_folder(sources) if all(file.is_file() for file in sources) else None
    return None if folder is None else folder / f"{name}-{tables.__module__}.{tables.__qualname__}.compiled"


class Loop:
    """A loop over verbs, compiled once for fwrl's own agents and once for each foreign source file."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._own = compiled(function)
        self._foreign: dict[tuple[Path, ...], Callable[..., Any]] = {}
        self._deferred: dict[type, Deferred] = {}

    def of(self, verbs: Verbs, n_states: int) -> Callable[..., Any]:
        """The loop for these verbs; in small worlds its compilation is deferred until it pays.

        The next process notices an edit of a foreign file.
        """
        if not verbs.compiled:
            return self._function
        if verbs.foreign or not _may_wait(self._own, n_states):
            return self._compiled(verbs)
        if verbs.tables not in self._deferred:
            names = {"act": verbs.act, "observe": verbs.observe, "action_values": verbs.action_values}
            mark = _mark(self._function.__name__, verbs)
            self._deferred[verbs.tables] = Deferred(self._compiled(verbs), names, mark)
        return self._deferred[verbs.tables]

    def _compiled(self, verbs: Verbs) -> Callable[..., Any]:
        foreign = verbs.foreign
        if not foreign:
            return self._own
        if foreign not in self._foreign:
            sources = foreign if all(file.is_file() for file in foreign) else None
            self._foreign[foreign] = _explaining(compiled(self._function, sources=sources), verbs)
        return self._foreign[foreign]


ALLOCATION = ("Only accept returning of array passed", "NRT", "nrt", "heap allocation")  # numba's words for it


def explained(error: NumbaError, verbs: Verbs) -> CompilationError:
    """The error for verbs that numba cannot compile: what is wrong, and in which line.

    Args:
        error: that numba raised.
        verbs: of the agent.

    Returns:
        The error to raise instead.
    """
    text = str(error)
    where = ""
    for file in verbs.foreign:
        line = re.search(rf"{re.escape(str(file))} \((\d+)\)", text)
        if line:
            source = linecache.getline(str(file), int(line[1])).strip()
            where = f" in {file.name}, line {line[1]}" + (f": {source}" if source else "")
            break
    if any(word in text for word in ALLOCATION):
        return CompilationError(
            f"an agent's compiled function allocates memory{where}; let it write into an array of the agent's tables, "
            "or derive the agent from fwrl.PythonAgent, which is not compiled"
        )
    reason = next((line.strip() for line in text.splitlines()[1:] if line.strip()), text)
    return CompilationError(
        f"an agent's function cannot be compiled{where}; numba says: {reason}; use what numba supports, or derive the "
        "agent from fwrl.PythonAgent, which is not compiled"
    )


def _explaining(loop: Callable[..., Any], verbs: Verbs) -> Callable[..., Any]:
    """The loop with errors of numba explained."""

    def call(*arguments: Any) -> Any:
        try:
            return loop(*arguments)
        except NumbaError as error:
            raise explained(error, verbs) from error

    return call


def _observe_all(
    agent: Any,
    states: NDArray[np.int64],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float64],
    next_states: NDArray[np.int64],
) -> tuple[int, int]:
    """Observe transitions in order up to the first that is not just LEARNED; the number learned, and the status."""
    for n in range(len(states)):
        status = observe(agent, states[n], actions[n], rewards[n], next_states[n], False)
        if status != LEARNED:
            return (n if status == POSITIVE_CYCLE else n + 1), status
    return len(states), LEARNED


def _all_action_values(agent: Any, g: int, table: NDArray[np.float64]) -> None:
    """Fill `table` (S, A) with the action values of every state."""
    for s in range(len(table)):
        action_values(agent, s, g, table[s])


single_act, single_observe, single_values = (SingleCall(name) for name in ("act", "observe", "action_values"))
observe_all = Loop(_observe_all)
all_action_values = Loop(_all_action_values)
