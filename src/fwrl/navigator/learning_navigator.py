"""A navigator that learns while it acts, from scratch.

It keeps all steps. After each episode it counts the windows, and adds cells where the episode went. Whenever the number
of steps has grown by a quarter since the last fit, it refits everything, so that window, width and motion follow all
the data. If the data aren't enough for a fit, it continues as before until they have grown again.

While it learns, it plans with `optimism`. Before the first fit it pushes in random directions.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fwrl.arrays import Floats
from fwrl.errors import FwrlError, OptionError
from fwrl.navigator.action_labels import Headings
from fwrl.navigator.episodes import Episodes, point_of
from fwrl.navigator.from_episodes import WINDOWS, TooLittleDataError, counted, fit_navigator, measure
from fwrl.navigator.goal_plan import optimistic, plan_for
from fwrl.navigator.navigator import DESIRED, Navigator
from fwrl.navigator.pursuit import Pursuit
from fwrl.navigator.transitions import merged

FIRST = 200  # steps before the first fit
GROWTH = 1.25  # of the number of steps between fits
HOLD = 10  # steps for which it holds a random push


class LearningNavigator:
    """Learns to reach points in a goal environment with Box observations and actions.

    Args:
        low: (m,) smallest action.
        high: (m,) largest action.
        seed: seeds its random pushes.
        optimism: weight of the optimistic outcome, in visits; 0 for none.
    """

    def __init__(self, low: Any, high: Any, *, seed: int = 0, optimism: float = 0.1) -> None:
        self._low, self._high = np.asarray(low, np.float64), np.asarray(high, np.float64)
        if not (np.isfinite(self._low).all() and np.isfinite(self._high).all()):
            raise OptionError("expected actions with finite bounds; wrap the environment to rescale them")
        self._rng = np.random.default_rng(seed)
        self._optimism = optimism
        self._walks: list[tuple[Floats, Floats]] = []
        self._points: list[Floats] = []
        self._actions: list[Floats] = []
        self._rows = 0
        self._tried_rows = 0  # at the last fit or refusal
        self._navigator: Navigator | None = None
        self._pursuit: Pursuit | None = None
        self._push, self._held = self._low, 0

    @property
    def navigator(self) -> Navigator:
        """The learned navigator, for acting without exploration."""
        if self._navigator is None:
            raise FwrlError(
                f"nothing has been learned yet; learn for more than {FIRST} steps, in episodes of more than "
                f"{WINDOWS[0]} steps that move the coordinates"
            )
        return self._navigator

    def begin_episode(self, observation: Any) -> None:
        """Begin an episode; `observation` is a mapping with `achieved_goal` and `desired_goal`."""
        self._points, self._actions = [point_of(observation, None)], []
        self._held = 0
        if self._navigator is not None:
            self._pursuit = self._explore(np.asarray(observation[DESIRED], np.float64))

    def act(self, observation: Any) -> Floats:
        """Choose the next (m,) action, exploration included."""
        if self._pursuit is not None:
            return self._pursuit.act(point_of(observation, None))
        if self._held == 0:
            direction = self._rng.normal(size=len(self._low))
            direction /= np.abs(direction).max()
            middle, half = (self._low + self._high) / 2, (self._high - self._low) / 2
            self._push, self._held = middle + direction * half, HOLD
        self._held -= 1
        return self._push

    def observe(self, observation: Any, action: Floats, next_observation: Any, terminated: bool) -> None:
        """Keep one step."""
        self._actions.append(np.asarray(action, np.float64))
        self._points.append(point_of(next_observation, None))

    def end_episode(self) -> None:
        """Learn from the steps of the episode."""
        if len(self._actions) > 0:
            walk = (np.array(self._points), np.array(self._actions))
            self._walks.append(walk)
            self._rows += len(walk[1])
            due = self._rows >= max(FIRST, GROWTH * self._tried_rows)
            if not (due and self._refit()) and self._navigator is not None:
                self._add(*walk)
        self._points, self._actions = [], []

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> Any:
        """Return actions without exploration, with the interface of Stable-Baselines3: see `Navigator.predict`."""
        return self.navigator.predict(observation, state, episode_start, deterministic)

    def save(self, path: str | Path) -> None:
        """Save the learned navigator."""
        self.navigator.save(path)

    def _refit(self) -> bool:
        """Refit everything; False if the data aren't enough."""
        self._tried_rows = self._rows
        try:
            self._navigator = self._bounded(fit_navigator(self._walks))
        except TooLittleDataError:
            return False
        return True

    def _bounded(self, fitted: Navigator) -> Navigator:
        """Use the environment's range of actions."""
        motion = fitted.motion.within(self._low, self._high)
        return Navigator(fitted.cells, motion, fitted.labels, fitted.counts, fitted.settings, fitted.scale)

    def _add(self, points: Floats, actions: Floats) -> None:
        """Count the windows of one episode, on cells that grow where it went."""
        old = self.navigator
        width, k = old.cells.width, old.settings.window
        padded = np.concatenate([actions, np.zeros((1, actions.shape[1]))])
        episode = Episodes(points, padded, np.array([0, len(points)]))
        measured = measure(episode, k, width)
        if len(measured.windows.start) == 0:
            return
        cells = old.cells.grown(points)
        counts = counted(measured, cells.of(points), old.motion, old.labels)
        motion = old.motion.updated(measured.motion()).within(self._low, self._high)
        self._navigator = Navigator(cells, motion, old.labels, merged(old.counts, counts), old.settings, old.scale)

    def _explore(self, goal: Floats) -> Pursuit:
        """Start a pursuit with the optimistic plan."""
        navigator = self.navigator
        cells, k = navigator.cells, navigator.settings.window
        cell = int(cells.near(goal)[0])
        widths = np.linalg.norm(cells.centres - goal, axis=1) / cells.width
        labels = navigator.labels
        assert isinstance(labels, Headings)
        model = navigator.model
        if self._optimism > 0.0:
            steps = k * np.maximum(widths, 1.0)
            model = optimistic(model, labels.n, labels.idle, cell, steps, self._optimism * k)
        plan = plan_for(model, cell, cells.centres, navigator.penalty)
        return Pursuit(cells, navigator.motion, k, plan, goal)
