"""Episodes: rows of points and actions, from arrays, OGBench files or Minari datasets.

Row t of an episode is a point and the action taken there; the action of the last row is ignored. Points are the
coordinates of goals: a part of the observation, or `achieved_goal` of Dict observations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fwrl.arrays import Floats, Ints
from fwrl.errors import FileError, FwrlError

Coordinates = Sequence[int] | str | None  # see `point_of`

ACHIEVED = "achieved_goal"


class Episodes(NamedTuple):
    """N episodes with n rows in total."""

    points: Floats  # (n, d)
    actions: Floats  # (n, m)
    first: Ints  # (N + 1,) first row of each episode, then n


def point_of(observation: Any, coordinates: Coordinates) -> Floats:
    """Return the point (d,), or points (n, d), of one or many observations.

    Args:
        observation: an array, or a mapping of arrays.
        coordinates: which indices of the observation goals use, or a key of Dict observations; None for all of an
            array, and for `achieved_goal` of a mapping.
    """
    if isinstance(observation, Mapping):
        key = coordinates if isinstance(coordinates, str) else ACHIEVED
        if key not in observation:
            raise FwrlError(f"the observations have no {key!r}, only {', '.join(map(str, observation))}")
        observation = observation[key]
    elif isinstance(coordinates, str):
        raise FwrlError(f"the observations are arrays without keys such as {coordinates!r}; give indices")
    found = as_numbers(observation, "coordinates")
    if coordinates is None or isinstance(coordinates, str):
        return found
    columns = found.shape[-1] if found.ndim else 0
    for index in coordinates:
        if not -columns <= index < columns:
            raise FwrlError(f"expected coordinates from 0 to {columns - 1}, the columns of an observation, got {index}")
    return found[..., list(coordinates)]


def as_numbers(values: Any, what: str) -> Floats:
    """Convert nested numbers to floats; FwrlError names them `what` if they aren't numbers or rows differ."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise FwrlError(f"expected {what} as numbers, in rows of one length; convert labels first ({error})") from None


def read_episodes(source: Any, coordinates: Coordinates = None) -> Episodes:
    """Read the episodes of a source.

    Args:
        source: the path of an OGBench `.npz` file or a list of such paths; a mapping of arrays `observations`,
            `actions` and `terminals` (rows of all episodes); a Minari dataset; or episodes: pairs of observations (T +
            1 or T rows) and actions (T rows), or mappings or objects with these two fields.
        coordinates: which coordinates goals use (see `point_of`).

    Raises:
        FwrlError: something is missing, not finite, or has the wrong shape.
    """
    if isinstance(source, str | Path):
        return _flat(_read_npz(Path(source)), coordinates)
    if isinstance(source, Mapping):
        return _flat(source, coordinates)
    if hasattr(source, "iterate_episodes"):
        source = source.iterate_episodes()
    if not isinstance(source, Iterable):
        raise FwrlError(
            f"expected episodes, a mapping of arrays or the path of an .npz file, got {type(source).__name__}"
        )
    return _joined([_part(item, coordinates) for item in source])


def _part(item: Any, coordinates: Coordinates) -> Episodes:
    """Read one file of a list, or one episode."""
    if isinstance(item, str | Path):
        return read_episodes(item, coordinates)
    if isinstance(item, Mapping):
        observations, actions = item.get("observations"), item.get("actions")
    elif hasattr(item, "observations"):
        observations, actions = item.observations, item.actions
    else:
        try:
            observations, actions = item
        except (TypeError, ValueError):
            raise FwrlError("expected an episode as a pair of observations and actions") from None
    if observations is None or actions is None:
        raise FwrlError("an episode needs both observations and actions")
    points, acts = _matrix(point_of(observations, coordinates)), _matrix(actions)
    if len(points) - len(acts) not in (0, 1) or len(points) == 0:
        raise FwrlError(
            f"an episode has {len(points)} observations and {len(acts)} actions; give it the same number of "
            "both, or one observation more"
        )
    missing = len(points) - len(acts)
    padded = np.concatenate([acts, np.zeros((missing, acts.shape[1]))])
    return _checked(points, padded, np.array([0, len(points)]))


def _flat(arrays: Mapping[str, Any], coordinates: Coordinates) -> Episodes:
    """Read concatenated episodes, separated by `terminals`."""
    for name in ("observations", "actions", "terminals"):
        if name not in arrays:
            raise FwrlError(f"the data have no {name!r}, only {', '.join(map(str, arrays)) or 'nothing'}; add it")
    points, actions = _matrix(point_of(arrays["observations"], coordinates)), _matrix(arrays["actions"])
    ends = np.flatnonzero(np.asarray(arrays["terminals"]).reshape(-1)) + 1
    if len(points) != len(actions) or len(points) != np.asarray(arrays["terminals"]).size:
        raise FwrlError("observations, actions and terminals must have the same length")
    if len(points) == 0:
        raise FwrlError("there are no rows; give at least one episode, with observations and actions")
    if len(ends) == 0 or ends[-1] != len(points):
        ends = np.append(ends, len(points))  # the last episode may be incomplete
    return _checked(points, actions, np.concatenate([[0], ends]))


def _read_npz(path: Path) -> Mapping[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in ("observations", "actions", "terminals") if name in file}
    except FileNotFoundError as error:
        hint = "" if path.suffix == ".npz" else "; load a Minari dataset first, with minari.load_dataset"
        raise FileError(f"cannot read {str(path)!r}: {error.strerror}{hint}") from None
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise FileError(f"{str(path)!r} isn't an .npz file of arrays: {error}") from error


def _matrix(values: ArrayLike) -> Floats:
    """(n, columns) floats; a vector is one column."""
    matrix = as_numbers(values, "actions")
    if matrix.ndim == 1:
        matrix = matrix[:, None]
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise FwrlError(f"expected rows of numbers, got an array of shape {matrix.shape}")
    return matrix


def _checked(points: Floats, actions: Floats, first: Ints) -> Episodes:
    for name, array in (("observations", points), ("actions", actions)):
        if not np.isfinite(array).all():
            raise FwrlError(
                f"row {int(np.argmin(np.isfinite(array).all(axis=1)))} of the {name} is not finite; remove or repair it"
            )
    return Episodes(points, actions, first)


def _joined(parts: list[Episodes]) -> Episodes:
    if not parts:
        raise FwrlError("there are no episodes; give at least one, with observations and actions")
    for what, columns in (
        ("observations", {p.points.shape[1] for p in parts}),
        ("actions", {p.actions.shape[1] for p in parts}),
    ):
        if len(columns) > 1:
            raise FwrlError(f"the {what} of all episodes must have the same width, got {sorted(columns)}")
    offsets = np.concatenate([[0], np.cumsum([len(p.points) for p in parts])])
    firsts = [p.first[:-1] + offset for p, offset in zip(parts, offsets, strict=False)]
    return Episodes(
        np.concatenate([p.points for p in parts]),
        np.concatenate([p.actions for p in parts]),
        np.concatenate([*firsts, offsets[-1:]]),
    )
