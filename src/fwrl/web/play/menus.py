"""What a page can choose from: worlds as boards, maps drawn on the page, and agents with their options.

On a board every cell of the map is a state, walls too. A board of W x H cells has W H states, numbered row by row, so
the state of a cell does not depend on where the walls are. An agent therefore keeps what it knows when a wall is drawn
or erased. The state of a wall leads only to itself, and nothing leads to it. Numbers rise in the same order as in the
world itself, so the same seeds draw the same starts and the same outcomes.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np

from fwrl.agents import agent_class, agent_classes, agent_names, make_agent
from fwrl.agents.agent import Agent
from fwrl.agents.python_agent import PythonAgent
from fwrl.agents.registry import OURS
from fwrl.arrays import Ints
from fwrl.errors import FwrlError, unknown_name
from fwrl.task.agent_for_world import agent_for
from fwrl.task.task import GOAL_REWARD
from fwrl.web.play.interpreted import interpreted
from fwrl.worlds import World, load_world, world_names
from fwrl.worlds.grid import DIRECTIONS, Grid, from_map
from fwrl.worlds.listed import from_arrays
from fwrl.worlds.moves import compress
from fwrl.worlds.outcomes import Listed

FIRST = "four-rooms"
GENERATED = ("four-rooms-32", "four-rooms-60", "maze-21x21-7", "maze-41x41-1")
DRAWN = "drawn"  # the name of a world drawn on the page

VARIANTS: dict[str, Mapping[str, Any]] = {
    "fwrl-expected": {"backup": "expected"},
    "fwrl-optimistic": {"explorer": "optimistic"},
    "fwrl-beyond": {"backup": "expected", "explorer": "optimistic"},
}
OTHERS = "From other packages"


class Entry(NamedTuple):
    """An agent in the menu: its group, the name that people know, and one sentence."""

    group: str
    title: str
    sentence: str


_STITCH, _Q, _MODEL, _DISTANCE, _CHANCE = "Stitches trips", "Q-learning", "Plans on a model", "Distances", "Chance"
ENTRIES = {
    "fwrl": Entry(_STITCH, "FWRL", "Keeps the best known path between every two cells, so any cell can be the goal."),
    "fwrl-expected": Entry(_STITCH, "FWRL with means", "Averages outcomes instead of keeping the best one."),
    "fwrl-optimistic": Entry(_STITCH, "FWRL, optimistic", "Explores without dice: it tries what it has not tried."),
    "fwrl-beyond": Entry(_STITCH, "FWRL with means, optimistic", "Averages outcomes, and tries what it has not tried."),
    "qlcat": Entry(_Q, "Q-learning with goals", "Keeps a table of values for each goal; a new goal has an empty one."),
    "ql": Entry(_Q, "Q-learning", "Keeps one table of values, and starts over with every episode."),
    "agql": Entry(_Q, "All-goals Q-learning", "Lets every step teach every goal, and replays old steps."),
    "her": Entry(_Q, "Hindsight replay", "Replays trips as if it had wanted to go where it ended up (HER)."),
    "mbrl": Entry(_MODEL, "Model-based RL", "Counts outcomes and plans exactly on the counts."),
    "mbrl-straight": Entry(_MODEL, "Model-based RL, straight", "Plans straight lines only, like the authors' program."),
    "sweeping": Entry(_MODEL, "Prioritised sweeping", "Counts outcomes and repeats the backups that matter most."),
    "rmax": Entry(_MODEL, "R-max", "Treats what it has tried too seldom as if it led to the goal."),
    "psrl": Entry(_MODEL, "Posterior sampling", "Draws a model that fits its counts, and follows the best plan there."),
    "dg": Entry(_DISTANCE, "DG-learning", "Learns the number of steps to every goal (Kaelbling 1993)."),
    "tdm": Entry(_DISTANCE, "Temporal difference models", "Learns how far from each goal it ends when time is up."),
    "trl": Entry(_DISTANCE, "Transitive RL", "Learns a long trip from its two halves (TRL); each pair needs a trip."),
    "uvfa": Entry(_DISTANCE, "Universal values", "Embeds states and goals, and guesses values from both (UVFA)."),
    "random": Entry(_CHANCE, "Random walk", "Takes random actions and learns nothing."),
}


def drawable(world: World) -> Grid:
    """The grid of a world, or an error if the page cannot draw it."""
    if world.grid is None or not set(world.action_names) <= set(DIRECTIONS):
        raise FwrlError(f"the world {world.name!r} is a table and cannot be drawn; choose one on a grid")
    return world.grid


def floor_cells(world: World) -> Ints:
    """The cells of a world's map that are not walls, in order.

    >>> from fwrl.worlds import load_world
    >>> floor_cells(load_world("h-maze")).tolist()
    [0, 2, 3, 4, 5, 6, 8]
    """
    return np.flatnonzero(drawable(world).states.ravel() >= 0)


def board_world(world: World) -> World:
    """The world with one state per cell.

    >>> from fwrl.worlds import load_world
    >>> board = board_world(load_world("h-maze"))
    >>> board.n_states, board.outcomes(1, 0)[0].next_state, board.outcomes(0, 1)[0].next_state
    (9, 1, 3)
    """
    grid = drawable(world)
    if world.n_states == grid.states.size:
        return world
    S, A, T = grid.states.size, world.n_actions, world.tables
    floor, walls = floor_cells(world), np.flatnonzero(grid.states.ravel() < 0)
    pair = np.repeat(np.arange(world.n_states * A), np.diff(T.first))
    stuck = np.repeat(walls, A)
    listed = Listed(
        np.concatenate([floor[pair // A], stuck]),
        np.concatenate([pair % A, np.tile(np.arange(A), len(walls))]),
        np.concatenate([T.probability, np.ones(len(stuck))]),
        np.concatenate([floor[T.next_state], stuck]),
        np.concatenate([T.reward, np.full(len(stuck), T.reward.max())]),
    )
    source = np.repeat(np.arange(world.n_states), np.diff(world.moves.first))
    y, x = np.divmod(np.arange(S), grid.states.shape[1])
    cells = np.where(grid.states >= 0, np.arange(S).reshape(grid.states.shape), -1)
    return from_arrays(
        world.name,
        S,
        A,
        listed,
        moves=compress(S, floor[source], floor[world.moves.target], world.moves.length),
        action_names=world.action_names,
        positions=np.stack([x, y], axis=1).astype(np.float64),
        grid=replace(grid, states=cells),
        description=world.description,
    )


@functools.cache
def world_menu() -> tuple[str, ...]:
    """The names of the worlds to choose from, the paper's first.

    >>> world_menu()[0]
    'four-rooms'
    """
    return (FIRST, *(name for name in world_names() if name != FIRST and _can_be_drawn(name)), *GENERATED)


def menu_world(name: str) -> World:
    if name not in world_menu():
        raise unknown_name("world", name[:60], world_menu())
    return load_world(name)


def drawn_world(text: str) -> World:
    r"""The world of a map drawn on a page.

    >>> drawn_world("..\n.#").n_states
    3
    """
    return from_map(text, DRAWN)


def _can_be_drawn(name: str) -> bool:
    try:
        drawable(load_world(name))
    except FwrlError:
        return False
    return True


def agent_menu() -> dict[str, Entry]:
    """The agents to choose from by name, group by group.

    >>> [entry.title for entry in agent_menu().values()][:2]
    ['FWRL', 'FWRL with means']
    """
    others = {
        name: Entry(OTHERS, name, f"{cls.description}{' (plain Python: slower)' * issubclass(cls, PythonAgent)}")
        for name, cls in agent_classes().items()
        if name not in ENTRIES
    }
    return {**ENTRIES, **others}


class AgentChoice(NamedTuple):
    """An agent of the menu, with options that replace those of its name.

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
        changed = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in self.options)
        usual = ENTRIES[self.name].title if self.name in ENTRIES else self.name
        return usual + (f" ({changed})" if changed else "")

    @property
    def stitches(self) -> bool:
        """Whether it joins parts of earlier trips: FWRL does."""
        return self.name == "fwrl" or self.name in VARIANTS

    def make(self, n_states: int, n_actions: int, seed: int) -> Agent:
        """A new agent that knows no positions."""
        name, options = self.constructor
        return make_agent(name, n_states, n_actions, seed, **options)

    def make_for(self, world: World, seed: int) -> Agent:
        name, options = self.constructor
        return agent_for(world, name, seed, **options)

    @property
    def constructor(self) -> tuple[str, dict[str, Any]]:
        """The registered name, and all options that are not those of its class."""
        _check_name(self.name)
        return _registered_name(self.name), {**VARIANTS.get(self.name, {}), **dict(self.options)}


def default_options(name: str) -> dict[str, Any]:
    """Every option of the agent of this name, with the value that it has in the menu.

    >>> default_options("fwrl-expected")["backup"]
    'expected'
    """
    _check_name(name)
    config = agent_class(_registered_name(name)).Config
    usual = {field.name: field.default for field in fields(config) if field.default is not MISSING}
    return {**usual, **VARIANTS.get(name, {})}


def option_choices(name: str) -> list[dict[str, Any]]:
    """The options of an agent as JSON, for a form: name, value, and the choices if there are few.

    >>> option_choices("ql")[0]
    {'name': 'learning_rate', 'value': 1.0, 'choices': None}
    """
    hints = get_type_hints(agent_class(_registered_name(name)).Config)
    return [
        {
            "name": option,
            "value": value,
            "choices": list(get_args(hints[option])) if get_origin(hints[option]) is Literal else None,
        }
        for option, value in default_options(name).items()
    ]


@functools.lru_cache(64)
def never_forgets(choice: AgentChoice) -> bool:
    """Whether the agent goes on believing in a step that has stopped working.

    It is asked: one step leads from state 0 to state 1, and fails at each of many later tries.

    >>> never_forgets(AgentChoice("fwrl")), never_forgets(AgentChoice("fwrl-expected"))
    (True, False)
    """
    agent = interpreted(choice.make(3, 2, 0))
    if agent.value_kind is None:
        return False
    agent.begin_episode(1)
    agent.observe(1, 0, GOAL_REWARD, 1, arrived=True)
    agent.observe(0, 1, -1.0, 1)
    before = agent.action_values(0, 1)[1]
    for _ in range(20):
        agent.observe(0, 1, -1.0, 0)
    return bool(np.isfinite(before) and agent.action_values(0, 1)[1] == before)


def _registered_name(name: str) -> str:
    return "fwrl" if name in VARIANTS else name


def _check_name(name: str) -> None:
    # Asking for the agents of installed packages reads files, and this is asked at every message.
    if name not in VARIANTS and name not in OURS and name not in agent_names():
        raise unknown_name("agent", name[:60], agent_menu())
