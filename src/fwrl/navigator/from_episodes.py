"""Fit a navigator to episodes, with the same rules for all data.

1. *Window.* The fewest of `WINDOWS` steps for which the motion model explains `EXPLAINED` of the displacement: long
   enough that actions rather than momentum decide where a window ends. If none does, the number that explains most.
2. *Width of cells.* The 0.9 quantile of the distance covered by a window. (The median would be too small if the data
   mostly dither at their goals.)
3. *Cells.* The boxes in which windows begin, except those never entered from another cell or never left for one: you
   couldn't plan for them.
4. *Trust in rare transitions.* See `transitions`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError, OptionError
from fwrl.navigator.action_labels import Headings, RawActions
from fwrl.navigator.episodes import Episodes, read_episodes
from fwrl.navigator.fitted import FittedCells, fit_cells
from fwrl.navigator.motion import LinearMotion, column_range
from fwrl.navigator.navigator import Navigator, Settings
from fwrl.navigator.poses import Pose, scene_of
from fwrl.navigator.transitions import PRIOR, WAY_BACK, Transitions, count
from fwrl.navigator.windows import Windows, displacement_quantile, squared_lengths, velocities_of, windows_of

if TYPE_CHECKING:
    from fwrl.navigator.hand import Hand

Mask = NDArray[np.bool_]

WINDOWS = (5, 7, 10, 14, 20)
EXPLAINED = 0.9
MOST_DISCRETE = 32  # smaller whole numbers count as discrete actions
QUANTILE = 0.9
REGULAR = 0.25  # widths between a displacement and the motion model's, up to which a window is regular


class TooLittleDataError(FwrlError):
    """Episodes are too short, or coordinates don't move: more data may help."""


@overload
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
) -> Navigator: ...
@overload
def fit_navigator(
    source: Any,
    *,
    hand: Pose,
    opening: Sequence[int] = (),
    things: Mapping[str, Pose] | None = None,
    switches: Mapping[str, Sequence[int]] | None = None,
    window: int | None = None,
    width: float | None = None,
    near: float | None = None,
    doubt: float | None = None,
    give_up: float | None = None,
    backup: Literal["expected", "best"] = "expected",
    seed: int = 0,
) -> Navigator: ...
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
    hand: Pose | None = None,
    opening: Sequence[int] = (),
    things: Mapping[str, Pose] | None = None,
    switches: Mapping[str, Sequence[int]] | None = None,
    near: float | None = None,
    doubt: float | None = None,
    give_up: float | None = None,
    seed: int = 0,
) -> Navigator:
    """Fit a navigator to episodes of continuous observations and actions.

    With a hand, it moves things and presses switches, and goals are whole observations (see
    `fwrl.navigator.from_hands`); coordinates, prior, way_back, actions and scale are for navigators without.

    Args:
        source: the path of an OGBench `.npz` file, or a list of them; a Minari dataset; a mapping of arrays
            `observations`, `actions` and `terminals`; or episodes as pairs of observations and actions.
        coordinates: which indices of the observation goals use, or a key of Dict observations. Default: the whole
            observation, or `achieved_goal` of Dict observations.
        window: steps of a window. Default: chosen from the data.
        width: width of cells, in scaled coordinates; with a hand, of the finest. Default: chosen from the data.
        prior: weight, in windows, of a cell's other windows.
        way_back: weight, in windows, of a window as evidence for the opposite direction; 0 if there are one-way
            streets.
        backup: "expected" averages over observed outcomes; "best" takes the best one, as the paper does.
        actions: "headings" for coordinates that can be pushed in any direction; "raw" for other bodies, with cells over
            the whole state.
        scale: (d,) divides the coordinates. Default: 1 for headings, the range of the data for raw actions.
        hand: which indices of the observation are the hand's position and angle.
        opening: indices of what its fingers do.
        things: what it moves, by name, in the hand's units or their own.
        switches: what it presses, by name: the index of a coordinate that is 0 or 1, or the two of a one-hot.
        near: distance from a thing or switch up to which cells are finest. Default: chosen from the data.
        doubt: failures that an action may hide, in episodes. Default: 0.25.
        give_up: cost of giving up, in steps. Default: a window for each cell.
        seed: seeds the detours of a hand that is stuck.

    Raises:
        FwrlError: the data can't be read.
        TooLittleDataError: the data are too short, or don't move.

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
        raise OptionError(f"expected actions='headings' or 'raw', got {actions!r}")
    if window is not None and window < 1:
        raise OptionError(f"expected a window of at least one step, got {window}")
    if width is not None and not 0.0 < width < np.inf:
        raise OptionError(f"expected a positive width of cells, got {width}")
    if hand is not None:
        if coordinates is not None or scale is not None or (prior, way_back, actions) != (PRIOR, WAY_BACK, "headings"):
            raise OptionError("coordinates, prior, way_back, actions and scale don't go with a hand; leave them out")
        from fwrl.navigator.from_hands import fit_hand

        given = {"doubt": doubt, "give_up": give_up, "backup": backup, "seed": seed}
        chosen = {name: value for name, value in given.items() if value is not None}
        return fit_hand(source, scene_of(hand, opening, things, switches), window, width, near, **chosen)
    if opening or things or switches or (near, doubt, give_up) != (None, None, None):
        raise OptionError("opening, things, switches, near, doubt and give_up need a hand: hand=fwrl.Pose(...)")
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
    labels: Headings | RawActions
    if actions == "raw":
        labels = raw_labels(episodes.actions)
        measured = measured.where(held(measured.windows, labels.of(episodes.actions)))
    else:
        labels = Headings(len(units))
    cells, cell = _fitted(scaled, measured.windows, measured.width)
    return Navigator(cells, motion, labels, counted(measured, cell, motion, labels), settings, units)


def navigator_of(episodes: Episodes, settings: Settings, scale: Floats, hand: Hand | None = None) -> Navigator:
    """Fit a navigator with headings; a hand comes with what it moves and presses."""
    scaled = episodes._replace(points=episodes.points / scale)
    measured, motion = _measured(scaled, settings.window, None)
    cells, cell = _fitted(scaled, measured.windows, measured.width)
    labels = Headings(len(scale))
    motion = motion.within(*column_range(episodes.actions))
    return Navigator(cells, motion, labels, counted(measured, cell, motion, labels), settings, scale, hand)


def range_of(points: Floats) -> Floats:
    """Return the (d,) extent of points (n, d), with 1 for 0."""
    low, high = column_range(points)
    return np.where(high > low, high - low, 1.0)


def raw_labels(actions: Floats) -> RawActions:
    """Return the actions of data: every value of a few whole numbers, else low, middle and high of their range."""
    (low, *_), (high, *_) = column_range(actions)
    if actions.shape[1] == 1 and (actions == np.rint(actions)).all() and 0 <= low <= high < MOST_DISCRETE:
        return RawActions.discrete(int(high) + 1)
    return RawActions.between(*column_range(actions))


def held(windows: Windows, label: Ints) -> Mask:
    """(M,) whether the label of the action, (n,) by row, stayed the same during each window."""
    change = np.concatenate([[0], np.cumsum(label[1:] != label[:-1])])
    constant: Mask = change[windows.start] == change[windows.stop - 1]
    return constant


class Measured(NamedTuple):
    """M windows with their actions and displacements."""

    k: int
    windows: Windows
    width: float  # of the cells
    actions: Floats  # (M, m) mean actions
    velocities: Floats  # (M, d) steps before the windows
    moved: Floats  # (M, d) displacements

    def motion(self) -> LinearMotion:
        """Fit the motion model to the windows without a jump."""
        if not self.windows.jump.any():
            return LinearMotion.of(self.actions, self.velocities, self.moved)
        smooth = ~self.windows.jump
        return LinearMotion.of(self.actions[smooth], self.velocities[smooth], self.moved[smooth])

    def where(self, mask: Mask) -> Measured:
        """Select the windows marked by a mask."""
        start, stop, jump = self.windows
        windows = Windows(start[mask], stop[mask], jump[mask])
        return Measured(self.k, windows, self.width, self.actions[mask], self.velocities[mask], self.moved[mask])


def measure(episodes: Episodes, k: int, width: float) -> Measured:
    """Measure all windows of k steps.

    Args:
        episodes: with scaled points.
        width: of the cells; a longer step is a jump.
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
        cell: (n,) of each row.
    """
    windows, width = measured.windows, measured.width
    if isinstance(labels, RawActions):
        label = labels.of(measured.actions)
        regular = np.zeros(len(label), np.bool_)
    else:
        intended = motion.predict(measured.actions, measured.velocities)
        # In units of the usual intention: walls make the motion model underestimate all displacements equally.
        usual = float(np.sqrt(np.quantile(squared_lengths(intended), QUANTILE)))
        label = labels.of(intended, usual if usual > 0.0 else width)
        regular = (squared_lengths(measured.moved - intended) < (REGULAR * width) ** 2) & ~windows.jump
    return count(cell[windows.start], label, cell[windows.stop], windows.jump, windows.steps, regular)


def _chosen_window(episodes: Episodes, width: float | None) -> tuple[Measured, LinearMotion]:
    """Choose the windows by rule 1, and fit their motion model."""
    longest = int(np.diff(episodes.first).max()) - 1
    found = [_measured(episodes, WINDOWS[0], width)]
    for k in WINDOWS[1:]:
        if k > longest or found[-1][1].explained >= EXPLAINED:
            break
        found.append(_measured(episodes, k, width))
    return max(found, key=lambda pair: pair[1].explained)


def _measured(episodes: Episodes, k: int, width: float | None) -> tuple[Measured, LinearMotion]:
    """Measure the windows of k steps, with the cell width by rule 2 unless given, and fit their motion model."""
    size = displacement_quantile(episodes.points, episodes.first, k, QUANTILE) if width is None else width
    if not 0.0 < size < np.inf:
        if int(np.diff(episodes.first).max()) <= k:
            raise TooLittleDataError(f"no episode has more than {k} steps; choose a shorter window")
        raise TooLittleDataError("the coordinates don't move; choose others, or set the width of cells")
    measured = measure(episodes, k, size)
    if len(measured.windows.start) == 0:
        raise TooLittleDataError(f"no episode has more than {k} steps; choose a shorter window")
    return measured, measured.motion()


def _fitted(episodes: Episodes, windows: Windows, width: float) -> tuple[FittedCells, Ints]:
    """Make cells by rule 3, and find the cell of each row."""
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
