"""Agents in plain Python: `act` and `observe` are ordinary methods, and nothing is compiled.

Such an agent runs wherever compiled ones do, by the same loops, uncompiled: some ten to a hundred times slower. It is
the quick way to try an idea; the compiled way is in `agents.loops`.

>>> import numpy as np
>>> class Curious(PythonAgent):
...     name, description = "curious", "takes the action that it has tried least"
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

NAMING = "set sections = {'name in the file': 'attribute'} in its class"  # the remedy where there are none


class PythonTables(NamedTuple):
    """What loops get instead of arrays: the episode, and the agent whose methods they call."""

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

    A subclass sets `name` and `description`, and implements `act` and `observe`; mostly also `start`, which makes its
    arrays, and `action_values`, by which it is drawn and evaluated. `self.goal`, `self.rng`, `self.n_states`,
    `self.n_actions` and `self.config` are there. `sections` names the arrays that a saved file holds, and that stay
    when the agent grows.

    Args:
        n_states: number of states, S.
        n_actions: number of actions, A.
        seed: of the agent's own generator.
        config: an instance of its `Config`; None for the defaults.
    """

    Config = Config
    sections: ClassVar[Sections] = {}
    verbs = register_verbs(PythonTables, _act, _observe, _action_values, compiled=False)

    def start(self) -> None:
        """Make the arrays of an agent that has observed nothing; called once, and when the agent grows."""

    @abstractmethod
    def act(self, state: int) -> int:
        """Choose an action towards `self.goal`.

        Args:
            state: where the agent is.

        Returns:
            The action.
        """

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
            action: that was taken.
            reward: the step's own reward; on the arriving step the goal reward.
            next_state: where it ended; after the arriving step a new start.
            arrived: whether this is the arriving step, taken on the goal.
            terminated: whether the environment ended there.
        """

    def action_values(self, state: int, goal: int) -> Floats:
        """The value of each action.

        Args:
            state: where the action is taken.
            goal: state to reach.

        Returns:
            (A,) zeros, unless the agent says otherwise.
        """
        return np.zeros(self.n_actions)

    @property
    def value_kind(self) -> ValueKind | None:
        """What values estimate; None for nothing, unless the agent says otherwise."""
        return None

    @property
    def explore(self) -> bool:
        """False where the episode is to be greedy throughout."""
        return bool(self.tables.episode[EXPLORE])

    def epsilon_greedy(self, values: ArrayLike) -> int:
        """The best action, ties at random; with the paper's eps(t), which falls over the episode, any action.

        Args:
            values: (A,) of the actions.

        Returns:
            An action.
        """
        return int(compiled_epsilon_greedy(np.asarray(values, np.float64), self.tables.episode, self.rng))

    def observe_many(
        self,
        states: ArrayLike,
        actions: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
    ) -> None:
        """Learn from N transitions in order, by `observe`.

        Args:
            states: (N,) integers.
            actions: (N,) integers.
            rewards: (N,) finite numbers.
            next_states: (N,) integers.
            terminated: (N,) True where the environment ended; None for nowhere.
        """
        ended = np.zeros(np.shape(states), np.bool_) if terminated is None else np.asarray(terminated, np.bool_)
        columns = (np.asarray(column).tolist() for column in (states, actions, rewards, next_states, ended))
        for s, a, r, n, over in zip(*columns, strict=True):
            self.observe(s, a, r, n, terminated=over)

    def save(self, path: str | Path) -> None:
        """Write the arrays that `sections` names, and the generator.

        Args:
            path: file to write or replace.
        """
        if not self.sections:
            raise FwrlError(f"the agent {self.name!r} names no arrays to save; {NAMING}")
        super().save(path)

    def grow(self, n_states: int) -> None:
        """Make room for more states: `start` makes larger arrays, which get what those of `sections` held.

        Args:
            n_states: number of states from now on, at least as many as before.

        Raises:
            OptionError: fewer states than before, or `sections` names none of the arrays that `start` makes; the agent
                is unchanged, as after any error of `start`.
        """
        starts_anew = type(self).start is not PythonAgent.start
        if n_states > self.n_states and starts_anew and not self.sections:
            raise OptionError(
                f"the agent {self.name!r} names no arrays to keep when it grows to {n_states} states; {NAMING}, or "
                "make it for as many states as there will be"
            )
        before = vars(self).copy()
        try:
            super().grow(n_states)
        except BaseException:
            self.__dict__ = before
            raise

    def empty_tables(self) -> PythonTables:
        """An episode that has not begun, after `start`.

        Returns:
            What loops get.
        """
        self.start()
        return PythonTables(NO_EPISODE.empty({}), self)

    def saved_sections(self) -> dict[str, str]:
        """The arrays that `sections` names, and the episode.

        Returns:
            Names in a saved file -> attributes.
        """
        return {**self.sections, "episode": "episode"}

    def check_tables(self) -> None:
        """Nothing to check: no compiled code reads the arrays of a Python agent."""

    def saved_tables(self) -> Any:
        """The arrays that `sections` names, and the episode.

        Returns:
            A NamedTuple.
        """
        arrays = {name: np.asarray(getattr(self, name)) for name in self.sections.values()}
        arrays["episode"] = self.tables.episode
        make: Any = namedtuple  # whose fields mypy wants to know beforehand
        return make("Saved", arrays)(**arrays)

    def completed_tables(self, saved: Any) -> PythonTables:
        """Set the attributes to the arrays of a file.

        Args:
            saved: in the form of `saved_tables`.

        Returns:
            What loops get.
        """
        for name in self.sections.values():
            setattr(self, name, getattr(saved, name))
        return PythonTables(saved.episode, self)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays among its attributes."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))
