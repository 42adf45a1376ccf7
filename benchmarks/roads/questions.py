"""Ask planners that saw some trips, and drive their answers through the true times.

The log is one day. The truth is the mean over all vehicles of the other days, so no planner has seen it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import dijkstra
from scipy.spatial import KDTree

import fwrl
from benchmarks.roads.network import Network
from benchmarks.roads.simulation import GPS_SECONDS, Day
from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError

SHARES = (0.02, 0.05, 0.25, 1.0)
PAIRS = 200
WINDOWS = {"rush": ("08:00", "30min", 7.5, 8.5), "night": ("03:00", "2h", 1.0, 5.0)}  # time, around, from, to
LEAST = 5  # vehicles behind a true time
SUPPORT = 200  # trips behind each step of a route whose quantiles are checked
ROUTES = 40  # of them
DRIVERS = 30  # vehicles that drove such a route on the other days, at least
SHORTCUTS = 5
FINE = 20.0  # metres, side of squares with headings
MIDNIGHT = np.datetime64("2026-03-02T00:00:00", "ms")

Answers = dict[str, list[float]]


class Case(NamedTuple):
    """A seed on a network: what was logged, and the truth."""

    network: Network
    log: Day
    others: Sequence[Day]
    pairs: Ints  # (PAIRS, 2)
    rng: np.random.Generator
    number: dict[tuple[int, int], int]  # of each move


def case_of(network: Network, days: Sequence[Day], seed: int) -> Case:
    """The case in which one day is logged and the others are the truth."""
    rng = np.random.default_rng(seed)
    S = len(network.streets)
    pairs = np.array([rng.choice(S, 2, replace=False) for _ in range(PAIRS)])
    number = {move: k for k, move in enumerate(map(tuple, network.moves.tolist()))}
    return Case(network, days[seed], [day for k, day in enumerate(days) if k != seed], pairs, rng, number)


# The truth


def true_times(case: Case, hours: tuple[float, float] = (0.0, 48.0)) -> Floats:
    """(M,) mean seconds of each move between these hours, over all vehicles of the other days.

    A move that fewer than five vehicles made then takes as long as on the whole day, or as the street's other moves,
    or as the speed limit allows.
    """
    network, street = case.network, case.network.moves[:, 0]
    which, began, seconds = (
        np.concatenate(part) for part in zip(*(_moves_of(case, day) for day in case.others), strict=True)
    )
    then = (began >= 3600.0 * hours[0]) & (began < 3600.0 * hours[1])
    times = network.free[street]
    for of_street, rows in ((True, then | True), (False, then | True), (False, then)):
        group, n = (street[which[rows]], len(network.streets)) if of_street else (which[rows], len(street))
        count = np.bincount(group, minlength=n)
        mean = np.bincount(group, seconds[rows], n) / np.maximum(count, 1)
        members = street if of_street else np.arange(n)
        times = np.where(count[members] >= LEAST, mean[members], times)
    assert (times > 0.0).all()
    return np.asarray(times)


def _moves_of(case: Case, day: Day) -> tuple[Ints, Floats, Floats]:
    """The moves of a day: which, when it began, and its seconds."""
    on = np.flatnonzero(day.trip[1:] == day.trip[:-1])
    S = len(case.network.streets)
    keys = case.network.moves @ np.array([S, 1])
    wanted = day.street[on] * S + day.street[on + 1]
    order = np.argsort(keys)
    which = order[np.searchsorted(keys, wanted, sorter=order)]
    assert (keys[which] == wanted).all(), "a vehicle made a move that the network doesn't have"
    return which, day.time[on], day.time[on + 1] - day.time[on]


def driven(case: Case, route: Sequence[int], times: Floats) -> float:
    """True seconds of a route; infinite where it isn't legal."""
    moves = [case.number.get(move, -1) for move in itertools.pairwise(route)]
    return float(times[moves].sum()) if min(moves) >= 0 else np.inf


# Logs and plans


def log_of(case: Case, share: float) -> dict[str, Any]:
    """The log of a share of the trips, chosen at random; a larger share has the trips of a smaller one."""
    day, kept = case.log, _kept(case.log.trip, share, case)
    names = np.array(case.network.streets)
    return {"trip": day.trip[kept], "time": _moment(day.time[kept]), "state": names[day.street[kept]]}


def _kept(trip: Any, share: float, case: Case) -> Any:
    trips = np.unique(case.log.trip)
    chosen = np.random.default_rng(len(trips)).permutation(trips)[: round(share * len(trips))]
    return np.isin(trip, chosen)


def _moment(seconds: Any) -> Any:
    return MIDNIGHT + (1000.0 * np.asarray(seconds)).astype("timedelta64[ms]")


def planned(case: Case, planner: Any, a: int, b: int, **options: Any) -> tuple[list[int], float] | None:
    """The streets of a planned route and its promised seconds; None where there is none."""
    names = case.network.streets
    try:
        route = planner.plan(names[a], names[b], **options)
    except FwrlError:
        return None
    place = {name: k for k, name in enumerate(names)}
    return [place[state] for state in route.states], -route.reward


def over_best(case: Case, planner: Any, times: Floats, best: Floats, **options: Any) -> Answers:
    """For each pair with a route, its true time over the best possible, and over what was promised."""
    found: Answers = {"exists": [], "over_best": [], "over_promise": []}
    for (a, b), least in zip(case.pairs.tolist(), best, strict=True):
        route = planned(case, planner, a, b, **options)
        found["exists"].append(float(route is not None))
        if route is not None:
            true = driven(case, route[0], times)
            assert true >= least * (1 - 1e-9), "a route is faster than the fastest"
            found["over_best"].append(true / least)
            found["over_promise"].append(true / route[1])
    return found


def best_times(case: Case, times: Floats, moves: Ints | None = None) -> Floats:
    """(PAIRS,) the least true time of each pair, by all moves or by these."""
    if moves is None:
        moves = case.network.moves
    graph = case.network.graph(moves, times[[case.number[move] for move in map(tuple, moves.tolist())]])
    starts, row = np.unique(case.pairs[:, 0], return_inverse=True)
    found: Floats = dijkstra(graph, indices=starts)[row, case.pairs[:, 1]]
    return found


# Questions


def growth(case: Case, share: float) -> Answers:
    """How answers get better as more trips are seen; also with the paper's `best` backup."""
    log, times = log_of(case, share), true_times(case)
    planner = fwrl.fit(log, cost="elapsed")
    best = best_times(case, times)
    found = over_best(case, planner, times, best)
    found["best_backup"] = over_best(case, planner, times, best, backup="best")["over_best"]
    kept = _kept(case.log.trip, share, case)
    trip, street = case.log.trip[kept], case.log.street[kept]
    found["trips"] = [float(len(np.unique(trip)))]
    found["covered"] = _covered(trip, street, case.pairs)
    on = np.flatnonzero(trip[1:] == trip[:-1])
    seen = np.unique(np.stack([street[on], street[on + 1]], axis=1), axis=0)
    restricted = best_times(case, times, seen) / best
    exists = np.isfinite(restricted)
    assert exists.sum() == sum(found["exists"])
    found["seen_only"] = restricted[exists].tolist()  # the best by moves that trips made
    ends = case.network.ends
    back = (ends[case.network.moves[:, 0]] == ends[case.network.moves[:, 1]][:, ::-1]).all(axis=1)
    with_back = np.unique(np.concatenate([seen, case.network.moves[back]]), axis=0)
    found["seen_or_back"] = (best_times(case, times, with_back) / best)[exists].tolist()  # and by turning back
    count = sum(np.bincount(_moves_of(case, day)[0], minlength=len(times)) for day in case.others)
    known = best_times(case, times, case.network.moves[count >= LEAST]) / best
    found["known_only"] = np.minimum(known[exists], found["over_best"]).tolist()  # the best by moves of the other days
    return found


def _covered(trip: Ints, street: Ints, pairs: Ints) -> list[float]:
    """Whether some trip visits the first street of a pair and later the second."""
    row = np.unique(trip, return_inverse=True)[1]
    shape = row.max() + 1, int(max(street.max(), pairs.max())) + 1
    first, last = np.full(shape, len(trip)), np.full(shape, -1)
    np.minimum.at(first, (row, street), np.arange(len(trip)))
    np.maximum.at(last, (row, street), np.arange(len(trip)))
    return [float((first[:, a] < last[:, b]).any()) for a, b in pairs]


def hours(case: Case) -> Answers:
    """Rush and night, with plans of the whole day and plans for that time of day."""
    log, found = log_of(case, 1.0), {}
    whole = fwrl.fit(log, cost="elapsed")
    for name, (at, around, begin, end) in WINDOWS.items():
        times = true_times(case, (begin, end))
        best = best_times(case, times)
        for kind, planner in (("day", whole), ("at", fwrl.fit(log, cost="elapsed", at=at, around=around))):
            for key, values in over_best(case, planner, times, best).items():
                found[f"{name}_{kind}_{key}"] = values
    return found


def closed(case: Case) -> Answers:
    """The street in the middle of the planned route is closed: the route that avoids it over the best detour."""
    found: Answers = {}
    times = true_times(case)
    for share in SHARES[2:]:
        planner = fwrl.fit(log_of(case, share), cost="elapsed")
        exists, over = found.setdefault(f"exists_{share:g}", []), found.setdefault(f"over_best_{share:g}", [])
        for a, b in case.pairs.tolist():
            route = planned(case, planner, a, b)
            if route is None or len(route[0]) < 3:
                continue
            street = route[0][len(route[0]) // 2]
            open_moves = ~(case.network.moves == street).any(axis=1)
            graph = case.network.graph(case.network.moves[open_moves], times[open_moves])
            least = float(dijkstra(graph, indices=a)[b])
            if not np.isfinite(least):
                continue  # the only way
            detour = planned(case, planner, a, b, avoid=[case.network.streets[street]])
            exists.append(float(detour is not None))
            if detour is not None:
                assert street not in detour[0]
                over.append(driven(case, detour[0], times) / least)
                assert over[-1] >= 1 - 1e-9
    return found


def shortcut(case: Case) -> Answers:
    """Five drivers each go the wrong way through a one-way street, once: who is sent after them?"""
    times, log = true_times(case), log_of(case, 0.25)
    network, names = case.network, np.array(case.network.streets)
    tempting = _wrong_ways(case, times)[:SHORTCUTS]
    for k, (before, street, after, seconds) in enumerate(tempting):
        start = _moment(43_200.0 + np.array([0.0, *np.cumsum(seconds)]))
        log["trip"] = np.append(log["trip"], [1_000_000 + k] * 3)
        log["time"] = np.append(log["time"], start)
        log["state"] = np.append(log["state"], names[[before, street, after]])
    illegal = {move for before, street, after, _ in tempting for move in ((before, street), (street, after))}
    extra = np.array(sorted(illegal - set(case.number)))
    cost = {m: s for b, f, g, seconds in tempting for m, s in zip(((b, f), (f, g)), seconds, strict=True)}
    both = np.concatenate([network.moves, extra])
    together = np.concatenate([times, [cost[tuple(move)] for move in extra.tolist()]])
    gain = dijkstra(network.graph(network.moves, times)) - dijkstra(network.graph(both, together))
    tempted = np.argwhere(gain > 1.0)
    chosen = case._replace(pairs=case.rng.permutation(tempted)[:PAIRS])
    best = best_times(chosen, times)
    planner, found = fwrl.fit(log, cost="elapsed"), Answers()
    for least in (1, 2, 3):
        wary = planner.with_min_trips(least)
        for (a, b), legal in zip(chosen.pairs.tolist(), best, strict=True):
            route = planned(chosen, wary, a, b)
            found.setdefault(f"exists_{least}", []).append(float(route is not None))
            if route is not None:
                true = driven(chosen, route[0], times)
                found.setdefault(f"illegal_{least}", []).append(float(not np.isfinite(true)))
                if np.isfinite(true):
                    found.setdefault(f"over_best_{least}", []).append(true / legal)
    return found


def _wrong_ways(case: Case, times: Floats) -> list[tuple[int, int, int, tuple[float, float]]]:
    """Ways through one-way streets from their end to their beginning, those that save most time first."""
    network, best = case.network, dijkstra(case.network.graph(case.network.moves, times))
    ends = network.ends.tolist()
    roads = {tuple(end) for end in ends}
    found = []
    for street, (begin, end) in enumerate(ends):
        if (end, begin) in roads:
            continue
        befores = [k for k, other in enumerate(ends) if other[1] == end and k != street]
        afters = [k for k, other in enumerate(ends) if other[0] == begin and k != street]
        ways = [(best[b, a] - network.free[[b, street]].sum(), b, a) for b in befores for a in afters if a != b]
        if ways:
            saved, before, after = max(ways)
            found.append((saved, before, street, after))
    found.sort(reverse=True)
    return [(b, street, a, (float(network.free[b]), float(network.free[street]))) for _, b, street, a in found]


def gps(case: Case) -> Answers:
    """Positions instead of streets: cells of squares; a route is driven by the fastest streets inside its cells.

    First the squares that `fit` chooses; then smaller ones, each with the heading of the vehicle, one of eight, from
    positions of each second.
    """
    points = case.log.points
    log: dict[str, Any] = {"trip": points[:, 0].astype(np.int64), "time": _moment(points[:, 1])}
    log |= {"x": points[:, 2], "y": points[:, 3]}
    planner: Any = fwrl.fit(log, cost="elapsed", cells=("x", "y"))
    cells: Any = planner.experience.cells
    place = dict(zip(planner.states, planner.positions, strict=True))
    found: Answers = {"width": [cells.width]}
    begins = [tuple(shape[0].tolist()) for shape in case.network.shapes]
    _strips(case, planner, begins, place, cells.width, "plain", found)

    points = _every_second(points)
    square = np.floor(points[:, 2:] / FINE).astype(np.int64)
    ahead = np.roll(points[:, 2:], -3, axis=0) - points[:, 2:]  # three seconds on
    ending = np.roll(points[:, 0], -3) != points[:, 0]
    labels = _headed(square, ahead)[~ending]
    trip, moment = points[~ending, 0].astype(np.int64), _moment(points[~ending, 1])
    new = np.append(True, (labels[1:] != labels[:-1]) | (trip[1:] != trip[:-1]))
    planner = fwrl.fit({"trip": trip[new], "time": moment[new], "state": labels[new]}, cost="elapsed")
    place = dict(zip(labels.tolist(), (square[~ending] + 0.5) * FINE, strict=True))
    early = [shape[: 1 + min(4, len(shape) - 1)] for shape in case.network.shapes]
    first, along = np.array([shape[len(shape) // 2] for shape in early]), np.array([p[-1] - p[0] for p in early])
    starts = _headed(np.floor(first / FINE).astype(np.int64), along)
    _strips(case, planner, starts.tolist(), place, 2 * FINE, "headed", found)
    return found


def _every_second(points: Floats) -> Floats:
    """Positions of each second, on straight lines between the logged ones."""
    k = np.flatnonzero(points[1:, 0] == points[:-1, 0])
    a, b = points[k], points[k + 1]
    part = np.arange(GPS_SECONDS)[None, :, None] / GPS_SECONDS
    found: Floats = (a[:, None, :] + (b - a)[:, None, :] * part).reshape(-1, 4)
    return found


def _headed(square: Ints, ahead: Floats) -> Any:
    """Labels of squares with headings."""
    eighth = np.round(np.arctan2(ahead[:, 1], ahead[:, 0]) / (np.pi / 4)).astype(np.int64) % 8
    return np.array([f"{x}:{y}:{h}" for (x, y), h in zip(square.tolist(), eighth.tolist(), strict=True)])


def _strips(
    case: Case, planner: Any, begins: Sequence[Any], place: dict[Any, Any], width: float, kind: str, found: Answers
) -> None:
    """Plan each pair by cells, and drive the streets inside the route's strip of cells."""
    network, times = case.network, true_times(case)
    for (a, b), least in zip(case.pairs.tolist(), best_times(case, times), strict=True):
        try:
            route = planner.plan(begins[a], begins[b])
        except FwrlError:
            found.setdefault(f"{kind}_exists", []).append(0.0)
            continue
        found.setdefault(f"{kind}_exists", []).append(1.0)
        near = KDTree(np.array([place[state] for state in route.states]))
        inside = np.array([np.max(near.query(shape)[0]) <= width for shape in network.shapes])
        inside[[a, b]] = True
        kept = inside[network.moves].all(axis=1)
        true = float(dijkstra(network.graph(network.moves[kept], times[kept]), indices=a)[b])
        found.setdefault(f"{kind}_drivable", []).append(float(np.isfinite(true)))
        found.setdefault(f"{kind}_promise_over_best", []).append(-route.reward / least)
        if np.isfinite(true):
            assert true >= least * (1 - 1e-9)
            found.setdefault(f"{kind}_over_best", []).append(true / least)


def calibration(case: Case) -> Answers:
    """How often vehicles of the other days kept the promised 90 % quantile on routes that 200 trips support."""
    found, log = Answers(), log_of(case, 1.0)
    whole = fwrl.fit(log, cost="elapsed")
    at, around, begin, end = WINDOWS["rush"]
    rush = fwrl.fit(log, cost="elapsed", at=at, around=around)
    for kind, planner, window in (("day", whole, (0.0, 48.0)), ("rush", rush, (begin, end))):
        for route, vehicles in _well_known(case, planner, window):
            names = case.network.streets[route[0]], case.network.streets[route[-1]]
            options = {"cost": "elapsed"} | ({"at": at, "around": around} if kind == "rush" else {})
            promise = planner.cost_quantiles(*names, (0.5, 0.9), log=log, log_options=options)
            half, most = (quantile.cost for quantile in promise.quantiles)
            found.setdefault(f"{kind}_held_50", []).append(float((vehicles <= half).mean()))
            found.setdefault(f"{kind}_held_90", []).append(float((vehicles <= most).mean()))
            same = _seconds_along(case.log, route, window)
            found.setdefault(f"{kind}_same_day_90", []).append(float((same <= most).mean()))
            found.setdefault(f"{kind}_streets", []).append(float(len(route)))
            found.setdefault(f"{kind}_vehicles", []).append(float(len(vehicles)))
    return found


def _well_known(case: Case, planner: Any, hours: tuple[float, float]) -> Iterable[tuple[list[int], Floats]]:
    """Planned routes between streets of some vehicle's trip, with the times of all vehicles that drove them."""
    day, number, seen = case.others[0], 0, set()
    for _ in range(50 * ROUTES):
        i = int(case.rng.integers(len(day.trip)))
        j = i + int(case.rng.integers(4, 16))
        if j >= len(day.trip) or day.trip[i] != day.trip[j] or day.street[i] == day.street[j]:
            continue
        route = planned(case, planner, int(day.street[i]), int(day.street[j]))
        if route is None or tuple(route[0]) in seen or len(route[0]) < 4:
            continue
        seen.add(tuple(route[0]))
        names = [case.network.streets[k] for k in (route[0][0], route[0][-1])]
        if min(step.seen for step in planner.plan(*names).steps) < SUPPORT:
            continue
        vehicles = np.concatenate([_seconds_along(other, route[0], hours) for other in case.others])
        if min(len(vehicles), len(_seconds_along(case.log, route[0], hours))) >= DRIVERS:
            number += 1
            yield route[0], vehicles
        if number == ROUTES:
            return


def _seconds_along(day: Day, route: Sequence[int], hours: tuple[float, float]) -> Floats:
    """Seconds of all vehicles that drove just these streets, one after the other, and began between these hours."""
    n = len(route) - 1
    at = np.flatnonzero(day.street[: len(day.street) - n] == route[0])
    for k in range(1, n + 1):
        at = at[(day.street[at + k] == route[k]) & (day.trip[at + k] == day.trip[at])]
    at = at[(day.time[at] >= 3600.0 * hours[0]) & (day.time[at] < 3600.0 * hours[1])]
    return np.asarray(day.time[at + n] - day.time[at])


QUESTIONS: dict[str, Callable[[Case], Answers]] = {
    **{f"growth-{share:g}": functools.partial(growth, share=share) for share in SHARES},
    "hours": hours,
    "closed": closed,
    "shortcut": shortcut,
    "gps": gps,
    "calibration": calibration,
}
