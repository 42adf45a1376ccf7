"""A world: a finite Markov decision process without a goal.

`P(s' | s, a)` and `r(s, a, s')` are one flat table of outcomes (`fwrl.worlds.outcomes`). Distances are measured on the
moves without wind (`fwrl.worlds.moves`). The other fields are for people: names, labels, positions, and the map that
the world was read from.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fwrl.arguments import check_real, check_whole
from fwrl.arrays import Floats, Ints
from fwrl.display import Picture, drawn, html_table, visible
from fwrl.errors import FwrlError
from fwrl.worlds.moves import Moves, graph, hops
from fwrl.worlds.outcomes import Outcome, OutcomeTables

if TYPE_CHECKING:
    from fwrl.worlds.grid import Grid

WIDEST_TEXT = 60  # cells of a map that notebooks show as text


@dataclass(frozen=True, eq=False)
class World:
    """A finite Markov decision process without a goal.

    Attributes:
        n_states: S.
        n_actions: A.
        tables: The outcomes of every (state, action), in flat arrays.
        moves: The moves on which distances are measured.
        positions: (S, 2) x to the right and y downwards; None for worlds without positions.
        labels: S labels; None for worlds without any.
        terminals: The terminal reward of each absorbing state of a table world.
        starts: (S,) the source's start distribution; None if it doesn't have one.
        grid: The map; None for worlds without one.
        description: One line for listings.

    >>> from fwrl.worlds import load_world
    >>> world = load_world("four-rooms")
    >>> world.n_states, world.n_actions
    (68, 4)
    >>> world.outcomes(world.state_at(1, 1), 3)
    [Outcome(probability=1.0, next_state=1, reward=-0.00025)]
    """

    name: str
    n_states: int
    n_actions: int
    tables: OutcomeTables
    moves: Moves
    action_names: tuple[str, ...]
    positions: Floats | None = None
    labels: tuple[str, ...] | None = None
    terminals: Mapping[int, float] = field(default_factory=dict)
    starts: Floats | None = None
    grid: Grid | None = None
    description: str = ""

    def __post_init__(self) -> None:
        """Names and descriptions come from files of others: nothing in them may move a cursor or colour a terminal."""
        for name in ("name", "description"):
            object.__setattr__(self, name, visible(getattr(self, name)))
        if self.labels is not None:
            object.__setattr__(self, "labels", tuple(map(visible, self.labels)))

    @classmethod
    def from_gymnasium(cls, env: Any) -> World:
        """Make the world of a Gymnasium environment, or its id, with a transition table `env.unwrapped.P`.

        A terminated transition ends in an absorbing state, and its reward becomes that state's terminal reward; see
        `fwrl.worlds.table`.

        >>> lake = World.from_gymnasium("FrozenLake-v1")
        >>> lake.n_states, lake.terminals[15], lake.terminals[5]
        (16, 1.0, 0.0)
        """
        from fwrl.worlds.table import from_gymnasium

        return from_gymnasium(env)

    def __repr__(self) -> str:
        return f"World({self.name!r}, {self.n_states} states, {self.n_actions} actions)"

    def plot(self) -> Picture:
        """Draw the map as a matplotlib figure; without a map, the states at their positions or in a lattice."""
        return drawn("world_figure", self)

    def _repr_html_(self) -> str:
        from fwrl.worlds.drawing import draw

        rows = {"states": self.n_states, "actions": ", ".join(self.action_names)}
        rows["outcomes"] = "certain" if self.deterministic else "uncertain"
        if self.step_reward is not None:
            rows["reward of a step"] = f"{self.step_reward:g}"
        table = html_table(f"world {self.name}", rows, self.description)
        if self.grid is None or max(self.grid.states.shape) > WIDEST_TEXT:
            return table
        lines = html.escape(draw(self))
        return f'{table}<pre style="line-height: 1.05">{lines}</pre>'

    def outcomes(self, state: int, action: int) -> list[Outcome]:
        """List the possible outcomes (probability, next_state, reward) of an action; the probabilities sum to 1."""
        self._check(state)
        check_whole("an action", action, 0, self.n_actions - 1)
        T = self.tables
        k = state * self.n_actions + action
        return [
            Outcome(float(T.probability[o]), int(T.next_state[o]), float(T.reward[o]))
            for o in range(T.first[k], T.first[k + 1])
        ]

    def state_at(self, x: float, y: float) -> int:
        """Return the state at column x, from 0 at the left, and row y, from 0 at the top; raise if there's none."""
        x, y = check_real("x", x), check_real("y", y)
        state = -1
        if self.grid is None:
            state = self._state_by_position.get((float(x), float(y)), -1)
        elif float(x).is_integer() and float(y).is_integer():
            height, width = self.grid.states.shape
            if 0 <= x < width and 0 <= y < height:
                state = int(self.grid.states[int(y), int(x)])
        if state < 0:
            raise FwrlError(f"({x:g}, {y:g}) isn't a floor cell of {self.name!r}; choose one of its cells")
        return state

    def position(self, state: int) -> tuple[float, float]:
        """Return the position of a state, as column x and row y."""
        self._check(state)
        x, y = self._placed[state]
        return float(x), float(y)

    def label(self, state: int) -> str:
        """Return a state's label for people; without labels its position, without positions its number."""
        self._check(state)
        if self.labels is not None:
            return self.labels[state]
        if self.positions is not None:
            x, y = self.positions[state]
            return f"({x:g}, {y:g})"
        return str(state)

    def distances_to(self, *goals: int) -> Floats:
        """Return the (S,) distance from every state to the nearest of several goals; inf if no moves go there."""
        from scipy.sparse.csgraph import dijkstra

        for goal in goals:
            self._check(goal)
        nearest = [int(goal) for goal in goals]
        distances: Floats = dijkstra(self._reversed_moves, indices=nearest, min_only=True)
        return distances

    def distance(self, state: int, goal: int) -> float:
        """Return the distance between two states: the fewest moves without wind; on octile maps their length.

        inf if no moves go to the goal.
        """
        self._check(state)
        return float(self.distances_to(goal)[state])

    @cached_property
    def regions(self) -> Ints:
        """(S,) the region of each state; states of one region reach each other."""
        from scipy.sparse.csgraph import connected_components

        found = connected_components(self._reach, directed=True, connection="strong")[1]
        _, seen, region = np.unique(found, return_index=True, return_inverse=True)
        rank = np.empty(len(seen), dtype=np.int64)
        rank[np.argsort(seen)] = np.arange(len(seen))
        return rank[region]

    def out_of_reach(self, state: int) -> Ints:
        """List the states that no sequence of outcomes reaches from a state, in order."""
        from scipy.sparse.csgraph import breadth_first_order

        self._check(state)
        unreached = np.ones(self.n_states, dtype=np.bool_)
        unreached[breadth_first_order(self._reach, int(state), return_predecessors=False)] = False
        return np.flatnonzero(unreached)

    @property
    def deterministic(self) -> bool:
        """Whether every action has exactly one outcome."""
        return len(self.tables.next_state) == self.n_states * self.n_actions

    @cached_property
    def step_reward(self) -> float | None:
        """The reward of every step; None if rewards differ."""
        rewards = self.tables.reward
        return float(rewards[0]) if np.all(rewards == rewards[0]) else None

    def _check(self, state: int) -> None:
        check_whole("a state", state, 0, self.n_states - 1)

    @property
    def _placed(self) -> Floats:
        if self.positions is None:
            raise FwrlError(f"the world {self.name!r} has no positions; its states are only numbers")
        return self.positions

    @cached_property
    def _state_by_position(self) -> dict[tuple[float, float], int]:
        """The state at each position; the lowest if several share one."""
        placed = self._placed.tolist()
        return {(x, y): s for s, (x, y) in reversed(list(enumerate(placed)))}

    @cached_property
    def _reversed_moves(self) -> Any:
        return graph(self.moves).T.tocsr()

    @cached_property
    def _reach(self) -> Any:
        """The graph of possible outcomes, each edge once: SciPy's components don't return on repeated edges."""
        S, A, T = self.n_states, self.n_actions, self.tables
        source = np.repeat(np.arange(S), np.diff(T.first[::A]))
        return graph(hops(S, source, T.next_state))
