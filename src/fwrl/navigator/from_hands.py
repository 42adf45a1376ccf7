"""Fit a navigator with a hand: what it moves, what it presses, and how.

All choices follow from the data by rules that are the same for all data.

1. *Window*: the fewest of `WINDOWS` steps for which the motion model explains `EXPLAINED` of the hand's displacement;
   if none does, the number that explains most.
2. *Units* of cells near a thing: in position, twice the spread of the hand around the attachment, so that one cell
   holds nearly all grasps; in opening, what takes as long as that (by the usual displacements); in angle, what moves
   the edge of the near zone by as much.
3. *Near zone*: so wide that, as cells widen in proportion to distance beyond it, those at the usual distance are as
   wide as the usual displacement.
4. *Held*: a cell in which, when the hand moves, the thing follows in at least half of the steps, in `SEEN` episodes or
   less than a cell away from such a one. The hand has a thing only in its near zone. To the plan all held cells are
   one: the hand can't change how it holds a thing but by letting go. Windows that begin there end at a displacement,
   because grasps differ.
5. *Free*: a window in which another thing moves farther than a cell shows no free hand, and isn't counted. One that
   begins in a held cell, drags the thing farther than `REACHED` and doesn't have it at the end gets nowhere. Otherwise
   the quickest release would be to run off with the fingers half open.
6. *Usual* means the 0.9 quantile over windows, as in `fwrl.navigator.from_episodes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError
from fwrl.navigator.action_labels import Headings
from fwrl.navigator.attachment import Attachment, Mask, fit_attachments, following, in_hand
from fwrl.navigator.episodes import Episodes, read_episodes
from fwrl.navigator.from_episodes import QUANTILE, Measured, measure, navigator_of
from fwrl.navigator.hand import Hand
from fwrl.navigator.hand_graph import HandGraph, hand_graph
from fwrl.navigator.hand_models import Approach, SwitchModel, ThingModel, aboard, relative
from fwrl.navigator.motion import LinearMotion, Steering, column_range
from fwrl.navigator.moves import Moments, Rides
from fwrl.navigator.navigator import Navigator, Settings
from fwrl.navigator.nested_cells import NestedCells, fit_nested
from fwrl.navigator.operators import constants, learn_operators
from fwrl.navigator.poses import Scene, Seen, difference
from fwrl.navigator.pursuit import REACHED

WINDOWS = (3, 5, 7, 10, 14, 20)
EXPLAINED = 0.9
SEEN = 3


class HandWindows(NamedTuple):
    """All windows of k steps of a hand, over n rows."""

    seen: Seen
    first: Ints  # (N + 1,) first row of each episode
    episode: Ints  # (n,) of each row
    actions: Floats  # (n, m)
    measured: Measured  # of pose and opening
    motion: LinearMotion
    label: Ints  # (M,) headings of position and opening
    usual: Floats  # (3,) displacement of position, angle and opening
    width: float | None  # of the finest cells, if given
    near: float | None  # zone, if given

    @property
    def start(self) -> Ints:
        """(M,) first rows."""
        return self.measured.windows.start

    @property
    def stop(self) -> Ints:
        """(M,) last rows."""
        return self.measured.windows.stop

    def steering(self) -> Steering:
        """Return how to steer the hand's pose."""
        p, a = self.seen.hand.shape[1], int(self.seen.angle.shape[1] > 0)
        units = np.concatenate([np.full(p, self.usual[0]), np.full(a, self.usual[1])])
        return Steering(self.motion, units, np.sqrt(np.mean(self.measured.actions**2, axis=0)))


def hand_windows(
    scene: Scene, episodes: Episodes, k: int | None = None, width: float | None = None, near: float | None = None
) -> HandWindows:
    """Cut episodes into windows, by rule 1 unless k is given, and fit the motion of pose and opening."""
    seen = scene.of_used(episodes.points)
    first = episodes.first
    turns = np.unwrap(np.arctan2(seen.angle[:, 1:], seen.angle[:, :1]), axis=0) if seen.angle.shape[1] else seen.angle
    poses = Episodes(np.concatenate([seen.hand, turns, seen.opening], axis=1), episodes.actions, first)
    p, a = seen.hand.shape[1], turns.shape[1]
    longest = int(np.diff(first).max()) - 1
    found: list[tuple[float, Measured, LinearMotion, Floats]] = []
    for steps in WINDOWS if k is None else (k,):
        if steps <= longest and (not found or found[-1][0] < EXPLAINED):
            measured = measure(poses, steps, np.inf)
            motion = measured.motion()
            intended = motion.predict(measured.actions, measured.velocities)
            missed = np.sum((measured.moved[:, :p] - intended[:, :p]) ** 2)
            found.append((float(1.0 - missed / np.sum(measured.moved[:, :p] ** 2)), measured, motion, intended))
    if not found:
        raise FwrlError(f"no episode has more than {k or WINDOWS[0]} steps; add longer episodes")
    _, measured, motion, intended = max(found, key=lambda one: one[0])
    motion = motion.within(*column_range(episodes.actions))
    parts = (slice(0, p), slice(p, p + a), slice(p + a, None))
    usual = np.array([usual_size(measured.moved[:, part]) for part in parts])
    for size, part in zip(usual, parts, strict=True):
        intended[:, part] /= max(usual_size(intended[:, part]), 1e-300) if size > 0.0 else 1.0
    headed = np.concatenate([intended[:, :p], intended[:, p + a :]], axis=1)
    label = Headings(headed.shape[1]).of(headed, 1.0)
    episode = np.repeat(np.arange(len(first) - 1), np.diff(first))
    return HandWindows(seen, first, episode, episodes.actions, measured, motion, label, usual, width, near)


def usual_size(vectors: Floats) -> float:
    """Return the usual length of (n, d) vectors; 0 without coordinates."""
    return float(np.quantile(np.linalg.norm(vectors, axis=1), QUANTILE)) if vectors.size else 0.0


def sizes_of(windows: HandWindows, spread: float, distance: Floats) -> tuple[Floats, float]:
    """Return the widths (D,) of the finest cells and the near zone, by rules 2 and 3.

    Args:
        spread: of the hand at contacts.
        distance: (n,) of the hand to the nearest place of contact.
    """
    seen, usual = windows.seen, windows.usual
    unit = 2.0 * spread if windows.width is None else windows.width
    near = windows.near or max(unit * float(np.quantile(distance, QUANTILE)) / usual[0], unit)
    opening = unit * usual[2] / usual[0] if usual[2] > 0.0 else 1.0
    counts = (seen.hand.shape[1], seen.angle.shape[1], seen.opening.shape[1])
    return np.repeat([unit, unit / near, opening], counts), near


class Contact(NamedTuple):
    """How a hand comes to have one thing, and lets go of it."""

    cells: NestedCells
    graph: HandGraph
    held: Mask  # (S,)
    away: Mask  # (S,)
    spans: Ints  # (N, 2) first and last row + 1 of the stretches in which it had it


def fit_things(windows: HandWindows, scene: Scene) -> list[ThingModel]:
    """Learn how a hand moves each thing."""
    if not scene.things:
        return []
    seen, start, stop = windows.seen, windows.start, windows.stop
    attachments, follows = fit_attachments(list(scene.things), seen.things, seen.hand, start, stop)
    places = [one.place(thing) for one, thing in zip(attachments, seen.things, strict=True)]
    step = seen.hand[start + 1] - seen.hand[start]
    steps = [following(step, place[start + 1] - place[start]) for place in places]
    distance = [one.distance(seen.hand[start], y[start]) for one, y in zip(attachments, seen.things, strict=True)]
    along = in_hand(np.array([each for _, each in steps]), distance)
    displaced = [place[stop] - place[start] for place in places]
    contacts = [
        fit_contact(
            windows, number, name, attachments[number], displaced, steps[number][0], along[number], follows[number]
        )
        for number, name in enumerate(scene.things)
    ]
    rides = [rides_of(number, places, contacts, windows) for number in range(len(places))]
    return [
        fit_thing(windows, scene, number, attachments[number], contacts[number], places, rides[number])
        for number in range(len(places))
    ]


def fit_contact(
    windows: HandWindows,
    number: int,
    name: str,
    attachment: Attachment,
    displaced: Sequence[Floats],
    moving: Mask,
    along: Mask,
    follows: Mask,
) -> Contact:
    """Learn how a hand comes to have one thing.

    Args:
        displaced: (M, p) how each thing moves in each window, as the hand goes.
        moving: (M,) whether the hand moves in the first step of each window.
        along: (M,) whether the hand has the thing in it.
        follows: (M,) whether the hand has the thing in the whole window.
    """
    seen, start, stop = windows.seen, windows.start, windows.stop
    p = seen.hand.shape[1]
    points = relative(seen, number, attachment)
    units, near = sizes_of(windows, attachment.spread, np.linalg.norm(points[:, :p], axis=1))
    cells, cell = fit_nested(points, units, np.zeros((1, p)), near)
    S, begin, episode = len(cells), cell[start], windows.episode[start]
    inside = np.linalg.norm(points[start, :p], axis=1) <= near
    along, follows = along & inside, follows & inside
    stays = moving & ~along
    followed, moved = np.bincount(begin[along], minlength=S), np.bincount(begin[moving], minlength=S)
    likely = (2 * followed >= moved) & (followed > 0)
    held = likely & (distinct(begin[along], episode[along], S) >= SEEN)
    held |= likely & beside(cells.centres / units, held)
    away = (2 * followed < moved) & (distinct(begin[stays], episode[stays], S) >= SEEN)
    away &= cells.level(cells.centres) > 0
    if not held.any():
        raise FwrlError(f"{name!r} was moved in too few episodes to learn how; add episodes that move it")
    state = np.where(held[cell], np.argmax(held), cell)
    ends = points[stop]
    having = held[begin]
    ends[having] = difference(points[stop[having]], points[start[having]], p, seen.angle.shape[1])
    by, push = displaced[number], seen.hand[stop] - seen.hand[start]
    far = having & (np.linalg.norm(by, axis=1) > units[0] * REACHED)
    dragged = far & (np.einsum("ij,ij->i", by, push) > 0.0) & ~held[cell[stop]]
    target = np.where(dragged, state[start], state[stop])
    others = [np.linalg.norm(by, axis=1) > units[0] for j, by in enumerate(displaced) if j != number]
    free = ~np.any(others, axis=0) | follows if others else np.ones(len(start), np.bool_)
    graph = graph_of(S, 0, state[start], target, ends, windows, free)
    return Contact(cells, graph, held, away, held_spans(windows, held[cell], follows))


def graph_of(
    n_cells: int, n_events: int, source: Ints, target: Ints, ends: Floats, windows: HandWindows, chosen: Mask
) -> HandGraph:
    """Count the chosen windows."""
    episode, actions = windows.episode[windows.start][chosen], windows.measured.actions[chosen]
    label = windows.label[chosen]
    return hand_graph(n_cells, n_events, source[chosen], label, target[chosen], episode, actions, ends[chosen])


def fit_thing(
    windows: HandWindows,
    scene: Scene,
    number: int,
    attachment: Attachment,
    contact: Contact,
    places: list[Floats],
    rides: Rides,
) -> ThingModel:
    """Learn how a hand moves one thing; `places` is where the hand would be with each."""
    thing, spans = windows.seen.things[number], contact.spans
    rows = np.concatenate([np.arange(a, b) for a, b in spans])
    lengths = np.concatenate([[0], np.cumsum(spans[:, 1] - spans[:, 0])])
    carried = Episodes(thing[rows], windows.actions[rows], lengths)
    carry = navigator_of(carried, Settings(windows.measured.k), 1.0 / np.linalg.norm(attachment.matrix, axis=0))
    put = spans[:, 1] - 1 + windows.measured.k
    ended = (
        put < windows.first[1:][windows.episode[spans[:, 0]]]
    )  # not by the end of an episode, which may be in the air
    if not ended.any():
        raise FwrlError(f"the hand never lets go of {list(scene.things)[number]!r}; add episodes in which it does")
    put = put[ended]
    unit = float(contact.cells.units[0])
    grip = windows.actions[rows].mean(axis=0)
    left = moments(thing, places, number, put, windows, rides, unit)
    return ThingModel(
        attachment,
        contact.cells,
        contact.graph,
        contact.held,
        contact.away,
        carry,
        fit_approach(windows, places[number], spans[ended], put, left.riding, attachment.spread, grip),
        grip,
        float(np.quantile(spans[:, 1] - spans[:, 0], QUANTILE)),
        rides,
        moments(thing, places, number, spans[:, 0], windows, rides, unit),
        left,
        *preconditions(windows, spans, len(scene.switches)),
    )


def fit_approach(
    windows: HandWindows, place: Floats, spans: Ints, put: Ints, riding: Mask, spread: float, grip: Floats
) -> Approach:
    """Learn how a thing comes to where it's put.

    Args:
        place: (n, p) where the hand would be with it.
        put: (N,) rows at which it lay where it was put, after each of its spans.
        riding: (N, T) which others it would come along with then.
        grip: (m,) what keeps it in the hand.
    """
    p = place.shape[1]
    rows = np.concatenate([np.arange(a, b) for a, b in spans])
    span = np.full(len(place), -1)
    span[rows] = np.repeat(np.arange(len(spans)), spans[:, 1] - spans[:, 0])
    seen = np.zeros((len(place), p + 1))
    seen[rows, :p] = place[rows] - place[put[span[rows]]]
    seen[rows, p] = aboard(riding)[span[rows]]
    units, near = sizes_of(windows, spread, np.linalg.norm(seen[rows, :p], axis=1))
    cells, cell = fit_nested(seen[rows], np.append(units[:p], 1.0), np.zeros((1, p)), near)
    number = np.full(len(place), -1)
    number[rows] = cell
    inside = (span[windows.start] >= 0) & (span[windows.start] == span[windows.stop])
    start, stop = windows.start[inside], windows.stop[inside]
    actions = np.broadcast_to(grip, (len(start), len(grip)))
    label, episode = windows.label[inside], windows.episode[start]
    return Approach(cells, hand_graph(len(cells), 0, number[start], label, number[stop], episode, actions, seen[stop]))


def rides_of(number: int, places: list[Floats], contacts: list[Contact], windows: HandWindows) -> Rides:
    """Return whether one thing came along each time another was carried farther than a cell."""
    parts = []
    for carrier, contact in enumerate(contacts):
        begin, end = contact.spans[:, 0], contact.spans[:, 1] - 1
        both = np.stack([places[number], places[carrier]], axis=1)
        own, by = np.moveaxis(both[end] - both[begin], 1, 0)
        size = np.linalg.norm(by, axis=1)
        far = (size > contact.cells.units[0]) & (carrier != number)
        along = np.linalg.norm(own - by, axis=1) <= size / 2
        columns = (np.full(len(begin), carrier), both[begin], both[end], along, windows.episode[begin])
        parts.append([column[far] for column in columns])
    return Rides(*[np.concatenate(columns) for columns in zip(*parts, strict=True)])


def preconditions(windows: HandWindows, spans: Ints, n: int) -> tuple[int, int]:
    """Return the switches that never varied while a thing was held, as mask and values."""
    if n == 0:
        return 0, 0
    rows = windows.seen.bits
    on = np.array([np.mean((rows >> bit) & 1) for bit in range(n)])
    at = spans[:, 0]
    return constants(rows[at], windows.episode[at], on, n)


def moments(
    thing: Floats,
    places: list[Floats],
    number: int,
    rows: Ints,
    windows: HandWindows,
    rides: Rides,
    unit: float,
) -> Moments:
    """Return where things were, as thing `number` sees them, at some rows."""
    others = [j for j in range(len(places)) if j != number]
    around = np.zeros((len(rows), len(others), windows.seen.hand.shape[1]))
    for column, j in enumerate(others):
        around[:, column] = places[j][rows] - places[number][rows]
    riding = [[len(rides.near(j, -x, unit)) > 0 for j, x in zip(others, row, strict=True)] for row in around]
    mask = np.array(riding, np.bool_).reshape(len(rows), len(others))
    return Moments(thing[rows], around, mask, windows.episode[rows])


def held_spans(windows: HandWindows, held: Mask, follows: Mask) -> Ints:
    """(N, 2) first and last row + 1 of the stretches in which a thing was held, at least one window long.

    Rows in held cells or in windows in which it follows, some of both; gaps of up to a window are closed.
    """
    n, k = len(held), windows.measured.k
    change = np.zeros(n + 1, np.int64)
    np.add.at(change, windows.start[follows], 1)
    np.add.at(change, windows.stop[follows] + 1, -1)
    carried = np.cumsum(change[:n]) > 0
    rows = np.flatnonzero(held | carried)
    cut = (np.diff(rows) > k) | (np.diff(windows.episode[rows]) > 0)
    begin = rows[np.concatenate([[True], cut])]
    end = rows[np.concatenate([cut, [True]])] + 1
    total = np.concatenate([np.zeros((2, 1), np.int64), np.cumsum([carried, held], axis=1)], axis=1)
    kept = (total[:, end] > total[:, begin]).all(axis=0) & (end - begin > k)
    return np.stack([begin[kept], end[kept]], axis=1)


def beside(centres: Floats, chosen: Mask) -> Mask:
    """(S,) which cells, with centres in units, are at most one unit from a chosen one in every coordinate."""
    if not chosen.any():
        return chosen
    return np.asarray(cKDTree(centres[chosen]).query(centres, p=np.inf)[0] <= 1.0)


def distinct(cell: Ints, episode: Ints, S: int) -> Ints:
    """(S,) in how many distinct episodes each cell occurs."""
    n = int(episode.max(initial=0)) + 1
    return np.bincount(np.unique(cell * n + episode) // n, minlength=S)


def fit_switches(windows: HandWindows, n: int, things: list[ThingModel]) -> SwitchModel:
    """Learn how a hand presses n switches."""
    seen, first, k = windows.seen, windows.first, windows.measured.k
    flips = np.zeros(len(seen.bits), np.int64)
    flips[1:] = seen.bits[1:] ^ seen.bits[:-1]
    flips[first[:-1]] = 0
    at = np.flatnonzero(flips)
    if len(at) == 0:
        raise FwrlError("no switch flips in these data; check their coordinates, or add episodes that press them")
    operators, kind = learn_operators(seen.bits[at - 1], flips[at], windows.episode[at], seen.hand[at], seen.bits, n)
    n_kinds = len(operators.flips)
    places = np.stack([np.median(seen.hand[at[kind == o]], axis=0) for o in range(n_kinds)])
    apart = np.linalg.norm(seen.hand[at] - places[kind], axis=1)
    spread = float(np.median([np.quantile(apart[kind == o], QUANTILE) for o in range(n_kinds)]))
    points = np.concatenate([seen.hand, seen.angle, seen.opening], axis=1)
    distance = np.min([np.linalg.norm(seen.hand - place, axis=1) for place in places], axis=0)
    units, near = sizes_of(windows, spread, distance)
    cells, cell = fit_nested(points, units, places, near)
    S = len(cells)
    start, stop = windows.start, windows.stop
    event = np.searchsorted(at, start, side="right")  # the first flip after a row
    flip = np.append(at, len(flips))[event]
    pressed = flip <= stop
    target = cell[stop]
    target[pressed] = S + kind[event[pressed]]
    ends = points[stop]
    at = flip[pressed]  # a press is a threshold: aim half a window past it
    ends[pressed] = points[at]
    ends[pressed, : seen.hand.shape[1]] += (seen.hand[at] - seen.hand[at - 1]) * ((k + 1) // 2)
    free = np.ones(len(start), np.bool_)
    for thing, place in zip(things, seen.things, strict=True):
        free &= np.linalg.norm((place[stop] - place[start]) @ thing.attachment.matrix.T, axis=1) <= thing.unit
    graph = graph_of(S, n_kinds, cell[start], target, ends, windows, free)
    return SwitchModel(cells, graph, operators, places)


def fit_hand(
    source: Any, scene: Scene, window: int | None, width: float | None, near: float | None, **settings: Any
) -> Navigator:
    """Fit a navigator with a hand (see `fwrl.navigator.from_episodes.fit_navigator`)."""
    episodes = read_episodes(source, scene.indices)
    scene.check(episodes.points)
    windows = hand_windows(scene, episodes, window, width, near)
    things = fit_things(windows, scene)
    switches = fit_switches(windows, len(scene.switches), things) if scene.switches else None
    chosen = Settings(windows.measured.k, coordinates=scene.hand.position, **settings)
    places = episodes._replace(points=windows.seen.hand)
    scale = np.ones(windows.seen.hand.shape[1])
    return navigator_of(places, chosen, scale, Hand(scene, windows.steering(), things, switches, chosen))
