"""What every agent is: tables, a generator, and two verbs over them.

`observe` gets path rewards: the goal reward is not part of F. On the arriving step (in the paper's protocol the
one taken *on* the goal) `arrived` is true and the reward is the goal reward; FWRL and model-based agents learn
nothing from it, Q-learning lives on it.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.agents.tables import flattened, refilled, sizes_named
from fwrl.agents.verbs import LEARNED, Verbs, all_action_values, observe_all
from fwrl.errors import FileError, FwrlError, OptionError, PositiveCycleError, unknown_name
from fwrl.files import Archive, write_archive
from fwrl.kernels.exploration import EXPLORE, GOAL, STEP, STEPS
from fwrl.kernels.graph.edges import with_capacity
from fwrl.kernels.runtime.ties import first_best, pick_best

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DEFAULT_STEPS = 400
CHUNK = 1 << 20  # transitions that observe_many makes room for at a time


@dataclass(frozen=True)
class Config:
    """An agent's options; each agent has its own frozen subclass."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """The configuration with these options, the others at their defaults."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise OptionError(str(unknown_name("option", name, known or ["(none)"])))
        return cls(**options)


def no_episode() -> Ints:
    """The clock of an agent that was never told a goal."""
    return np.array([-1, 0, DEFAULT_STEPS, 1], dtype=np.int64)


class Agent(ABC):
    """Learns from transitions and answers: which action at state s for goal g?

    Subclasses name themselves, declare their verbs, and say what their empty tables are. The field `clock` of
    the tables holds the goal in use, the step of the episode, its length, and whether to explore.
    """

    name: ClassVar[str]
    description: ClassVar[str]
    Config: ClassVar[type[Config]]
    scratch: tuple[str, ...] = ()  # fields, or fields of fields, that carry nothing from step to step

    believes: ClassVar[Literal["reward", "steps", "nothing"]] = "reward"  # what its values promise of a path

    tables: Any
    verbs: Verbs

    @classmethod
    def made_for(cls, config: Any) -> type[Agent]:
        """The class that carries this configuration out; agents of one name may be of several minds."""
        return cls

    def __init__(
        self,
        n_states: int,
        n_actions: int,
        seed: int | np.random.SeedSequence | None = 0,
        config: Any = None,
    ) -> None:
        if n_states < 1 or n_actions < 1:
            raise OptionError(f"expected at least one state and one action, got {n_states} and {n_actions}")
        self.n_states, self.n_actions = int(n_states), int(n_actions)
        self.config = self.Config() if config is None else config
        self.rng = np.random.default_rng(seed)
        self.verbs = self.verbs_of_config()
        self.tables = self.empty_tables()

    @abstractmethod
    def verbs_of_config(self) -> Verbs:
        """The compiled functions that this configuration uses."""

    @abstractmethod
    def empty_tables(self) -> Any:
        """Tables that know nothing."""

    def reserve(self, observations: int) -> None:
        """Make room for this many more observations: tables with a field `edges` grow, others are fixed."""
        if hasattr(self.tables, "edges"):
            edges = with_capacity(self.tables.edges, observations)
            if edges is not self.tables.edges:
                self.tables = self.tables._replace(edges=edges)

    def prepare(self, goal: int) -> None:  # noqa: B027 (most agents have nothing to prepare)
        """Get ready for an episode with this goal."""

    def saved_tables(self) -> Any:
        """The tables as a file holds them."""
        return self.tables

    def check_tables(self) -> None:  # noqa: B027 (some tables hold no indices)
        """Refuse tables read from a file that would lead compiled code astray."""

    @property
    def goal(self) -> int | None:
        """The goal in use, None before the first episode."""
        goal = int(self.tables.episode[GOAL])
        return goal if goal >= 0 else None

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Take up `goal`; exploration is spread over `steps`, or left out."""
        goal = self._state(goal, "goal")
        if steps < 1:
            raise OptionError(f"expected an episode of at least one step, got {steps}")
        self.prepare(goal)
        episode = self.tables.episode
        episode[GOAL], episode[STEP], episode[STEPS], episode[EXPLORE] = goal, 0, steps, int(explore)

    def act(self, state: int) -> int:
        """The action to take now, exploring included."""
        state = self._state(state)
        if self.goal is None:
            raise FwrlError("expected a goal first: call begin_episode(goal) before act(state)")
        return int(self.verbs.act(self.tables, state, self.rng))

    def observe(self, state: int, action: int, reward: float, next_state: int, arrived: bool = False) -> None:
        """Learn from one step."""
        state, next_state = self._state(state), self._state(next_state)
        action = _index(action, self.n_actions, "an action")
        if not np.isfinite(reward):
            raise FwrlError(f"expected a finite reward, got {reward}")
        self.reserve(1)
        reward = float(reward)
        if self.verbs.observe(self.tables, state, action, reward, next_state, bool(arrived)) != LEARNED:
            raise positive_cycle(state, action, reward, next_state)

    def observe_many(self, states: ArrayLike, actions: ArrayLike, rewards: ArrayLike, next_states: ArrayLike) -> None:
        """Learn from transitions in order, in one compiled call: none of them the arriving step.

        At a positive cycle the transitions before it stay learned, and the error says how many those are.
        """
        s, a, r, n = self._transitions(states, actions, rewards, next_states)
        loop = observe_all.of(self.verbs)
        for begin in range(0, len(s), CHUNK):
            part = slice(begin, begin + CHUNK)
            self.reserve(len(s[part]))
            learned = begin + loop(self.tables, s[part], a[part], r[part], n[part])
            if learned < min(begin + CHUNK, len(s)):
                k = learned
                error = positive_cycle(int(s[k]), int(a[k]), float(r[k]), int(n[k]))
                raise PositiveCycleError(f"transition {k}: {error}; the {k} before it were learned")

    def action_values(self, state: int, goal: int) -> Floats:
        """(A,) what the agent expects of each action at `state` on the way to `goal`."""
        state, goal = self._state(state), self._state(goal, "goal")
        values = np.empty(self.n_actions)
        self.verbs.action_values(self.tables, state, goal, values)
        return values

    def action_table(self, goal: int) -> Floats:
        """(S, A) the action values of every state for one goal, in one compiled call."""
        goal = self._state(goal, "goal")
        table = np.empty((self.n_states, self.n_actions))
        all_action_values.of(self.verbs)(self.tables, goal, table)
        return table

    def value(self, state: int, goal: int) -> float:
        """The best of the action values."""
        return float(self.action_values(state, goal).max())

    def values(self, goal: int) -> Floats:
        """(S,) the value of every state for one goal."""
        best: Floats = self.action_table(goal).max(axis=1)
        return best

    def promised(self, goal: int, step_reward: float | None) -> Floats:
        """(S,) the path reward it believes in from every state; NaN where its values promise none.

        Beliefs in steps are turned into rewards where every step costs the same, `step_reward`.
        """
        counts = self.believes == "steps" or getattr(self.config, "objective", "") == "steps"
        if self.believes == "nothing" or (counts and not step_reward):
            return np.full(self.n_states, np.nan)
        values = self.values(goal)
        return -step_reward * values if counts and step_reward else values

    def arrivals(self, goal: int) -> Floats:
        """(S,) the probability of arriving that it believes in; NaN where its values say nothing of it."""
        return np.full(self.n_states, np.nan)

    def greedy(self, state: int, goal: int) -> int:
        """The best action; of several the one with the lowest number, so that asking changes nothing."""
        return int(first_best(self.action_values(state, goal)))

    def predict(
        self,
        observation: Mapping[str, Any],
        state: Any = None,
        episode_start: Any = None,
        deterministic: bool = True,
    ) -> tuple[Any, None]:
        """Greedy actions for observations of a goal environment, one or a batch, in Stable-Baselines3's way.

        `deterministic=False` breaks ties at random with the agent's own generator. `state` and
        `episode_start` are accepted for that interface; these policies have no hidden state.
        """
        try:
            states = np.asarray(observation["observation"])
            goals = np.asarray(observation["desired_goal"])
        except (KeyError, TypeError, IndexError):
            raise FwrlError(
                f"expected an observation with the keys 'observation' and 'desired_goal', got {observation!r}"
            ) from None
        pairs = np.broadcast(states, goals)
        chosen = [
            int(pick_best(self.action_values(int(s), int(g)), self.rng.random()))
            if not deterministic
            else self.greedy(int(s), int(g))
            for s, g in pairs
        ]
        if pairs.ndim == 0:
            return chosen[0], None
        return np.array(chosen, dtype=np.int64).reshape(pairs.shape[0], -1)[:, 0], None

    def save(self, path: str | Path) -> None:
        """Write everything needed to go on bit for bit: tables, clock and generator."""
        details = {
            "name": self.name,
            "n_states": self.n_states,
            "n_actions": self.n_actions,
            "config": asdict(self.config),
            "generator": self.rng.bit_generator.state,
        }
        arrays = dict(flattened(self.saved_tables(), self.scratch))
        write_archive(path, "agent", details, arrays)

    @classmethod
    def restore(cls, archive: Archive) -> Agent:
        """The agent that was saved."""
        try:
            details = archive.details
            config = cls.Config.of(details["config"])
            agent = cls.made_for(config)(*sizes_named(archive), 0, config)
            agent.rng.bit_generator.state = details["generator"]
            agent.tables = refilled(agent.tables, archive, agent.scratch)
            goal, step, steps, explore = agent.tables.episode
            if not (-1 <= goal < agent.n_states and step >= 0 and steps >= 1 and explore in (0, 1)):
                raise FileError("expected a clock with a goal, a step, a number of steps, and 0 or 1")
            agent.check_tables()
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
            raise FileError(f"{str(archive.path)!r} does not hold a sound {cls.name!r} agent: {error}") from error
        return agent

    def __repr__(self) -> str:
        options = ", ".join(f"{k}={v!r}" for k, v in asdict(self.config).items())
        return f"<{self.name} agent, {self.n_states} states, {self.n_actions} actions, {options}>"

    def _state(self, state: int, what: str = "state") -> int:
        return _index(state, self.n_states, f"a {what}")

    def _transitions(
        self, states: ArrayLike, actions: ArrayLike, rewards: ArrayLike, next_states: ArrayLike
    ) -> tuple[Ints, Ints, Floats, Ints]:
        s, a, n = (
            _integers(values, limit, what)
            for values, limit, what in (
                (states, self.n_states, "states"),
                (actions, self.n_actions, "actions"),
                (next_states, self.n_states, "next states"),
            )
        )
        r = np.ascontiguousarray(rewards, dtype=np.float64)
        if not len(s) == len(a) == len(r) == len(n) or r.ndim != 1:
            raise FwrlError(
                "expected four sequences of one length, got "
                f"{len(s)} states, {len(a)} actions, {r.size} rewards, {len(n)} next states"
            )
        if not np.isfinite(r).all():
            k = int(np.argmin(np.isfinite(r)))
            raise FwrlError(f"expected finite rewards, transition {k} has {r[k]}")
        return s, a, r, n


def positive_cycle(state: int, action: int, reward: float, next_state: int) -> PositiveCycleError:
    """The error for a step that would make some cycle profitable."""
    return PositiveCycleError(
        f"expected no cycle that gains reward, but going from state {state} by action {action} to "
        f"{next_state} for {reward:g} closes one; check the sign of the rewards, and pass goal rewards "
        "with arrived=True"
    )


def _index(value: int, limit: int, what: str) -> int:
    """`value` as Python's own integer: compiled code would be compiled anew for every other kind."""
    try:
        index = operator.index(value)
    except TypeError:
        raise FwrlError(f"expected {what} from 0 to {limit - 1}, got {value!r}") from None
    if not 0 <= index < limit:
        raise FwrlError(f"expected {what} from 0 to {limit - 1}, got {index}")
    return index


def _integers(values: ArrayLike, limit: int, what: str) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise FwrlError(f"expected a sequence of integers as {what}, got {array.dtype} {array.shape}")
    if array.size and not (array.min() >= 0 and array.max() < limit):
        raise FwrlError(f"expected {what} from 0 to {limit - 1}, got {array.min()} to {array.max()}")
    return np.ascontiguousarray(array, dtype=np.int64)
