"""Agents in plain Python: `act` and `observe` are ordinary methods, and nothing is compiled.

Such an agent runs in the same loops as compiled ones, uncompiled, about ten to a hundred times slower. Use it to try an
idea quickly; `agents.loops` shows the compiled version.

>>> import numpy as np
>>> class Curious(PythonAgent):
...     name, description = "curious", "takes the action it has tried least"
...     sections = {"tries": "tries"}
...
...     def start(self):
...         self.tries = np.zeros((self.n_states, self.n_actions))
...
...     def act(self, state):
...         return int(self.tries[state].argmin())
...
...     def observe(self, state, action, reward, next_state, arrived=False, terminated=False):
...         self.tries[state, action] += 1
>>> import fwrl
>>> agent = Curious(7, 4, seed=0)
>>> result = fwrl.run("h-maze", agent, episodes=2, steps=50)
>>> agent.tries.sum()
np.float64(100.0)
"""

from __future__ import annotations

from abc import abstractmethod
from collections import namedtuple
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.agents.agent import Agent, Config
from fwrl.agents.loops import LEARNED, register_verbs
from fwrl.agents.tables import Sections
from fwrl.agents.validation import checked_index
from fwrl.agents.value_function import ValueKind
from fwrl.arrays import Floats
from fwrl.errors import FwrlError, OptionError
from fwrl.kernels.exploration import EXPLORE, NO_EPISODE
from fwrl.kernels.exploration import epsilon_greedy as compiled_epsilon_greedy

NAMING = "set sections = {'name in the file': 'attribute'} in its class"  # remedy if an agent names no arrays


class PythonTables(NamedTuple):
    """Passed to loops instead of arrays: the episode, and the agent whose methods they call."""

    episode: NDArray[np.int64]
    agent: PythonAgent


def _act(tables: PythonTables, s: int, rng: np.random.Generator) -> int:
    agent = tables.agent
    return checked_index(agent.act(int(s)), agent.n_actions, f"an action of {agent.name!r}")


def _observe(tables: PythonTables, s: int, a: int, r: float, next_s: int, arrived: bool) -> int:
    tables.agent.observe(int(s), int(a), float(r), int(next_s), bool(arrived))
    return LEARNED


def _action_values(tables: PythonTables, s: int, g: int, values: Floats) -> None:
    values[:] = tables.agent.action_values(s, g)


class PythonAgent(Agent[PythonTables]):
    """The base class of agents in plain Python.

    A subclass sets `name` and `description`, and implements `act` and `observe`. Most also implement `start`, which
    makes their arrays, and `action_values`, used for drawing and evaluation. You can use `self.goal`, `self.rng`,
    `self.n_states`, `self.n_actions` and `self.config`. `sections` names the arrays that are saved to a file, and kept
    when the agent grows.

    Args:
        n_states: S.
        n_actions: A.
        seed: seeds the agent's own generator.
        config: an instance of its `Config`; None for the defaults.
    """

    Config = Config
    sections: ClassVar[Sections] = {}
    verbs = register_verbs(PythonTables, _act, _observe, _action_values, compiled=False)

    def start(self) -> None:
        """Make the arrays of an agent before any observation; called once, and when the agent grows."""

    @abstractmethod
    def act(self, state: int) -> int:
        """Choose an action towards `self.goal`."""

    @abstractmethod
    def observe(
        self,
        state: int,
        action: int,
        reward: float,
        next_state: int,
        arrived: bool = False,
        terminated: bool = False,
    ) -> None:
        """Learn from one step.

        Args:
            state: where it began.
            action: the action taken.
            reward: the step's own reward; on the arriving step, the goal reward.
            next_state: where it ended; after the arriving step, a new start.
            arrived: whether this is the arriving step, taken on the goal.
            terminated: whether the environment ended there.
        """

    def action_values(self, state: int, goal: int) -> Floats:
        """Return the (A,) values of the actions; zeros unless a subclass overrides it."""
        return np.zeros(self.n_actions)

    @property
    def value_kind(self) -> ValueKind | None:
        """The kind of value; None, for no estimate, unless a subclass overrides it."""
        return None

    @property
    def explore(self) -> bool:
        """False if the episode is greedy throughout."""
        return bool(self.tables.episode[EXPLORE])

    def epsilon_greedy(self, values: ArrayLike) -> int:
        """Choose the best of the (A,) values, ties at random; any action with the paper's falling eps(t)."""
        return int(compiled_epsilon_greedy(np.asarray(values, np.float64), self.tables.episode, self.rng))

    def observe_many(
        self,
        states: ArrayLike,
        actions: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
    ) -> None:
        """Learn from N transitions in order, with `observe`; see `Agent.observe_many`."""
        ended = np.zeros(np.shape(states), np.bool_) if terminated is None else np.asarray(terminated, np.bool_)
        columns = (np.asarray(column).tolist() for column in (states, actions, rewards, next_states, ended))
        for s, a, r, n, over in zip(*columns, strict=True):
            self.observe(s, a, r, n, terminated=over)

    def save(self, path: str | Path) -> None:
        """Write the arrays named in `sections`, and the generator, to a file."""
        if not self.sections:
            raise FwrlError(f"the agent {self.name!r} names no arrays to save; {NAMING}")
        super().save(path)

    def grow(self, n_states: int) -> None:
        """Make room for more states: `start` makes larger arrays, which get the contents of those in `sections`.

        Raises:
            OptionError: fewer states than before, or `sections` names none of the arrays that `start` makes; the agent
                is unchanged, as after any error in `start`.
        """
        starts_anew = type(self).start is not PythonAgent.start
        if n_states > self.n_states and starts_anew and not self.sections:
            raise OptionError(
                f"the agent {self.name!r} names no arrays to keep when it grows to {n_states} states; {NAMING}, or "
                "make it with the final number of states"
            )
        before = vars(self).copy()
        try:
            super().grow(n_states)
        except BaseException:
            self.__dict__ = before
            raise

    def empty_tables(self) -> PythonTables:
        """Call `start`, and return an episode that hasn't begun."""
        self.start()
        return PythonTables(NO_EPISODE.empty({}), self)

    def saved_sections(self) -> dict[str, str]:
        """Return names in a saved file -> attributes, for the arrays in `sections` and the episode."""
        return {**self.sections, "episode": "episode"}

    def check_tables(self) -> None:
        """Check nothing: no compiled code reads the arrays of a Python agent."""

    def saved_tables(self) -> Any:
        """Return the arrays named in `sections`, and the episode, as a NamedTuple."""
        arrays = {name: np.asarray(getattr(self, name)) for name in self.sections.values()}
        arrays["episode"] = self.tables.episode
        make: Any = namedtuple  # mypy wants to know its fields beforehand
        return make("Saved", arrays)(**arrays)

    def completed_tables(self, saved: Any) -> PythonTables:
        """Set the attributes to the arrays of a file."""
        for name in self.sections.values():
            setattr(self, name, getattr(saved, name))
        return PythonTables(saved.episode, self)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays among its attributes."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))
