"""Days of traffic: who drives when and where, and what the simulator writes about it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.roads.network import Network, Place, run_tool
from fwrl.arrays import Floats, Ints
from fwrl.files import replaced

HOURS = 24
SHARE_OF_DAY = np.array([1] * 6 + [3, 35, 35, 4] + [2] * 6 + [3, 4, 3, 2, 1, 1] + [1] * 2, np.float64)
RUSH = (7.0, 9.0)  # o'clock
COMMUTERS = 0.6  # share of the trips then that go to work
WORK = 400.0  # metres from the middle
SHORTEST = 400.0  # metres between the ends of a trip, in a straight line
GPS_SECONDS = 5
GPS_NOISE = 5.0  # metres, standard deviation of x and of y


class Day(NamedTuple):
    """A simulated day.

    Attributes:
        trip: (V,) of each visit, in order of trips and time.
        time: (V,) seconds since midnight at which a vehicle entered a street.
        street: (V,) the street.
        points: (P, 4) trip, time, x and y of a position receiver; empty where none was simulated.
    """

    trip: Ints
    time: Floats
    street: Ints
    points: Floats


def simulated_day(place: Place, network: Network, seed: int, points: bool, folder: Path) -> Day:
    """Simulate a day, or read it if it was simulated before."""
    path = folder / f"day-{seed}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        day = _simulate(place, network, seed, points, folder)
        with replaced(path) as draft, draft.open("wb") as file:
            np.savez_compressed(file, **day._asdict())
    with np.load(path) as stored:
        return Day(*(stored[name] for name in Day._fields))


def _simulate(place: Place, network: Network, seed: int, points: bool, folder: Path) -> Day:
    demand, routes, positions = (folder / f"{name}-{seed}.xml" for name in ("demand", "routes", "positions"))
    demand.write_text(_demand(place.trips, network, np.random.default_rng(seed)), encoding="utf-8")
    command: list[Any] = ["--net-file", network.file, "--route-files", demand]
    command += ["--seed", seed, "--vehroute-output", routes, "--vehroute-output.exit-times", "true"]
    command += ["--vehroute-output.internal", "true", "--vehroute-output.last-route", "true"]
    command += ["--weights.random-factor", 1.5, "--ignore-route-errors", "true", "--no-warnings", "true"]
    command += ["--device.rerouting.probability", 0.5, "--device.rerouting.adaptation-steps", 5]
    command += ["--device.rerouting.adaptation-interval", 60, "--no-step-log", "true"]
    if points:
        command += ["--fcd-output", positions, "--device.fcd.period", GPS_SECONDS, "--fcd-output.attributes", "x,y"]
    run_tool("sumo", command)
    visits = _visits(routes, network)
    day = Day(*visits, _points(positions, seed) if points else np.zeros((0, 4)))
    for file in (demand, routes, positions):
        file.unlink(missing_ok=True)
    return day


def _demand(trips: int, network: Network, rng: np.random.Generator) -> str:
    """Trips between random streets, long streets more often; in the morning most go to work, around the middle."""
    hour = rng.choice(HOURS, trips, p=SHARE_OF_DAY / SHARE_OF_DAY.sum())
    departure = np.sort(3600.0 * (hour + rng.random(trips)))
    middle = np.array([shape[len(shape) // 2] for shape in network.shapes])
    anywhere = network.length / network.length.sum()
    at_work = anywhere * (np.hypot(*(middle - np.median(middle, axis=0)).T) < WORK)
    lines = ["<routes>"]
    for k, time in enumerate(departure):
        rush = RUSH[0] <= time / 3600.0 < RUSH[1] and rng.random() < COMMUTERS
        while True:
            a = rng.choice(len(anywhere), p=anywhere)
            b = rng.choice(len(anywhere), p=at_work / at_work.sum() if rush else anywhere)
            if np.hypot(*(middle[a] - middle[b])) >= SHORTEST:
                break
        lines.append(
            f'<trip id="{k}" depart="{time:.1f}" from="{network.streets[a]}" to="{network.streets[b]}" '
            'departLane="best" departSpeed="max"/>'
        )
    return "\n".join([*lines, "</routes>"])


def _visits(file: Path, network: Network) -> tuple[Ints, Floats, Ints]:
    """When each vehicle entered each street: it left the junction before, or departed."""
    number = {street: k for k, street in enumerate(network.streets)}
    trips, times, streets = [], [], []
    for _, vehicle in ET.iterparse(file):
        if vehicle.tag != "vehicle":
            continue
        route = vehicle.find("route")
        assert route is not None
        names = route.attrib["edges"].split()
        left = [float(time) for time in route.attrib["exitTimes"].split()]
        if min(left) >= 0.0:  # otherwise the simulator moved a stuck vehicle on by hand
            entered = [float(vehicle.attrib["depart"]), *left]
            on_street = [k for k, name in enumerate(names) if not name.startswith(":")]
            trips += [int(vehicle.attrib["id"])] * len(on_street)
            times += [entered[k] for k in on_street]
            streets += [number[names[k]] for k in on_street]
        vehicle.clear()
    return np.array(trips), np.array(times), np.array(streets)


def _points(file: Path, seed: int) -> Floats:
    """Positions of all vehicles, with noise."""
    rows, time = [], 0.0
    for event, element in ET.iterparse(file, events=("start", "end")):
        if element.tag == "timestep":
            if event == "start":
                time = float(element.attrib["time"])
            else:
                element.clear()
        elif element.tag == "vehicle" and event == "end":
            rows.append((float(element.attrib["id"]), time, float(element.attrib["x"]), float(element.attrib["y"])))
    found = np.array(rows)
    found[:, 2:] += np.random.default_rng(seed).normal(0.0, GPS_NOISE, (len(found), 2))
    return found[np.lexsort((found[:, 1], found[:, 0]))]
