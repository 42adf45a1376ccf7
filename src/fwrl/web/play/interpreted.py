"""Agents that learn before anything is compiled.

Compiling an agent takes some five seconds; interpreted, it learns a small board in a fraction of one. So agents and
their loop are imported a second time, with compiling off: the same code and the same numbers, bit for bit, a hundred
times slower. A thread compiles meanwhile, once for each kind of agent; then agents go on compiled, with all they know.
"""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Callable, Mapping
from operator import attrgetter
from threading import Thread
from types import ModuleType
from typing import Any

import numba

from fwrl.agents import agent_classes
from fwrl.agents.agent import Agent
from fwrl.task import loop

ROOMS = ("fwrl.kernels", "fwrl.agents", "fwrl.task")


def _modules() -> dict[str, ModuleType]:
    return {name: module for name, module in sys.modules.items() if name.startswith(ROOMS)}


def _imported_again() -> dict[str, ModuleType]:
    """The modules of `ROOMS` a second time, interpreted; everybody else keeps the first ones."""
    settings: Any = numba.config  # untyped
    if settings.DISABLE_JIT:
        return {}
    agent_classes()  # all of them are imported now
    first = _modules()
    for name in first:
        del sys.modules[name]
    settings.DISABLE_JIT = 1
    try:
        for name in first:
            importlib.import_module(name)
        return _modules()
    finally:
        settings.DISABLE_JIT = 0
        sys.modules.update(first)
        for room in ROOMS:
            setattr(sys.modules["fwrl"], room.removeprefix("fwrl."), first[room])


AGAIN = _imported_again()
_warm_ups: dict[type[Agent], Callable[[], None]] = {}  # compile all that agents of a class need
_compiled: dict[type[Agent], bool] = {}  # False while agents of a class are being compiled, then True


def begun(agent: Agent, warm_up: Callable[[], None]) -> Agent:
    """The agent, interpreted as long as its class isn't compiled, which `warm_up` does.

    Agents of other packages are compiled right away, since they aren't imported twice.
    """
    kind = type(agent)
    if kind.__module__ not in AGAIN:
        warm_up()
    _warm_ups.setdefault(kind, warm_up)
    return agent if _compiled.get(kind) else interpreted(agent)


def compile_soon(agent: Agent) -> bool:
    """Have the agent's class compiled on a thread, if it isn't yet; whether it's worth waiting for that."""
    if type(agent).__module__ not in AGAIN:
        return False
    kind = _there(type(agent), sys.modules)

    def compile_it() -> None:
        _warm_ups[kind]()
        _compiled[kind] = True

    if kind not in _compiled:
        _compiled[kind] = False
        Thread(target=compile_it, daemon=True).start()  # a daemon, because compiling can't be interrupted
    return not _compiled[kind]


def interpreted(agent: Agent) -> Agent:
    """The agent, not compiled, unless it's from another package."""
    return _moved(agent, AGAIN) if type(agent).__module__ in AGAIN else agent


def up_to_date(agent: Agent) -> Agent:
    """The agent, compiled if it can be by now."""
    ready = type(agent).__module__ in AGAIN and _compiled.get(_there(type(agent), sys.modules))
    return _moved(agent, sys.modules) if ready else agent


def loop_of(agent: Agent) -> Any:
    """The function `advance` for this agent."""
    kind = type(agent)
    again = kind.__module__ in AGAIN and _there(kind, AGAIN) is kind
    return AGAIN["fwrl.task.loop"].advance if again else loop.advance


def _there(kind: Any, home: Mapping[str, ModuleType]) -> Any:
    """The class of the same name in other modules."""
    return attrgetter(kind.__qualname__)(home[kind.__module__])


def _moved(agent: Agent, home: Mapping[str, ModuleType]) -> Agent:
    """The agent with the classes of other modules; both share their arrays and their generator."""

    def moved(part: Any) -> Any:
        if not isinstance(part, tuple):
            return part
        parts = map(moved, part)
        return _there(type(part), home)(*parts) if type(part).__module__ in AGAIN else type(part)(parts)

    kind = _there(type(agent), home)
    if type(agent) is kind:
        return agent
    twin = copy.copy(agent)
    twin.__class__ = kind
    for name, part in vars(agent).items():
        setattr(twin, name, moved(part))
    return twin
