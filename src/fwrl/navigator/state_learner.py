"""Learning with cells over the whole state and raw actions, for bodies that can't be pushed in any direction.

The goal is the end of an episode, anything that terminates it (the flag in MountainCar). State 0 of the model is that
end; cell c is state c + 1, and cells grow where the body goes. The learner holds an action for k steps, and counts the
transition over these steps. Coordinates are divided by their range, so units don't matter.

While it learns, every action at every cell might end the episode immediately (`optimism`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError, OptionError
from fwrl.kernels.mdp.solver import solve
from fwrl.navigator.action_labels import RawActions
from fwrl.navigator.episodes import as_numbers
from fwrl.navigator.fitted import FittedCells
from fwrl.navigator.goal_plan import optimistic
from fwrl.navigator.transitions import Transitions, count, merged, model_of

END = 0  # the state in which an episode has terminated
WINDOW = 5  # steps for which an action is held
CELLS = 12  # along the range of each coordinate


class CountedCells(NamedTuple):
    """Everything learned: cells, and transitions between states."""

    cells: FittedCells
    counts: Transitions


class StateLearner:
    """Learns to end episodes, from scratch.

    Args:
        low: (d,) smallest observation.
        high: (d,) largest observation.
        actions: the available actions.
        discrete: whether the environment takes an integer.
        seed: seeds its random actions.
        window: steps for which it holds an action.
        cells: number along the range of each coordinate.
    """

    def __init__(
        self,
        low: ArrayLike,
        high: ArrayLike,
        actions: RawActions,
        *,
        discrete: bool,
        seed: int = 0,
        window: int = WINDOW,
        cells: int = CELLS,
    ) -> None:
        self.low, self.high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        self._range: Floats = self.high - self.low
        if not np.isfinite(self._range).all() or not (self._range > 0).all():
            raise OptionError("expected observations with finite bounds; wrap the environment to rescale them")
        if window < 1 or cells < 1:
            raise OptionError(f"expected a window of at least one step and at least one cell, got {window} and {cells}")
        self.labels, self.discrete, self.window = actions, discrete, window
        self._width = 1.0 / cells
        self.rng = np.random.default_rng(seed)
        self._experience: CountedCells | None = None
        self._policy: Ints | None = None  # the optimistic one, by state
        self._greedy: Ints | None = None  # by state; computed on demand
        self._steps: list[tuple[Floats, int, Floats, bool, int]] = []  # held actions of the episode
        self._start: Floats | None = None
        self._label, self._left = 0, 0

    def __repr__(self) -> str:
        n = 0 if self._experience is None else len(self._experience.cells)
        return f"<StateLearner: {n:,} cells, {self.labels.n} actions>"

    @property
    def experience(self) -> CountedCells:
        """Everything learned so far."""
        if self._experience is None:
            raise FwrlError("nothing has been learned yet; learn for at least one episode")
        return self._experience

    def resume(self, experience: CountedCells) -> None:
        """Continue from the experience of a learner with the same bounds, actions and window."""
        self._experience = experience
        self._policy, self._greedy = self._solved(optimism=1.0), None

    def begin_episode(self, observation: Any) -> None:
        """Begin an episode."""
        self._steps, self._start, self._left = [], None, 0

    def act(self, observation: Any) -> Any:
        """Choose the next action, exploration included: an integer, or an array."""
        if self._left == 0:
            self._start = self._point(observation)
            self._label, self._left = self._chosen(self._policy, self._start), self.window
        self._left -= 1
        return self._action(self._label)

    def observe(self, observation: Any, action: Any, next_observation: Any, terminated: bool) -> None:
        """Keep one step."""
        if self._start is not None and (self._left == 0 or terminated):
            stop = self._point(next_observation)
            self._steps.append((self._start, self._label, stop, terminated, self.window - self._left))
            self._start = None

    def end_episode(self) -> None:
        """Learn from the held actions of the episode, and plan for the next."""
        if not self._steps:
            return
        start, label, stop, ended, steps = (np.array(column) for column in zip(*self._steps, strict=True))
        points = np.concatenate([start, stop])
        before = self._experience
        cells = (FittedCells(start[:1], self._width) if before is None else before.cells).grown(points)
        target = np.where(ended, END, cells.of(stop) + 1)
        none = np.zeros(len(label), np.bool_)
        new = count(cells.of(start) + 1, label.astype(np.int64), target, none, steps, none)
        self.resume(CountedCells(cells, new if before is None else merged(before.counts, new)))

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> Any:
        """Return the action without exploration for one observation, with the interface of Stable-Baselines3.

        Args:
            state: the result of the previous call.
            episode_start: whether an episode begins.
            deterministic: ignored.

        Returns:
            The action, and the state for the next call.
        """
        if self._greedy is None:
            self._greedy = self._solved(optimism=0.0)
        label, left = state if state is not None and not np.any(episode_start) else (0, 0)
        if left == 0:
            label, left = self._chosen(self._greedy, self._point(observation)), self.window
        return self._action(label), (label, left - 1)

    def save(self, path: str | Path) -> None:
        """Save to a file that `fwrl.load` reads; learning continues from it as if it had never stopped.

        An existing file is replaced completely or not at all.
        """
        from fwrl.navigator.navigator_file import write_state_learner

        write_state_learner(self, path)

    def _point(self, observation: Any) -> Floats:
        point = as_numbers(observation, "observations")
        if point.shape != self.low.shape:
            raise FwrlError(f"expected observations of shape {self.low.shape}, got {point.shape}")
        scaled: Floats = (point - self.low) / self._range
        return scaled

    def _action(self, label: int) -> Any:
        return label if self.discrete else self.labels.actions[label]

    def _chosen(self, policy: Ints | None, point: Floats) -> int:
        """Return the label of a policy at a point; a random one if it has none."""
        cells = None if self._experience is None else self._experience.cells
        label = -1 if policy is None or cells is None else int(policy[cells.cell(point) + 1])
        return label if label >= 0 else int(self.rng.integers(self.labels.n))

    def _solved(self, optimism: float) -> Ints:
        """(S + 1,) the best label of each state, -1 for none."""
        cells, counts = self.experience
        S = len(cells) + 1
        model = model_of(counts, np.arange(S), self.labels, prior=0.0, way_back=0.0)
        if optimism > 0.0:
            model = optimistic(model, self.labels.n, self.labels.idle, END, np.ones(S), optimism)
        solution = solve(model.outcomes, END, penalty=float(S * self.window))
        policy = np.full(S, -1)
        chosen = np.flatnonzero(solution.pair >= 0)
        policy[chosen] = model.label[solution.pair[chosen]]
        return policy
