"""Write, read and check files of navigators and of state learners: cells, counted transitions and what acts on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from fwrl.errors import FileError, FwrlError
from fwrl.files import Archive, write_archive
from fwrl.navigator.action_labels import Headings, RawActions
from fwrl.navigator.fitted import FittedCells
from fwrl.navigator.hand_graph import HandGraph
from fwrl.navigator.motion import LinearMotion, Steering
from fwrl.navigator.transitions import Transitions

if TYPE_CHECKING:
    from fwrl.navigator.hand import Hand
    from fwrl.navigator.navigator import Navigator, Settings
    from fwrl.navigator.state_learner import StateLearner

NAVIGATOR, STATE_LEARNER = "navigator", "state-learner"
HAND = "hand"  # detail of navigators that have one
# Sections of floats with their numbers of dimensions.
CENTRES, SCALE, GRAM, CROSS, LOW, HIGH, ACTIONS = "centres", "scale", "gram", "cross", "low", "high", "actions"
FLOATS = {CENTRES: 2, SCALE: 1, GRAM: 2, CROSS: 2, LOW: 1, HIGH: 1}
# Sections by field of `Transitions`, with their types.
SECTIONS: dict[str, tuple[str, type[np.generic]]] = {
    "source": ("source", np.int64),
    "label": ("label", np.int64),
    "target": ("target", np.int64),
    "jump": ("jump", np.bool_),
    "times": ("times", np.float64),
    "steps": ("steps", np.float64),
    "regular": ("regular", np.float64),
}


def write_navigator(navigator: Navigator, path: str | Path) -> None:
    """Write a navigator file; an existing file is replaced completely or not at all."""
    details: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    _write_navigator("", navigator, arrays, details)
    if navigator.hand is not None:
        _write_hand(navigator.hand, arrays, details)
    write_archive(path, NAVIGATOR, details, arrays)


def read_navigator(archive: Archive) -> Navigator:
    """Read the navigator in an open file; FileError unless it's consistent."""
    path = str(archive.path)
    if archive.kind != NAVIGATOR:
        raise FileError(f"{path!r} holds a saved {archive.kind!r}, not a navigator")
    try:
        return _read_navigator("", archive)
    except (FwrlError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{path!r} is not a valid navigator file: {error}") from error


def _write_navigator(name: str, navigator: Navigator, arrays: dict[str, NDArray[Any]], details: dict[str, Any]) -> None:
    """Add the sections and details of a navigator, without its hand; their names begin with `name`."""
    motion, settings = navigator.motion, navigator.settings
    picked = settings.coordinates
    own: dict[str, Any] = {
        "width": navigator.cells.width,
        "squares": motion.squares,
        "window": settings.window,
        "prior": settings.prior,
        "way_back": settings.way_back,
        "backup": settings.backup,
        "coordinates": list(picked) if isinstance(picked, tuple) else picked,
    }
    sections: dict[str, NDArray[Any]] = {
        CENTRES: navigator.cells.centres,
        SCALE: navigator.scale,
        GRAM: motion.gram,
        CROSS: motion.cross,
        LOW: motion.low,
        HIGH: motion.high,
    }
    if isinstance(navigator.labels, RawActions):
        sections[ACTIONS] = navigator.labels.actions
    details.update({name + key: value for key, value in own.items()})
    arrays.update({name + key: array for key, array in (sections | sections_of(navigator.counts)).items()})


def _read_navigator(name: str, archive: Archive) -> Navigator:
    from fwrl.navigator.navigator import Navigator, Settings

    arrays = {key: typed(archive, name + key, np.float64, n) for key, n in FLOATS.items()}
    details = archive.details
    cells = FittedCells(arrays[CENTRES], float(details[name + "width"]))
    d = cells.centres.shape[1]
    labels: Headings | RawActions = Headings(d)
    if name + ACTIONS in archive:
        labels = RawActions(typed(archive, name + ACTIONS, np.float64, 2))
    squares = float(details[name + "squares"])
    motion = LinearMotion(arrays[GRAM], arrays[CROSS], squares, arrays[LOW], arrays[HIGH])
    _check(arrays, len(cells))
    counts = read_counts(archive, len(cells), labels.n, name)
    picked = details[name + "coordinates"]
    settings = Settings(
        int(details[name + "window"]),
        float(details[name + "prior"]),
        float(details[name + "way_back"]),
        details[name + "backup"],
        tuple(map(int, picked)) if isinstance(picked, list) else picked,
    )
    hand = None
    if not name and HAND in details:
        own = details[HAND]
        given = None if own["give_up"] is None else float(own["give_up"])
        settings = replace(settings, doubt=float(own["doubt"]), give_up=given, seed=int(own["seed"]))
        hand = _read_hand(archive, settings)
    return Navigator(cells, motion, labels, counts, settings, arrays[SCALE], hand)


def _check(arrays: dict[str, NDArray[Any]], S: int) -> None:
    """Refuse shapes that don't fit together and numbers that aren't finite."""
    z, d = arrays[CROSS].shape
    m = z - d
    shapes = {CENTRES: (S, d), SCALE: (d,), GRAM: (z, z), LOW: (m,), HIGH: (m,)}
    expect(all(arrays[name].shape == shape for name, shape in shapes.items()), "shapes that fit together")
    expect(all(np.isfinite(arrays[name]).all() for name in shapes), "finite numbers")
    expect((arrays[SCALE] > 0.0).all(), "positive scales")


def _write_hand(hand: Hand, arrays: dict[str, NDArray[Any]], details: dict[str, Any]) -> None:
    """Add the sections and details of a hand.

    Nested named tuples become sections and details named by their path, such as `thing 0.graph.target`.
    """
    scene, steering, settings = hand.scene, hand.steering, hand.settings
    details[HAND] = {
        "position": scene.hand.position,
        "angle": scene.hand.angle,
        "opening": scene.opening,
        "things": {name: [pose.position, pose.angle] for name, pose in scene.things.items()},
        "switches": dict(scene.switches),
        "doubt": settings.doubt,
        "give_up": settings.give_up,
        "seed": settings.seed,
    }
    for name, value in (("units", steering.units), ("used", steering.used), ("motion", steering.motion)):
        _write(f"steering.{name}", value, arrays, details)
    for number, thing in enumerate(hand.things):
        _write(f"thing {number}", thing, arrays, details)
    if hand.switches is not None:
        _write("switches", hand.switches, arrays, details)


def _read_hand(archive: Archive, settings: Settings) -> Hand:
    from fwrl.navigator.hand import Hand
    from fwrl.navigator.hand_models import SwitchModel, ThingModel
    from fwrl.navigator.poses import Pose, Scene

    own = archive.details[HAND]
    things = {name: Pose(*pose) for name, pose in own["things"].items()}
    switches = {name: tuple(indices) for name, indices in own["switches"].items()}
    scene = Scene(Pose(own["position"], own["angle"]), tuple(own["opening"]), things, switches)
    motion = _read("steering.motion", LinearMotion, archive)
    steering = Steering(motion, _array("steering.units", archive), _array("steering.used", archive))
    models = [_read(f"thing {number}", ThingModel, archive) for number in range(len(things))]
    for model in models:
        S = len(model.cells)
        _check_graph(model.graph, S, 0)
        _check_graph(model.approach.graph, len(model.approach.cells), 0)
        expect(model.held.shape == model.away.shape == (S,), "modes of all cells")
    pressing = _read("switches", SwitchModel, archive) if switches else None
    if pressing is not None:
        kinds = len(pressing.operators.flips)
        _check_graph(pressing.graph, len(pressing.cells), kinds)
        expect((pressing.operators.kind >= 0).all() and (pressing.operators.kind < kinds).all(), "kinds of events")
    return Hand(scene, steering, models, pressing, settings)


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
    from fwrl.navigator.navigator import Navigator

    if isinstance(value, np.ndarray):
        arrays[name] = value
    elif isinstance(value, Navigator):
        _write_navigator(f"{name}.", value, arrays, details)
    elif names := names_of(type(value)):
        for field in names:
            _write(f"{name}.{field}", getattr(value, field), arrays, details)
    else:
        details[name] = value


def _read(name: str, kind: Any, archive: Archive) -> Any:
    """Read what `_write` wrote; the types of its fields tell what to read."""
    from fwrl.navigator.navigator import Navigator

    if get_origin(kind) is np.ndarray:
        return _array(name, archive, get_args(get_args(kind)[1])[0])
    if kind is Navigator:
        return _read_navigator(f"{name}.", archive)
    if names := names_of(kind):
        hints = get_type_hints(kind)
        return kind(**{field: _read(f"{name}.{field}", hints[field], archive) for field in names})
    return kind(archive.details[name])


def names_of(kind: Any) -> Sequence[str]:
    """Return the fields of a named tuple or dataclass; none for others."""
    return getattr(kind, "_fields", ()) or ([field.name for field in fields(kind)] if is_dataclass(kind) else ())


def _array(name: str, archive: Archive, dtype: type[np.generic] = np.float64) -> NDArray[Any]:
    found = archive[name]
    if found.dtype != dtype:
        raise FileError(f"expected {name!r} as {np.dtype(dtype)}")
    if not np.isfinite(found).all():
        raise FileError(f"expected finite numbers in {name!r}")
    return np.array(found)


def write_state_learner(learner: StateLearner, path: str | Path) -> None:
    """Write a file; an existing file is replaced completely or not at all."""
    experience = learner.experience
    details = {
        "width": experience.cells.width,
        "window": learner.window,
        "discrete": learner.discrete,
        "generator": learner.rng.bit_generator.state,
    }
    arrays = {
        CENTRES: experience.cells.centres,
        LOW: learner.low,
        HIGH: learner.high,
        ACTIONS: learner.labels.actions,
    }
    write_archive(path, STATE_LEARNER, details, arrays | sections_of(experience.counts))


def read_state_learner(archive: Archive) -> StateLearner:
    """Read the learner in an open file; FileError unless it's consistent."""
    from fwrl.navigator.state_learner import CountedCells, StateLearner

    path = str(archive.path)
    try:
        details = archive.details
        low, high = typed(archive, LOW, np.float64, 1), typed(archive, HIGH, np.float64, 1)
        labels = RawActions(typed(archive, ACTIONS, np.float64, 2))
        expect(labels.n > 0 and np.isfinite(labels.actions).all(), "at least one finite action")
        cells = FittedCells(typed(archive, CENTRES, np.float64, 2), float(details["width"]))
        expect(cells.centres.shape[1] == len(low), "centres and bounds with the same number of coordinates")
        learner = StateLearner(low, high, labels, discrete=bool(details["discrete"]), window=int(details["window"]))
        learner.resume(CountedCells(cells, read_counts(archive, len(cells) + 1, labels.n)))
        learner.rng.bit_generator.state = details["generator"]
        return learner
    except (FwrlError, LookupError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{path!r} is not a valid state learner file: {error}") from error


def sections_of(counts: Transitions) -> dict[str, NDArray[Any]]:
    """Return the arrays of counts by section."""
    return {name: getattr(counts, field).astype(dtype) for field, (name, dtype) in SECTIONS.items()}


def read_counts(archive: Archive, n_states: int, n_labels: int, begin: str = "") -> Transitions:
    """Read the counts from a file; FileError for indices out of range, which compiled code would follow.

    Args:
        begin: of the names of their sections.
    """
    counts = Transitions(*[typed(archive, begin + name, dtype, 1) for name, dtype in SECTIONS.values()])
    E = len(counts.source)
    expect(E > 0 and all(len(column) == E for column in counts), "columns of one length, at least one")
    states = [("cells", codes, n_states) for codes in (counts.source, counts.target)]
    for name, codes, n in [*states, ("labels", counts.label, n_labels)]:
        expect(codes.min() >= 0 and codes.max() < n, f"{name} from 0 to {n - 1}")
    sums = np.stack([counts.times, counts.steps, counts.regular])
    expect(np.isfinite(sums).all() and (sums[:2] > 0.0).all() and (sums[2] >= 0.0).all(), "positive counts")
    return counts


def typed(archive: Archive, name: str, dtype: type[np.generic], dimensions: int) -> NDArray[Any]:
    """Copy a section into memory; FileError unless it has this type and number of dimensions."""
    array = archive[name]
    if array.dtype != dtype or array.ndim != dimensions:
        raise FileError(f"expected {name!r} as {np.dtype(dtype)} with {dimensions} dimensions")
    return np.array(array)


def expect(sound: object, what: str) -> None:
    """Raise FileError unless `sound`."""
    if not sound:
        raise FileError(f"expected {what}; the file is damaged")
