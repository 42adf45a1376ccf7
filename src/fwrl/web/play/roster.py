"""The agents that a page may choose, and the memory that they need.

The roster is every registered agent, and FWRL with its options beyond the paper.

The bytes of an agent's tables in a world are found by making them. Where they might exceed the budget, smaller tables
are made first. Tables grow at most with the square of the number of states: if those for n states take b bytes, those
for n sqrt(M / b) states fit into M bytes. Tables for that many states are made next, and so on, until those of the
world itself are made or the bound says that they do not fit. Nothing else is assumed about growth: an agent may store
its tables in another way in large worlds, as FWRL does, and the size is still exact if it fits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from fwrl.agents import agent_class, agent_classes, agent_names, make_agent
from fwrl.agents.agent import Agent
from fwrl.agents.python_agent import PythonAgent
from fwrl.errors import unknown_name
from fwrl.task.fitting import agent_for
from fwrl.task.task import GOAL_REWARD
from fwrl.worlds import World

GOALS_EXPECTED = 64  # goals that a user may click; some agents keep a table for each
SMALL = 256  # states for which the tables of every agent fit


class Variant(NamedTuple):
    """FWRL with some options."""

    options: Mapping[str, Any]
    description: str


VARIANTS = {
    "fwrl-expected": Variant({"backup": "expected"}, "FWRL with the mean over observed outcomes, not the best of them"),
    "fwrl-optimistic": Variant({"explorer": "optimistic"}, "FWRL that explores by trying untried actions"),
    "fwrl-beyond": Variant(
        {"backup": "expected", "explorer": "optimistic"},
        "FWRL with the mean over observed outcomes, trying untried actions",
    ),
}


def roster() -> dict[str, str]:
    """The names of the agents to choose from, with their descriptions.

    >>> list(roster())[:5]
    ['fwrl', 'fwrl-expected', 'fwrl-optimistic', 'fwrl-beyond', 'ql']
    """
    described = {name: _described(cls) for name, cls in agent_classes().items()}
    variants = {name: variant.description for name, variant in VARIANTS.items()}
    return {"fwrl": described.pop("fwrl"), **variants, **described}


def _described(cls: type[Agent]) -> str:
    """What an agent is, and that it is slow where it is not compiled."""
    return f"{cls.description} (plain Python: slower)" if issubclass(cls, PythonAgent) else cls.description


class AgentChoice(NamedTuple):
    """An agent of the roster, with options that replace those of its name.

    >>> AgentChoice("fwrl", (("backup", "expected"),)).title
    'FWRL (backup expected)'
    """

    name: str
    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, name: str, options: Mapping[str, Any] | None = None) -> AgentChoice:
        """The choice of an agent by name; options that the name has anyway are left out."""
        usual = default_options(name)
        changed = {key: value for key, value in (options or {}).items() if key not in usual or usual[key] != value}
        return cls(name, tuple(sorted(changed.items())))

    @property
    def title(self) -> str:
        """What the page calls it."""
        changed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in self.options)
        return self.name.upper() + (f" ({changed})" if changed else "")

    @property
    def constructor(self) -> tuple[str, dict[str, Any]]:
        """The registered name and the options that `fwrl.make_agent` needs."""
        if self.name in VARIANTS:
            return "fwrl", {**VARIANTS[self.name].options, **dict(self.options)}
        return self.name, dict(self.options)

    def make(self, n_states: int, n_actions: int, seed: int) -> Agent:
        """A new agent that knows no positions."""
        _check_name(self.name)
        name, options = self.constructor
        return make_agent(name, n_states, n_actions, seed, **options)

    def make_for(self, world: World, seed: int) -> Agent:
        """A new agent for a world."""
        _check_name(self.name)
        name, options = self.constructor
        return agent_for(world, name, seed, **options)


def default_options(name: str) -> dict[str, Any]:
    """Every option of the agent of this name, with the value that it has in the roster.

    >>> default_options("fwrl-expected")["backup"]
    'expected'
    """
    _check_name(name)
    variant = VARIANTS[name].options if name in VARIANTS else {}
    config = agent_class("fwrl" if name in VARIANTS else name).Config
    usual = {field.name: field.default for field in fields(config) if field.default is not MISSING}
    return {**usual, **variant}


def option_choices(name: str) -> list[dict[str, Any]]:
    """The options of an agent as JSON, for a form: name, value, and the choices if there are few.

    >>> option_choices("ql")[0]
    {'name': 'learning_rate', 'value': 1.0, 'choices': None}
    """
    config = agent_class("fwrl" if name in VARIANTS else name).Config
    hints = get_type_hints(config)
    listed = []
    for option, value in default_options(name).items():
        choices = list(get_args(hints[option])) if get_origin(hints[option]) is Literal else None
        listed.append({"name": option, "value": value, "choices": choices})
    return listed


@functools.lru_cache(64)
def never_forgets(choice: AgentChoice) -> bool:
    """Whether the agent goes on believing in a step that has stopped working.

    It is asked: one step leads from state 0 to state 1, and fails at each of many later tries.

    >>> never_forgets(AgentChoice("fwrl")), never_forgets(AgentChoice("fwrl-expected"))
    (True, False)
    """
    agent = choice.make(3, 2, 0)
    if agent.value_kind is None:
        return False
    agent.begin_episode(1)
    agent.observe(1, 0, GOAL_REWARD, 1, arrived=True)
    agent.observe(0, 1, -1.0, 1)
    before = agent.action_values(0, 1)[1]
    for _ in range(20):
        agent.observe(0, 1, -1.0, 0)
    return bool(np.isfinite(before) and agent.action_values(0, 1)[1] == before)


def _check_name(name: str) -> None:
    if name not in VARIANTS and name not in agent_names():
        raise unknown_name("agent", name[:60], roster())


def bytes_needed(world: World, choices: Iterable[AgentChoice], budget: int) -> int:
    """The bytes that the tables of these agents may take in `world`; an estimate if one agent's exceed `budget`.

    >>> from fwrl.worlds import load_world
    >>> both = AgentChoice("fwrl"), AgentChoice("qlcat")
    >>> bytes_needed(load_world("four-rooms"), both, budget=2**20) < 2**20
    True
    """
    S, A = world.n_states, world.n_actions
    by_goal = GOALS_EXPECTED * S * A * 8
    return sum(_bytes_of_new(choice, S, A, budget) + by_goal for choice in choices)


def table_bytes(agent: Agent) -> int:
    """The bytes of all arrays of an agent's tables."""
    return _size(agent.tables)


def _size(tables: Any) -> int:
    return sum(map(_size, tables)) if isinstance(tables, tuple) else int(tables.nbytes)


@functools.lru_cache(256)
def _bytes_of_new(choice: AgentChoice, n_states: int, n_actions: int, budget: int) -> int:
    made, fitting = 0, min(n_states, SMALL)
    while fitting > made:
        made = fitting
        size = table_bytes(choice.make(made, n_actions, 0))
        fitting = min(n_states, int(made * math.sqrt(budget / size)))
    return size if made == n_states else max(budget + 1, int(size * (n_states / made) ** 2))
