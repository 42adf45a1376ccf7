"""The base class of agents: tables, a generator, and three compiled verbs over them.

The verbs are `act`, `observe` and `action_values` (see `agents.loops`).

`observe` gets path rewards, without the goal reward, which isn't part of F. On the arriving step (in the paper's
protocol, the one taken *on* the goal) `arrived` is true and the reward is the goal reward. Q-learning needs it; FWRL
and model-based agents learn nothing from it.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from fwrl.agents.loops import PENDING, POSITIVE_CYCLE, act_once, observe_all, observe_once
from fwrl.agents.tables import (
    check,
    grown_tables,
    named_sizes,
    restored_tables,
    saved_arrays,
    sections_of,
)
from fwrl.agents.validation import (
    Transitions,
    checked_index,
    checked_marks,
    checked_reward,
    checked_transitions,
    first_ends,
)
from fwrl.agents.value_function import Tables, ValueFunction
from fwrl.arguments import check_seed, check_whole
from fwrl.arrays import Ints, empty
from fwrl.display import Picture, drawn, html_table
from fwrl.errors import FileError, FwrlError, OptionError, PositiveCycleError, unknown_name
from fwrl.files import Archive, write_archive
from fwrl.kernels.edges import with_capacity, without_spare
from fwrl.kernels.exploration import DEFAULT_STEPS, EXPLORE, GOAL, STEP, STEPS

LONGEST = 10**9  # steps of an episode
MOST_STATES = 2**31 - 1
REMEDY = "check the sign of the rewards, and pass goal rewards with arrived=True"  # against positive cycles
CHUNK = 1 << 20  # transitions for which observe_many reserves memory at a time


@dataclass(frozen=True)
class Config:
    """An agent's options; each agent has its own frozen subclass."""

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Make the configuration with some options given, the others at their defaults.

        Raises:
            OptionError: the agent doesn't have such an option; the message names close matches.
        """
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise OptionError(str(unknown_name("option", name, known or ["(none)"])))
        return cls(**options)


class Agent(ABC, ValueFunction[Tables]):
    """Learns from transitions and answers: which action at state s for goal g?

    A subclass sets `name`, `description`, `Config` and `verbs`. Its tables are a NamedTuple of arrays, or of such
    NamedTuples, each specified as a `Field`, with a field `episode: Episode`.

    Args:
        n_states: S.
        n_actions: A.
        seed: seeds the agent's own generator.
        config: an instance of its `Config`; None for the defaults.

    Attributes:
        name: the registered name.
        description: one line for lists of agents.
        verbs: its compiled functions, from `register_verbs`.
        tables: everything it has learned, data derived from that, and scratch.
        rng: its generator.

    >>> import fwrl
    >>> agent = fwrl.make_agent("fwrl", n_states=3, n_actions=1)
    >>> agent.observe(0, 0, -1.0, 1)
    >>> agent.observe(1, 0, -1.0, 2)
    >>> agent.value(0, 2)
    -2.0
    """

    name: ClassVar[str]
    description: ClassVar[str]
    Config: ClassVar[type[Config]]

    @classmethod
    def class_for(cls, config: Any, n_states: int) -> type[Agent]:
        """Return the class that implements a configuration.

        A registered name may map to several classes, depending on its options; this one by default.
        """
        return cls

    def __init__(
        self,
        n_states: int,
        n_actions: int,
        seed: int | np.random.SeedSequence | None = 0,
        config: Any = None,
    ) -> None:
        self.n_states = check_whole("n_states", n_states, 1, MOST_STATES)
        self.n_actions = check_whole("n_actions", n_actions, 1, MOST_STATES)
        check_seed(seed)
        self.config = self.Config() if config is None else config
        self.rng = np.random.default_rng(seed)
        self.tables = self.empty_tables()

    def sizes(self) -> dict[str, int]:
        """Return the sizes used by the specifications of fields: S, A and P = S A; an agent may add others."""
        return {"S": self.n_states, "A": self.n_actions, "P": self.n_states * self.n_actions}

    def empty_tables(self) -> Tables:
        """Make the tables of an agent before any observation, as their fields specify."""
        tables: Tables = empty(self.verbs.tables, self.sizes())
        return tables

    def reserve(self, observations: int) -> None:
        """Grow the tables' field `edges`, if they have one, for more observations; other tables have a fixed size."""
        edges = getattr(self.tables, "edges", None)
        if edges is not None:
            grown = with_capacity(edges, observations)
            if grown is not edges:
                self.tables = cast(Any, self.tables)._replace(edges=grown)

    def grow(self, n_states: int) -> None:
        """Make room for more states; everything learned stays.

        Afterwards the agent acts like one made for that many states from the start, with four exceptions. With
        `storage="columns"` and positive rewards, values may differ in their last bits, as after loading. Agents that
        learn from every step about every goal (`dg`, `agql`, `tdm`) know nothing yet about new goals. `uvfa` draws the
        embeddings of new states at random. Agents with positions or features of their states can't grow, and neither
        can agents in plain Python that name no `sections`.

        Args:
            n_states: the new number of states, at least the current one. Growing costs as much as loading the agent, so
                if you meet states one by one, double the number.

        Raises:
            OptionError: fewer states than before, or too many for the agent's tables; the agent is unchanged.
        """
        n_states = check_whole("n_states", n_states, 0, MOST_STATES)
        if n_states < self.n_states:
            raise OptionError(f"an agent with {self.n_states} states can't shrink to {n_states}")
        if n_states == self.n_states:
            return
        sections = self.saved_sections()
        before, generator = (self.n_states, self.tables), self.rng.bit_generator.state
        known = saved_arrays(self.saved_tables(), sections)
        try:
            self.n_states = int(n_states)
            self.tables = self.empty_tables()
            self.tables = self.completed_tables(grown_tables(self.saved_tables(), known, sections))
            self.check_tables()
        except BaseException:
            self.n_states, self.tables = before
            raise
        finally:
            self.rng.bit_generator.state = generator

    def prepare(self, goal: int) -> None:
        """Get ready for a new goal; called when an episode begins, before the goal is set."""

    def saved_tables(self) -> Any:
        """Return the tables to save, without spare room for edges and what `completed_tables` can recompute."""
        edges = getattr(self.tables, "edges", None)
        return self.tables if edges is None else cast(Any, self.tables)._replace(edges=without_spare(edges))

    def completed_tables(self, saved: Any) -> Tables:
        """Complete tables from a file; the inverse of `saved_tables`. FileError if the file is inconsistent."""
        tables: Tables = saved
        return tables

    def check_tables(self) -> None:
        """Check tables from a file against their specification; FileError if an array doesn't match."""
        check(self.tables, self.sizes())

    def saved_sections(self) -> dict[str, str]:
        """Return names in a saved file -> paths of fields in `saved_tables`.

        These are the fields specified as saved. The others follow from the configuration, or are scratch.
        """
        return sections_of(self.verbs.tables)

    @property
    def goal(self) -> int | None:
        """The current goal, None before the first episode."""
        goal = int(self._episode[GOAL])
        return goal if goal >= 0 else None

    def checked_episode(self, goal: int, steps: int) -> int:
        """Check goal and length of an episode, and return the goal; for agents that change before `prepare`.

        Raises:
            FwrlError: the goal isn't a state, or the length is out of range.
        """
        check_whole("steps", steps, 1, LONGEST)
        return self._state(goal, "goal")

    def begin_episode(self, goal: int, steps: int = DEFAULT_STEPS, *, explore: bool = True) -> None:
        """Begin an episode.

        Args:
            goal: state to reach.
            steps: length of the episode, over which exploration decreases.
            explore: False to act greedily throughout.
        """
        goal = self.checked_episode(goal, steps)
        self.prepare(goal)
        episode = self._episode
        episode[GOAL], episode[STEP], episode[STEPS], episode[EXPLORE] = goal, 0, steps, int(explore)

    def act(self, state: int) -> int:
        """Choose an action towards the current goal, exploration included; this draws from the generator."""
        state = self._state(state)
        if self.goal is None:
            raise FwrlError("no goal is set; call begin_episode(goal) before act(state)")
        return int(act_once.of(self.verbs)(self.tables, state, self.rng))

    def flush(self, *, before_acting: bool = True) -> None:
        """Process what the compiled `observe` left pending.

        Args:
            before_acting: False if more observations follow; then only the check that may refuse the latest ones is
                due.

        Raises:
            PositiveCycleError: the latest observations close a positive cycle.
        """

    def mark_terminated(self, state: int) -> bool:
        """Learn that the environment ends at a state, before the transition that ends there is learned.

        Agents whose answers don't depend on it ignore it.

        Returns:
            Whether there's something to undo if the transition is refused.
        """
        return False

    def unmark_terminated(self, state: int) -> None:
        """Undo `mark_terminated` if it returned True and the transition was refused."""

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
            reward: the step's own reward, at most 1e100 in size; on the arriving step, the goal reward.
            next_state: where it ended.
            arrived: whether this is the arriving step.
            terminated: whether the environment ended there, so nothing follows `next_state`. A truncated episode isn't
                terminated.

        Raises:
            PositiveCycleError: the step would close a positive cycle; the agent is unchanged.
        """
        state, next_state = self._state(state), self._state(next_state)
        action = checked_index(action, self.n_actions, "an action")
        reward = checked_reward(reward)
        self.reserve(1)
        marked = bool(terminated) and self.mark_terminated(next_state)
        try:
            status = observe_once.of(self.verbs)(self.tables, state, action, reward, next_state, bool(arrived))
            if status == POSITIVE_CYCLE:
                raise positive_cycle(state, action, reward, next_state)
            if status == PENDING or terminated:
                self.flush()
        except PositiveCycleError:
            if marked:
                self.unmark_terminated(next_state)
            raise

    def observe_many(
        self,
        states: ArrayLike,
        actions: ArrayLike,
        rewards: ArrayLike,
        next_states: ArrayLike,
        terminated: ArrayLike | None = None,
    ) -> None:
        """Learn from N transitions in order, in one compiled call; none of them is an arriving step.

        Args:
            states: (N,) integers.
            actions: (N,) integers.
            rewards: (N,) numbers of at most 1e100 in size.
            next_states: (N,) integers.
            terminated: (N,) True if the environment ended there; None if it never did.

        Raises:
            PositiveCycleError: a transition would close a positive cycle; those before it stay learned, and the message
                says how many.
        """
        transitions = checked_transitions(states, actions, rewards, next_states, self.n_states, self.n_actions)
        N = len(transitions.state)
        ends = set() if terminated is None else first_ends(transitions.next_state, checked_marks(terminated, N))
        for begin, end in pairwise(sorted({0, N} | ends)):
            # A state counts as terminated from the first transition that ended there, as if they came one by one.
            ended = int(transitions.next_state[begin])
            marked = begin in ends and self.mark_terminated(ended)
            k, refusal = self._observe_part(transitions, begin, end)
            if refusal is not None:
                if marked and k == begin:
                    self.unmark_terminated(ended)
                raise PositiveCycleError(f"transition {k}: {refusal}; the {k} before it were learned")
        self.flush()

    def _observe_part(self, transitions: Transitions, k: int, end: int) -> tuple[int, PositiveCycleError | None]:
        """Learn from transitions k to `end` - 1; return the index of the first refused one, and the refusal."""
        while k < end:
            s, a, r, n = (column[k : min(k + CHUNK, end)] for column in transitions)
            self.reserve(len(s))
            learned, status = observe_all.of(self.verbs)(self.tables, s, a, r, n)
            k += learned
            if status == POSITIVE_CYCLE:
                return k, positive_cycle(*(column[k].item() for column in transitions))
            try:
                self.flush(before_acting=False)
            except PositiveCycleError as refusal:
                return k, refusal
        return end, None

    def save(self, path: str | Path) -> None:
        """Write what the agent has learned, and its generator, to a file; `fwrl.load` reads it."""
        details = {
            "name": self.name,
            "n_states": self.n_states,
            "n_actions": self.n_actions,
            "config": asdict(self.config),
            "generator": self.rng.bit_generator.state,
        }
        write_archive(path, "agent", details, saved_arrays(self.saved_tables(), self.saved_sections()))

    @classmethod
    def restore(cls, archive: Archive) -> Agent:
        """Restore an agent from a file of an agent with this name, in the class for its options."""
        try:
            config = cls.Config.of(archive.details["config"])
            n_states, n_actions = named_sizes(archive)
            agent = cls.class_for(config, n_states)(n_states, n_actions, 0, config)
            agent.rng.bit_generator.state = archive.details["generator"]
            saved = restored_tables(agent.saved_tables(), archive, agent.saved_sections())
            agent.tables = agent.completed_tables(saved)
            goal, step, steps, explore = agent.tables.episode
            if not (-1 <= goal < n_states and step >= 0 and steps >= 1 and explore in (0, 1)):
                raise FileError("expected an episode as goal, step, number of steps, and 0 or 1")
            agent.check_tables()
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError, MemoryError) as error:
            raise FileError(f"{str(archive.path)!r} is not a valid {cls.name!r} agent file: {error}") from error
        return agent

    def __repr__(self) -> str:
        options = ", ".join(f"{k}={_short(v)}" for k, v in asdict(self.config).items())
        return f"<{self.name} agent, {self.n_states} states, {self.n_actions} actions, {options}>"

    def plot(self, goal: int, world: Any = None) -> Picture:
        """Draw the values for a goal, as a matplotlib figure.

        Args:
            goal: state to reach.
            world: if it has positions, draw a map with the greedy actions as arrows; None for values by state.
        """
        return drawn("agent_figure", self, self._state(goal, "goal"), world)

    def _repr_html_(self) -> str:
        rows: dict[str, Any] = {"states": self.n_states, "actions": self.n_actions}
        rows |= {name: _short(value) for name, value in asdict(self.config).items()}
        rows["goal in use"] = "none" if self.goal is None else self.goal
        return html_table(f"agent {self.name}", rows, self.description)

    @property
    def _episode(self) -> Ints:
        episode: Ints = cast(Any, self.tables).episode
        return episode


def _short(option: Any) -> str:
    """Format an option's value briefly: for rows of numbers, how many."""
    return f"<{len(option)} rows>" if isinstance(option, tuple) else repr(option)


def positive_cycle(state: int, action: int, reward: float, next_state: int) -> PositiveCycleError:
    """Make the error for a step that would close a positive cycle."""
    return PositiveCycleError(
        f"going from state {state} by action {action} to {next_state} for {reward:g} would close a positive cycle; "
        f"{REMEDY}"
    )
