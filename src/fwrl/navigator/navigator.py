"""A navigator reaches any point of a continuous world that its data have visited.

It plans on counted transitions between cells (`transitions`, `goal_plan`) and acts through a linear model of motion
(`pursuit`). It solves the plan for a goal once, then keeps it.

We assume a Euclidean metric on the coordinates of goals, and that actions move these coordinates about linearly. The
navigator learns cells, transitions, the model of motion and the range of actions. It uses no map.

It may steer a hand that moves things and presses switches (`hand`). Then cells are places of the hand, a goal says
where things and switches should be, and its pursuit is an errand of several moves (`errand`).
"""

from __future__ import annotations

import functools
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from fwrl.arrays import Floats, Ints
from fwrl.display import Picture, counted, drawn, percent
from fwrl.errors import FwrlError, FwrlWarning, OptionError
from fwrl.navigator.action_labels import Headings, RawActions
from fwrl.navigator.episodes import as_numbers, point_of
from fwrl.navigator.fitted import FittedCells
from fwrl.navigator.goal_plan import NONE, Plan, confirmed_arrival, coverage, plan_for
from fwrl.navigator.hand_graph import DOUBT
from fwrl.navigator.motion import LinearMotion
from fwrl.navigator.pursuit import HeldAction, Pursuit
from fwrl.navigator.transitions import PRIOR, WAY_BACK, Model, Transitions, model_of, portals

if TYPE_CHECKING:
    from fwrl.navigator.errand import Errand
    from fwrl.navigator.hand import Hand

T = TypeVar("T")

MOST_PLANS = 256  # plans kept; then the oldest is dropped
DESIRED = "desired_goal"
SAMPLED = 8  # goals of `mean_confidence`
LOW = 0.5  # `aim` warns below this confidence
LONGEST = 10_000  # steps that `plot` draws
LARGEST = 1e100  # scaled coordinate, so that squared distances stay finite


@dataclass(frozen=True)
class Settings:
    """How a navigator was fitted.

    Attributes:
        window: steps of a window, k.
        prior: weight of the cell's other windows, in windows.
        way_back: weight of a window as evidence for the opposite direction.
        backup: "expected", or "best" for the paper's maximum over outcomes.
        coordinates: which coordinates goals use (see `fwrl.navigator.episodes.point_of`); with a hand, its own.
        doubt: of a hand: weight of the failure that a pair may hide, in episodes.
        give_up: of a hand: cost of giving up, in steps; None for one window for each cell.
        seed: of a hand's random detours.
    """

    window: int
    prior: float = PRIOR
    way_back: float = WAY_BACK
    backup: str = "expected"
    coordinates: tuple[int, ...] | str | None = None
    doubt: float = DOUBT
    give_up: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.window < 1:
            raise OptionError(f"expected a window of at least one step, got {self.window}")
        if not (0.0 <= self.prior < np.inf and 0.0 <= self.way_back < np.inf):
            raise OptionError(f"expected prior and way_back of at least 0, got {self.prior} and {self.way_back}")
        if self.backup not in ("expected", "best"):
            raise OptionError(f"expected backup='expected' or 'best', got {self.backup!r}")
        if not 0.0 <= self.doubt < np.inf:
            raise OptionError(f"expected a doubt of at least 0 episodes, got {self.doubt}")
        if self.give_up is not None and not 0.0 < self.give_up < np.inf:
            raise OptionError(f"expected a positive cost of giving up, got {self.give_up}")


class Navigator:
    """Reaches goals in a continuous world.

    A goal is a point (d,); with a hand, a whole observation, in which the places of things and the switches count.

    Args:
        cells: the states, in scaled coordinates.
        motion: from mean actions to scaled displacements.
        labels: headings, or raw actions.
        counts: transitions between cells.
        settings: how it was fitted.
        scale: (d,) divides coordinates with different units; None for 1.
        hand: what it moves and presses, if cells are places of a hand.
    """

    def __init__(
        self,
        cells: FittedCells,
        motion: LinearMotion,
        labels: Headings | RawActions,
        counts: Transitions,
        settings: Settings,
        scale: ArrayLike | None = None,
        hand: Hand | None = None,
    ) -> None:
        self.hand = hand
        self.cells, self.motion, self.labels, self.counts, self.settings = cells, motion, labels, counts, settings
        self.scale: Floats = np.ones(cells.centres.shape[1]) if scale is None else np.asarray(scale, np.float64)
        self.model: Model = self._model_of(best=settings.backup == "best")
        self._component = _component_sizes(self.model)
        self._plans: dict[int, Plan] = {}
        self._confirmed: dict[int, Floats] = {}
        self._goal: Any = None
        self._pursuit: Pursuit | HeldAction | Errand | None = None
        self._trace: deque[Floats] = deque(maxlen=LONGEST)

    def __repr__(self) -> str:
        d = self.cells.centres.shape[1]
        return (
            f"<Navigator: {len(self.cells):,} cells in {d} dimensions, {int(self.counts.times.sum()):,} windows of "
            f"{self.settings.window} steps; the motion model explains {self.explained:.1%} of the displacement; mean "
            f"confidence between visited places {self.mean_confidence:.0%}{f'; {self.hand}' if self.hand else ''}>"
        )

    @property
    def explained(self) -> float:
        """Share of the displacement that the motion model explains, from 0 to 1; below 0.5 headings hardly work."""
        return self.motion.explained

    @functools.cached_property
    def mean_confidence(self) -> float:
        """Mean confidence from all cells to 8 of them, spread over their order; from 0 to 1."""
        goals = np.unique(np.linspace(0, len(self.cells) - 1, SAMPLED).astype(np.int64))
        return float(np.mean([self._confirmed_arrival(int(cell)).mean() for cell in goals]))

    @property
    def penalty(self) -> float:
        """Cost of giving up, in steps; one window for each cell."""
        return float(len(self.cells) * self.settings.window) if self.hand is None else self.hand.penalty

    def point(self, observation: Any) -> Floats:
        """Return the scaled coordinates, (d,) or (n, d), of one or many observations."""
        return self._scaled(point_of(observation, self.settings.coordinates))

    def _scaled(self, point: Floats) -> Floats:
        if point.shape[-1:] != self.scale.shape:
            raise FwrlError(f"expected observations with {len(self.scale)} coordinates, got shape {point.shape}")
        return self._measurable(point)

    def goal_cell(self, goal: ArrayLike) -> int:
        """Return the cell of a goal, given in unscaled coordinates (d,).

        Among the cells within one width of the goal, prefer those connected both ways with the most cells, then the
        nearest: you can't plan for a corner in which an episode once began.
        """
        near = self.cells.near(self._goal_point(goal))
        return int(near[np.argmax(self._component[near])])

    def plan(self, goal: ArrayLike) -> Plan:
        """Return the plan for a goal (d,): value, probability of arriving and target of every cell."""
        return self._cell_plan(self.goal_cell(goal))

    def aim(self, goal: Any) -> None:
        """Set the goal for `act`; warn with FwrlWarning if the data hardly support a point (d,)."""
        self._pursuit, self._goal = self._pursue(goal), goal
        self._trace.clear()
        if self.hand is not None:
            return
        cell = self.goal_cell(goal)
        covered = self._coverage(self._goal_point(goal), cell)
        mean = covered * float(self._confirmed_arrival(cell).mean())
        if mean < LOW:
            missing = "no episode came near it" if covered < LOW else "few episodes show how to get there"
            warnings.warn(
                f"the goal {np.asarray(goal).tolist()} may be out of reach: mean confidence {mean:.0%}, {missing}; "
                "check one start with confidence(observation, goal), or add episodes",
                FwrlWarning,
                stacklevel=2,
            )

    def act(self, observation: Any) -> Floats:
        """Choose the next (m,) action towards the goal; NoPlanError if a hand has never seen how to get there."""
        pursuit, row = self._aimed(), self._plain(observation)
        action: Floats = pursuit.act(self._read(row))
        self._trace.append(row)
        return action

    def explain(self, observation: Any) -> str:
        """Say in words what `act` does next and why; with a hand, also the order of moves and the reason for it."""
        pursuit = self._aimed()
        if self.hand is not None:
            return str(pursuit.explain(self.hand.see(observation)))
        goal, plan = self._goal, self.plan(self._goal)
        cell, windows, least = self.cells.cell(self.point(observation)), 0, np.inf
        where = f"({', '.join(f'{x:.3g}' for x in np.asarray(goal))})"
        if cell != plan.goal and plan.label[cell] == NONE:
            return f"Nobody was here, or nobody went on to {where}: go straight to where somebody was."
        while cell != plan.goal and plan.label[cell] != NONE and windows < len(self.cells):
            followed = (self.counts.source == cell) & (self.counts.label == plan.label[cell])
            least = min(least, self.counts.times[followed].sum())
            cell, windows = int(plan.target[cell]), windows + 1
        seen = f", each seen in at least {counted(int(least), 'window')} of the data" if windows else ""
        if least < 1:
            seen = ", some of them only seen in the opposite direction"
        windows_to_go = f"{counted(windows, 'window')} of {counted(self.settings.window, 'step')} to go{seen}"
        return f"Go to {where}: {windows_to_go}; arrives with probability {percent(self.arrival(observation, goal))}."

    def plot(self, path: Any = None) -> Picture:
        """Draw cells, the plan for the goal that `aim` set, and a path; with a hand, for each thing and its modes.

        Args:
            path: (n, observation) rows to draw; default: what `act` saw since `aim`, the last 10,000 steps.
        """
        rows = list(self._trace) if path is None else path
        return drawn("navigator_figure", self, self._goal, rows if len(rows) else None)

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> tuple[NDArray[Any], Any]:
        """Return actions with the interface of Stable-Baselines3, for one or many Dict observations.

        Args:
            observation: a mapping with `achieved_goal` and `desired_goal`, of one environment or of many.
            state: the result of the previous call; None at first.
            episode_start: (n,) whether an episode begins. Without it, a new goal begins an episode.
            deterministic: ignored; the actions are always deterministic.

        Returns:
            The action, or one row for each environment; and the state for the next call.
        """
        if not isinstance(observation, Mapping) or DESIRED not in observation:
            raise FwrlError(
                "expected Dict observations with 'desired_goal'; otherwise use aim(goal) and act(observation)"
            )
        rows, goals = self._plain(observation), as_numbers(observation[DESIRED], "goals")
        many = rows.ndim == 2
        rows, goals = np.atleast_2d(rows), np.atleast_2d(goals)
        starts = np.zeros(len(rows), bool) if episode_start is None else np.atleast_1d(episode_start)
        before: Sequence[Any] = state if state is not None else [None] * len(rows)
        after = [
            (goal, self._pursue(goal)) if old is None or start or (old[0] != goal).any() else old
            for old, start, goal in zip(before, starts, goals, strict=True)
        ]
        actions = np.stack([pursuit.act(self._read(row)) for (_, pursuit), row in zip(after, rows, strict=True)])
        return (actions if many else actions[0]), after

    def value(self, observation: Any, goal: ArrayLike) -> float:
        """Return the expected reward (minus steps) of reaching a goal; giving up costs `penalty`.

        Values come from cells: use them to compare routes, not to predict the exact number of steps.
        """
        if self.hand is not None:
            return self._outlook(self.hand, observation, goal)[0]
        return float(self.plan(goal).value[self.cells.cell(self.point(observation))])

    def arrival(self, observation: Any, goal: ArrayLike) -> float:
        """Return the probability of arriving at a goal, as far as cells can tell."""
        if self.hand is not None:
            return self._outlook(self.hand, observation, goal)[1]
        return float(self.plan(goal).arrival[self.cells.cell(self.point(observation))])

    def confidence(self, observation: Any, goal: ArrayLike) -> float:
        """Return how well the data support arriving at a goal, from 0 to 1 and at most `arrival`.

        It falls if the plan takes rarely used portals, or if no episode came near the start or the goal (see
        `fwrl.navigator.goal_plan`). With a hand, it falls with every window that few episodes show. Use it to compare
        starts and goals, not as an exact forecast.
        """
        if self.hand is not None:
            return self._outlook(self.hand, observation, goal, self.settings.doubt)[1]
        start, end = self.point(observation), self._goal_point(goal)
        cell, goal_cell = self.cells.cell(start), self.goal_cell(goal)
        covered = self._coverage(start, cell) * self._coverage(end, goal_cell)
        return covered * float(self._confirmed_arrival(goal_cell)[cell])

    def save(self, path: str | Path) -> None:
        """Save to a file that `fwrl.load` reads; an existing file is replaced completely or not at all."""
        from fwrl.navigator.navigator_file import write_navigator

        write_navigator(self, path)

    def _model_of(self, best: bool = False, unseen: float = 0.0) -> Model:
        """Build the model of the counts (see `fwrl.navigator.transitions`)."""
        where, settings = portals(self.counts, self.cells.centres, self.cells.width), self.settings
        weights = {"prior": settings.prior, "way_back": settings.way_back, "unseen": unseen}
        return model_of(self.counts, where, self.labels, best=best, **weights)

    @functools.cached_property
    def _doubtful(self) -> Model:
        """The model of mean outcomes in which every portal may go to an unseen exit."""
        return self._model_of(unseen=float(self.settings.window))

    def _cell_plan(self, cell: int) -> Plan:
        return _kept(self._plans, cell, lambda: plan_for(self.model, cell, self.cells.centres, self.penalty))

    def _confirmed_arrival(self, cell: int) -> Floats:
        return _kept(self._confirmed, cell, lambda: confirmed_arrival(self._doubtful, self._cell_plan(cell)))

    def _coverage(self, point: Floats, cell: int) -> float:
        return coverage(float(np.linalg.norm(self.cells.centres[cell] - point)), self.cells.width)

    def _goal_point(self, goal: ArrayLike) -> Floats:
        point = as_numbers(goal, "a goal")
        if point.shape != self.scale.shape or not np.isfinite(point).all():
            raise FwrlError(f"expected a goal of {len(self.scale)} finite coordinates, got {goal!r}")
        return self._measurable(point)

    def _measurable(self, points: Floats) -> Floats:
        """Check that all distances between scaled points are finite."""
        scaled = points / self.scale
        if not np.abs(scaled).max(initial=0.0) <= LARGEST:
            raise FwrlError(
                f"expected finite coordinates up to {LARGEST:g} in size, got {points.tolist()}; check their units"
            )
        return scaled

    def _outlook(self, hand: Hand, observation: Any, goal: Any, doubt: float = 0.0) -> tuple[float, float]:
        return hand.outlook(hand.see(observation), hand.see(goal), doubt)

    def _aimed(self) -> Any:
        if self._pursuit is None:
            raise FwrlError("no goal is set; call aim(goal) before act(observation)")
        return self._pursuit

    def _plain(self, observation: Any) -> Floats:
        """Return what's drawn of observations, and read again: points, or whole observations of a hand."""
        return point_of(observation, None if self.hand is not None else self.settings.coordinates)

    def _read(self, row: Floats) -> Any:
        """Return what a pursuit acts on."""
        return self.hand.see(row) if self.hand is not None else self._scaled(row)

    def _pursue(self, goal: Any) -> Pursuit | HeldAction | Errand:
        if self.hand is not None:
            return self.hand.pursue(goal)
        plan, k = self.plan(goal), self.settings.window
        if isinstance(self.labels, Headings):
            return Pursuit(self.cells, self.motion, k, plan, self._goal_point(goal))
        return HeldAction(lambda point: max(0, int(plan.label[self.cells.cell(point)])), self.labels.actions, k)


def _kept(kept: dict[int, T], cell: int, make: Callable[[], T]) -> T:
    """Return the cached item of a cell; make it first if necessary."""
    if cell not in kept:
        if len(kept) >= MOST_PLANS:
            kept.pop(next(iter(kept)))
        kept[cell] = make()
    return kept[cell]


def _component_sizes(model: Model) -> Ints:
    """(S,) the number of cells connected with each cell both ways."""
    outcomes = model.outcomes
    source = outcomes.source[outcomes.pair]
    shape = (outcomes.n_states, outcomes.n_states)
    graph = csr_array((np.ones(len(source)), (source, outcomes.target)), shape=shape)
    component = connected_components(graph, connection="strong")[1]
    sizes: Ints = np.bincount(component)[component]
    return sizes
