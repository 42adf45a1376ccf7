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
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.cells.action_labels import Headings, RawActions
from fwrl.cells.episodes import Episodes, read_episodes
from fwrl.cells.fitted import FittedCells, fit_cells
from fwrl.cells.motion import LinearMotion
from fwrl.cells.navigator import Navigator, Settings
from fwrl.cells.transitions import PRIOR, WAY_BACK, Transitions, count
from fwrl.cells.windows import Windows, displacement_quantile, velocities_of, windows_of
from fwrl.errors import FwrlError, OptionError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

WINDOWS = (5, 7, 10, 14, 20)
EXPLAINED = 0.9
QUANTILE = 0.9
REGULAR = 0.25  # widths between a displacement and what the motion model says, up to which a window is regular


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
        actions: "headings" for coordinates that can be pushed any way; "raw" for other bodies, with cells over the whole
            state.
        scale: (d,) what coordinates are divided by. Default: 1 for headings, the range of the data for raw actions.

    Returns:
        The navigator.

    Raises:
        FwrlError: The data cannot be read, are too short, or do not move.

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
    picked = coordinates if coordinates is None or isinstance(coordinates, str) else tuple(map(int, coordinates))
    episodes = read_episodes(source, picked)
    if scale is None and actions == "raw":
        scale = range_of(episodes.points)
    units = np.ones(episodes.points.shape[1]) if scale is None else np.asarray(scale, np.float64)
    if units.shape != episodes.points.shape[1:] or not (np.isfinite(units) & (units > 0.0)).all():
        raise OptionError(f"expected one positive scale per coordinate, got {scale}")
    scaled = episodes._replace(points=episodes.points / units)
    chosen = _chosen_window(scaled, width) if window is None and actions == "headings" else window or WINDOWS[0]
    settings = Settings(chosen, prior, way_back, backup, picked)
    windows, size, motion = _measured(scaled, chosen, width)
    labels: Headings | RawActions = Headings(len(units))
    if actions == "raw":
        labels = raw_labels(episodes.actions)
        windows = held(windows, labels.of(episodes.actions))
    cells, cell = _fitted(scaled, windows, size)
    counts = counted(scaled, windows, cell, size, motion, labels)
    return Navigator(cells, motion, labels, counts, settings, units)


def range_of(points: Floats) -> Floats:
    """(d,) the extent of points (n, d); 1 where it is 0."""
    extent = np.ptp(points, axis=0)
    return np.where(extent > 0.0, extent, 1.0)


def raw_labels(actions: Floats) -> RawActions:
    """The actions of data: each value where they are few whole numbers, otherwise low, middle and high of their range."""
    if actions.shape[1] == 1 and (actions == np.rint(actions)).all() and 0 <= actions.min() <= actions.max() < 32:
        return RawActions.discrete(int(actions.max()) + 1)
    return RawActions.between(actions.min(axis=0), actions.max(axis=0))


def held(windows: Windows, label: Ints) -> Windows:
    """The windows during which the label of the action, (n,) by row, did not change."""
    change = np.concatenate([[0], np.cumsum(label[1:] != label[:-1])])
    constant = change[windows.start] == change[windows.stop - 1]
    return Windows(*[column[constant] for column in windows])


def counted(
    episodes: Episodes,
    windows: Windows,
    cell: Ints,
    width: float,
    motion: LinearMotion,
    labels: Headings | RawActions,
) -> Transitions:
    """Count windows.

    Args:
        episodes: With scaled points.
        windows: Over their rows.
        cell: (n,) of each row.
        width: Of the cells.
        motion: What actions do.
        labels: What the labels mean.

    Returns:
        The counts.
    """
    source, target = cell[windows.start], cell[windows.stop]
    if isinstance(labels, RawActions):
        label = labels.of(episodes.actions[windows.start])
        regular = np.zeros(len(label), np.bool_)
    else:
        velocities = velocities_of(episodes.points, windows, episodes.first, width)
        intended = motion.predict(mean_actions(episodes.actions, windows), velocities)
        label = labels.of(intended, width)
        residual = episodes.points[windows.stop] - episodes.points[windows.start] - intended
        regular = (np.square(residual).sum(axis=1) < (REGULAR * width) ** 2) & ~windows.jump
    return count(source, label, target, windows.jump, windows.steps, regular)


def mean_actions(actions: Floats, windows: Windows) -> Floats:
    """(M, m) the mean action of each window."""
    total = np.concatenate([np.zeros((1, actions.shape[1])), np.cumsum(actions, axis=0)])
    means: Floats = (total[windows.stop] - total[windows.start]) / windows.steps[:, None]
    return means


def _chosen_window(episodes: Episodes, width: float | None) -> int:
    """The number of steps by rule 1."""
    longest = int(np.diff(episodes.first).max()) - 1
    best, most = WINDOWS[0], -1.0
    for k in WINDOWS:
        if k > longest:
            break
        explained = _measured(episodes, k, width)[2].explained
        if explained >= EXPLAINED:
            return k
        if explained > most:
            best, most = k, explained
    return best


def _measured(episodes: Episodes, k: int, width: float | None) -> tuple[Windows, float, LinearMotion]:
    """Windows of k steps, the width of cells, and the motion model."""
    size = displacement_quantile(episodes.points, episodes.first, k, QUANTILE) if width is None else width
    if not 0.0 < size < np.inf:
        if int(np.diff(episodes.first).max()) <= k:
            raise FwrlError(f"no episode has more than {k} steps; choose a shorter window")
        raise FwrlError("the coordinates do not move; choose others, or set the width of cells")
    windows = windows_of(episodes.points, episodes.first, k, size)
    if len(windows.start) == 0:
        raise FwrlError(f"no episode has more than {k} steps; choose a shorter window")
    motion = motion_of(episodes, windows, size)
    return windows, size, motion.within(episodes.actions.min(axis=0), episodes.actions.max(axis=0))


def motion_of(episodes: Episodes, windows: Windows, width: float) -> LinearMotion:
    """The motion model of the windows without a jump.

    Args:
        episodes: With scaled points.
        windows: Over their rows.
        width: Of the cells; a longer step is a jump.

    Returns:
        The model.
    """
    smooth = Windows(*[column[~windows.jump] for column in windows]) if windows.jump.any() else windows
    moved = episodes.points[smooth.stop] - episodes.points[smooth.start]
    velocities = velocities_of(episodes.points, smooth, episodes.first, width)
    return LinearMotion.of(mean_actions(episodes.actions, smooth), velocities, moved)


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
