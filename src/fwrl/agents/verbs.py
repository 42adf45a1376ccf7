"""The two verbs of an agent as compiled loops call them.

An agent's memory is a NamedTuple of arrays, its `tables`. `act` and `observe` below stand for the functions that
belong to the type of those tables; numba picks them when it compiles a loop, so one loop serves every agent and
calls the very functions that the agent's Python methods call.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from fwrl.kernels.runtime.compiled import OPTIONS, PACKAGE, compiled

LEARNED, POSITIVE_CYCLE = 0, 1  # what `observe` returns


class Verbs(NamedTuple):
    """The compiled functions that go with one type of tables."""

    tables: type
    act: Callable[[Any, int, np.random.Generator], int]
    observe: Callable[[Any, int, int, float, int, bool], int]
    action_values: Callable[[Any, int, int, NDArray[np.float64]], None]

    @property
    def foreign(self) -> tuple[Path, ...]:
        """The files outside fwrl that they are written in."""
        verbs = (self.act, self.observe, self.action_values)
        files = {Path(verb.__code__.co_filename) for verb in verbs}
        return tuple(sorted(file for file in files if PACKAGE not in file.parents))


_VERBS: dict[type, Verbs] = {}


def register_verbs(
    tables: type,
    act: Callable[..., int],
    observe: Callable[..., int],
    action_values: Callable[..., None],
) -> Verbs:
    """Say which compiled functions go with which type of tables."""
    verbs = Verbs(tables, act, observe, action_values)
    _VERBS[tables] = verbs
    return verbs


def act(agent: Any, s: int, rng: np.random.Generator) -> int:
    """The action that `agent` takes at `s`; only inside compiled loops."""
    raise NotImplementedError("call the agent's own act")


def observe(agent: Any, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    """Let `agent` learn from one step: LEARNED or POSITIVE_CYCLE; only inside compiled loops."""
    raise NotImplementedError("call the agent's own observe")


def action_values(agent: Any, s: int, g: int, values: NDArray[np.float64]) -> None:
    """What `agent` expects of each action at `s` on the way to `g`; only inside compiled loops."""
    raise NotImplementedError("call the agent's own action_values")


# Numba wants the same annotations on both storeys of an overload.
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


class Loop:
    """A compiled loop over verbs, compiled once for fwrl's own agents and once per foreign source."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._own = compiled(function)
        self._foreign: dict[tuple[Path, ...], Callable[..., Any]] = {}

    def of(self, verbs: Verbs) -> Callable[..., Any]:
        """The loop to use with these verbs. An edit in a foreign file is noticed by the next process."""
        foreign = verbs.foreign
        if not foreign:
            return self._own
        if foreign not in self._foreign:
            sources = foreign if all(file.is_file() for file in foreign) else None
            self._foreign[foreign] = compiled(self._function, sources=sources)
        return self._foreign[foreign]


def _observe_all(
    agent: Any,
    states: NDArray[np.int64],
    actions: NDArray[np.int64],
    rewards: NDArray[np.float64],
    next_states: NDArray[np.int64],
) -> int:
    """Observe transitions in order; how many were learned before a positive cycle, if any."""
    for n in range(len(states)):
        if observe(agent, states[n], actions[n], rewards[n], next_states[n], False) != LEARNED:
            return n
    return len(states)


def _all_action_values(agent: Any, g: int, table: NDArray[np.float64]) -> None:
    """Fill `table` (S, A) with the action values of every state."""
    for s in range(len(table)):
        action_values(agent, s, g, table[s])


observe_all = Loop(_observe_all)
all_action_values = Loop(_all_action_values)
