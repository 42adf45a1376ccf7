"""From episodes to a navigator, by rules that are the same for all data.

1. *Window.* The fewest of `WINDOWS` steps for which the motion model explains `EXPLAINED` of the displacement: long
   enough that actions, and not momentum, decide where a window leads; otherwise the number that explains most.
2. *Width of cells.* The 0.9 quantile of the distance that a window leads. The median would be too small where data
   mostly dither at their goals.
3. *Cells.* The boxes that windows begin in, without those that are never entered from another cell or never left for
   one: nothing could be planned for them.
4. *Trust in rare transitions.* See `transitions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.arrays import Floats, Ints
from fwrl.cells.action_labels import Headings, RawActions
from fwrl.cells.episodes import Episodes, read_episodes
from fwrl.cells.fitted import FittedCells, fit_cells
from fwrl.cells.motion import LinearMotion, column_range
from fwrl.cells.navigator import Navigator, Settings
from fwrl.cells.transitions import PRIOR, WAY_BACK, Transitions, count
from fwrl.cells.windows import Windows, displacement_quantile, squared_lengths, velocities_of, windows_of
from fwrl.errors import FwrlError, OptionError

Mask = NDArray[np.bool_]

WINDOWS = (5, 7, 10, 14, 20)
EXPLAINED = 0.9
MOST_DISCRETE = 32  # whole numbers below it are taken for discrete actions
QUANTILE = 0.9
REGULAR = 0.25  # widths between a displacement and what the motion model says, up to which a window is regular


class TooLittleDataError(FwrlError):
    """Episodes that are too short, or coordinates that do not move: more data may help."""


def fit_navigator(
    source: Any,
    *,
    coordinates: Sequence[int] | str | None = None,
    window: int | None = None,
    width: float | None = None,
    prior: float = PRIOR,
    way_back: float = WAY_BACK,
    backup: Literal["expected", "best"] = "expected",
    actions: Literal["headings", "raw"] = "headings",
    scale: ArrayLike | None = None,
) -> Navigator:
    """Fit a navigator to episodes of continuous observations and actions.

    Args:
        source: The path of an OGBench `.npz` file, or a list of them; a Minari dataset; a mapping of arrays
            `observations`, `actions` and `terminals`; or episodes as pairs of observations and actions.
        coordinates: Indices of the observation that goals are given in; a key of Dict observations. Default: the whole
            observation, `achieved_goal` of Dict observations.
        window: Steps of a window. Default: by rule from the data.
        width: Width of cells, in scaled coordinates. Default: by rule from the data.
        prior: Weight, in windows, of what a cell does otherwise.
        way_back: Weight, in windows, of a window as evidence for the way back; 0 where ways are one-way.
        backup: "expected" averages over observed outcomes; "best" takes the best one, as the paper does.
        actions: "headings" for coordinates that can be pushed any way; "raw" for other bodies, with cells over the
            whole state.
        scale: (d,) what coordinates are divided by. Default: 1 for headings, the range of the data for raw actions.

    Returns:
        The navigator.

    Raises:
        FwrlError: The data cannot be read.
        TooLittleDataError: They are too short, or do not move.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> moves = [np.repeat(rng.uniform(-1, 1, (20, 2)), 10, axis=0) for _ in range(50)]
    >>> walks = [(np.concatenate([np.zeros((1, 2)), np.cumsum(0.1 * a, axis=0)]), a) for a in moves]
    >>> navigator = fit_navigator(walks)
    >>> navigator.aim([1.0, 0.0])
    >>> navigator.act([0.0, 0.0])[0] > 0.5
    np.True_
    """
    if actions not in ("headings", "raw"):
        raise OptionError(f"expected the actions 'headings' or 'raw', got {actions!r}")
    if window is not None and window < 1:
        raise OptionError(f"expected a window of at least one step, got {window}")
    if width is not None and not 0.0 < width < np.inf:
        raise OptionError(f"expected a positive width of cells, got {width}")
    picked = coordinates if coordinates is None or isinstance(coordinates, str) else tuple(map(int, coordinates))
    episodes = read_episodes(source, picked)
    if scale is None and actions == "raw":
        scale = range_of(episodes.points)
    units = np.ones(episodes.points.shape[1]) if scale is None else np.asarray(scale, np.float64)
    if units.shape != episodes.points.shape[1:] or not (np.isfinite(units) & (units > 0.0)).all():
        raise OptionError(f"expected one positive scale per coordinate, got {units}")
    scaled = episodes._replace(points=episodes.points / units)
    by_rule = window is None and actions == "headings"
    measured, motion = _chosen_window(scaled, width) if by_rule else _measured(scaled, window or WINDOWS[0], width)
    settings = Settings(measured.k, prior, way_back, backup, picked)
    motion = motion.within(*column_range(episodes.actions))
    labels: Headings | RawActions = Headings(len(units))
    if actions == "raw":
        labels = raw_labels(episodes.actions)
        measured = measured.where(held(measured.windows, labels.of(episodes.actions)))
    cells, cell = _fitted(scaled, measured.windows, measured.width)
    return Navigator(cells, motion, labels, counted(measured, cell, motion, labels), settings, units)


def range_of(points: Floats) -> Floats:
    """(d,) the extent of points (n, d); 1 where it is 0."""
    low, high = column_range(points)
    return np.where(high > low, high - low, 1.0)


def raw_labels(actions: Floats) -> RawActions:
    """The actions of data: every value if they are few whole numbers, otherwise low, middle and high of their range."""
    (low, *_), (high, *_) = column_range(actions)
    if actions.shape[1] == 1 and (actions == np.rint(actions)).all() and 0 <= low <= high < MOST_DISCRETE:
        return RawActions.discrete(int(high) + 1)
    return RawActions.between(*column_range(actions))


def held(windows: Windows, label: Ints) -> Mask:
    """(M,) whether the label of the action, (n,) by row, did not change during each window."""
    change = np.concatenate([[0], np.cumsum(label[1:] != label[:-1])])
    constant: Mask = change[windows.start] == change[windows.stop - 1]
    return constant


class Measured(NamedTuple):
    """M windows and what was done and moved in them."""

    k: int
    windows: Windows
    width: float  # of the cells
    actions: Floats  # (M, m) mean actions
    velocities: Floats  # (M, d) steps before the windows
    moved: Floats  # (M, d) displacements

    def motion(self) -> LinearMotion:
        """The motion model of the windows without a jump."""
        if not self.windows.jump.any():
            return LinearMotion.of(self.actions, self.velocities, self.moved)
        smooth = ~self.windows.jump
        return LinearMotion.of(self.actions[smooth], self.velocities[smooth], self.moved[smooth])

    def where(self, mask: Mask) -> Measured:
        """The windows that a mask marks."""
        start, stop, jump = self.windows
        windows = Windows(start[mask], stop[mask], jump[mask])
        return Measured(self.k, windows, self.width, self.actions[mask], self.velocities[mask], self.moved[mask])


def measure(episodes: Episodes, k: int, width: float) -> Measured:
    """Measure all windows of k steps.

    Args:
        episodes: With scaled points.
        k: Steps of a window.
        width: Of the cells; a longer step is a jump.

    Returns:
        The windows.
    """
    windows = windows_of(episodes.points, episodes.first, k, width)
    total = np.zeros((len(episodes.actions) + 1, episodes.actions.shape[1]))
    np.cumsum(episodes.actions, axis=0, out=total[1:])
    return Measured(
        k,
        windows,
        width,
        (total[windows.stop] - total[windows.start]) / windows.steps[:, None],
        velocities_of(episodes.points, windows, episodes.first, width),
        episodes.points[windows.stop] - episodes.points[windows.start],
    )


def counted(measured: Measured, cell: Ints, motion: LinearMotion, labels: Headings | RawActions) -> Transitions:
    """Count windows.

    Args:
        measured: The windows.
        cell: (n,) of each row.
        motion: What actions do.
        labels: What the labels mean.

    Returns:
        The counts.
    """
    windows, width = measured.windows, measured.width
    if isinstance(labels, RawActions):
        label = labels.of(measured.actions)
        regular = np.zeros(len(label), np.bool_)
    else:
        intended = motion.predict(measured.actions, measured.velocities)
        # In units of what is usually intended: walls make the model of motion underestimate all displacements alike.
        usual = float(np.sqrt(np.quantile(squared_lengths(intended), QUANTILE)))
        label = labels.of(intended, usual if usual > 0.0 else width)
        regular = (squared_lengths(measured.moved - intended) < (REGULAR * width) ** 2) & ~windows.jump
    return count(cell[windows.start], label, cell[windows.stop], windows.jump, windows.steps, regular)


def _chosen_window(episodes: Episodes, width: float | None) -> tuple[Measured, LinearMotion]:
    """The windows of the number of steps by rule 1, and their motion model."""
    longest = int(np.diff(episodes.first).max()) - 1
    found = [_measured(episodes, WINDOWS[0], width)]
    for k in WINDOWS[1:]:
        if k > longest or found[-1][1].explained >= EXPLAINED:
            break
        found.append(_measured(episodes, k, width))
    return max(found, key=lambda pair: pair[1].explained)


def _measured(episodes: Episodes, k: int, width: float | None) -> tuple[Measured, LinearMotion]:
    """The windows of k steps, with the width of cells by rule 2 if it is not given, and their motion model."""
    size = displacement_quantile(episodes.points, episodes.first, k, QUANTILE) if width is None else width
    if not 0.0 < size < np.inf:
        if int(np.diff(episodes.first).max()) <= k:
            raise TooLittleDataError(f"no episode has more than {k} steps; choose a shorter window")
        raise TooLittleDataError("the coordinates do not move; choose others, or set the width of cells")
    measured = measure(episodes, k, size)
    if len(measured.windows.start) == 0:
        raise TooLittleDataError(f"no episode has more than {k} steps; choose a shorter window")
    return measured, measured.motion()


def _fitted(episodes: Episodes, windows: Windows, width: float) -> tuple[FittedCells, Ints]:
    """Cells by rule 3, and the cell of each row."""
    cells = fit_cells(episodes.points[windows.start], width)
    cell = cells.of(episodes.points)
    while True:
        source, target = cell[windows.start], cell[windows.stop]
        away = source != target
        n = len(cells)
        keep = (np.bincount(target[away], minlength=n) > 0) & (np.bincount(source[away], minlength=n) > 0)
        if keep.all() or not keep.any():
            return cells, cell
        lost = ~keep[cell]
        cells = cells.kept(keep)
        cell = np.cumsum(keep)[cell] - 1
        cell[lost] = cells.of(episodes.points[lost])
