"""Write, read and check files of navigators with a hand.

Nested named tuples become sections and details named by their path, such as `thing 0.graph.target`; their types tell
what to read.
"""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError, FwrlError
from fwrl.files import Archive, write_archive
from fwrl.navigator.action_labels import Headings
from fwrl.navigator.fitted import FittedCells
from fwrl.navigator.hand_graph import HandGraph
from fwrl.navigator.hand_models import KIND, HandSettings, SwitchModel, ThingModel
from fwrl.navigator.hand_navigator import HandNavigator
from fwrl.navigator.motion import LinearMotion, Steering
from fwrl.navigator.navigator import Navigator, Settings
from fwrl.navigator.navigator_file import expect
from fwrl.navigator.poses import Pose, Scene
from fwrl.navigator.transitions import Transitions


def write_hand_navigator(navigator: HandNavigator, path: str | Path) -> None:
    """Write a file; an existing file is replaced completely or not at all."""
    arrays: dict[str, NDArray[Any]] = {}
    scene, steering = navigator.scene, navigator.steering
    details: dict[str, Any] = {"settings": asdict(navigator.settings), "pressing": navigator.switches is not None}
    details["scene"] = {
        "hand": asdict(scene.hand),
        "opening": scene.opening,
        "things": {name: asdict(pose) for name, pose in scene.things.items()},
        "switches": dict(scene.switches),
    }
    _write("motion", navigator.motion, arrays, details)
    arrays["steering.units"], arrays["steering.used"] = steering.units, steering.used
    for number, thing in enumerate(navigator.things):
        _write(f"thing {number}", thing, arrays, details)
    if navigator.switches is not None:
        _write("switches", navigator.switches, arrays, details)
    write_archive(path, KIND, details, arrays)


def read_hand_navigator(archive: Archive) -> HandNavigator:
    """Read the navigator in an open file; FileError unless it's consistent."""
    path = str(archive.path)
    try:
        details = archive.details
        given = details["scene"]
        things = {name: Pose(**pose) for name, pose in given["things"].items()}
        switches = {name: tuple(indices) for name, indices in given["switches"].items()}
        scene = Scene(Pose(**given["hand"]), tuple(given["opening"]), things, switches)
        motion = _read("motion", LinearMotion, archive)
        steering = Steering(motion, _array("steering.units", archive), _array("steering.used", archive))
        models = [_read(f"thing {number}", ThingModel, archive) for number in range(len(things))]
        pressing = _read("switches", SwitchModel, archive) if details["pressing"] else None
        for model in models:
            S = len(model.cells)
            _check_graph(model.graph, S, 0)
            expect(model.held.shape == model.away.shape == (S,), "modes of all cells")
        if pressing is not None:
            kinds = len(pressing.operators.flips)
            _check_graph(pressing.graph, len(pressing.cells), kinds)
            expect((pressing.operators.kind >= 0).all() and (pressing.operators.kind < kinds).all(), "kinds of events")
        return HandNavigator(scene, motion, steering, models, pressing, HandSettings(**details["settings"]))
    except (FwrlError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{path!r} is not a valid navigator file: {error}") from error


def _check_graph(graph: HandGraph, S: int, events: int) -> None:
    """Refuse indices out of range, which compiled code would follow."""
    K, E = len(graph.source), len(graph.pair)
    expect(graph.n_cells == S and graph.n_events == events and K > 0 and E > 0, "cells and pairs that fit together")
    for indices, n, length in ((graph.source, S, K), (graph.pair, K, E), (graph.target, S + events, E)):
        expect(len(indices) == length and indices.min() >= 0 and indices.max() < n, "indices in range")
    expect((np.diff(graph.source) >= 0).all() and (np.diff(graph.pair) >= 0).all(), "pairs in order")
    expect(np.isfinite(graph.times).all() and (graph.times > 0).all() and (graph.episodes > 0).all(), "positive counts")
    expect(len(graph.action) == E and len(graph.end) == E and len(graph.episodes) == K, "a recipe for each outcome")


def _write(name: str, value: Any, arrays: dict[str, NDArray[Any]], details: dict[str, Any]) -> None:
    if isinstance(value, np.ndarray):
        arrays[name] = value
    elif isinstance(value, Navigator):
        arrays[f"{name}.centres"], arrays[f"{name}.scale"] = value.cells.centres, value.scale
        details[f"{name}.width"] = value.cells.width
        _write(f"{name}.motion", value.motion, arrays, details)
        _write(f"{name}.counts", value.counts, arrays, details)
    elif hasattr(value, "_fields") or is_dataclass(value):
        for field in getattr(value, "_fields", None) or [field.name for field in fields(value)]:
            _write(f"{name}.{field}", getattr(value, field), arrays, details)
    else:
        details[name] = value


def _read(name: str, kind: Any, archive: Archive) -> Any:
    if get_origin(kind) is np.ndarray:
        return _array(name, archive, get_args(get_args(kind)[1])[0])
    if kind is Navigator:
        cells = FittedCells(_array(f"{name}.centres", archive), float(archive.details[f"{name}.width"]))
        motion = _read(f"{name}.motion", LinearMotion, archive)
        counts = _read(f"{name}.counts", Transitions, archive)
        labels, S = Headings(cells.centres.shape[1]), len(cells)
        for indices, n in ((counts.source, S), (counts.target, S), (counts.label, labels.n)):
            expect(len(indices) > 0 and indices.min() >= 0 and indices.max() < n, "indices in range")
        settings = Settings(int(archive.details["settings"]["window"]))
        return Navigator(cells, motion, labels, counts, settings, _array(f"{name}.scale", archive))
    if hasattr(kind, "_fields") or is_dataclass(kind):
        hints = get_type_hints(kind)
        names = getattr(kind, "_fields", None) or [field.name for field in fields(kind)]
        return kind(**{field: _read(f"{name}.{field}", hints[field], archive) for field in names})
    return kind(archive.details[name])


def _array(name: str, archive: Archive, dtype: type[np.generic] = np.float64) -> NDArray[Any]:
    found = archive[name]
    if found.dtype != dtype:
        raise FileError(f"expected {name!r} as {np.dtype(dtype)}")
    if not np.isfinite(found).all():
        raise FileError(f"expected finite numbers in {name!r}")
    return np.array(found)
