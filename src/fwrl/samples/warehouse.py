"""A sample log: robots in a warehouse, for the tutorial.

Six aisles, A to F, of eight bays each run from the front corridor to the back one. Aisles A and D are one-way to the
back, B and E one-way to the front; C and F go both ways, but F is slippery: one move in four skids on the spot.
Robots 1 to 3 carry goods between `dock` and aisles A to C, robots 4 to 6 between aisles D to F and `packing`. Both
groups cross the back corridor between C and D. No trip goes from the dock to packing, but stitched together they do.

    python -m fwrl.samples.warehouse trips.csv places.csv
"""

from __future__ import annotations

import csv
import datetime
import itertools
import random
from collections import deque
from pathlib import Path
from typing import NamedTuple

from fwrl.files import replaced
from fwrl.samples.command import run_sample

AISLES = "ABCDEF"
BAYS = 8
BACKWARD, FORWARD, SLIPPERY = "AD", "BE", "F"
SKID = 0.25
SECONDS = {"up": 4, "down": 4, "left": 6, "right": 6, "in": 5, "out": 5}
DETOUR = 0.1  # probability of a random move instead of the shortest

Moves = dict[str, dict[str, str]]  # state -> action -> next state


class Visit(NamedTuple):
    """One row of the log."""

    trip: str
    time: str
    state: str
    action: str
    reward: str


def floor_plan() -> tuple[Moves, dict[str, tuple[float, float]]]:
    """Return the moves between places, and the positions of places.

    >>> moves, places = floor_plan()
    >>> moves["A3"], moves["front-B"]["right"], places["C8"]
    ({'up': 'A4'}, 'front-C', (4, 8))
    """
    moves: Moves = {}
    places: dict[str, tuple[float, float]] = {}
    for column, aisle in enumerate(AISLES):
        line = [f"front-{aisle}", *(f"{aisle}{bay}" for bay in range(1, BAYS + 1)), f"back-{aisle}"]
        for row, place in enumerate(line):
            places[place] = (2 * column, row)
            moves[place] = {}
            if row < BAYS + 1 and aisle not in FORWARD:
                moves[place]["up"] = line[row + 1]
            if row > 0 and aisle not in BACKWARD:
                moves[place]["down"] = line[row - 1]
    for left, right in itertools.pairwise(AISLES):
        for end in ("front", "back"):
            if end == "back" or left != "C":  # the front corridor is walled off between the two halves
                moves[f"{end}-{left}"]["right"] = f"{end}-{right}"
                moves[f"{end}-{right}"]["left"] = f"{end}-{left}"
    for place, gate in (("dock", "front-A"), ("packing", "front-F")):
        places[place] = (places[gate][0], -1)
        moves[place] = {"in": gate}
        moves[gate]["out"] = place
    return moves, places


def trips(count: int, seed: int = 0) -> list[Visit]:
    """Draw the visits of `count` trips over a week."""
    rng = random.Random(seed)
    moves, _ = floor_plan()
    visits: list[Visit] = []
    for number in range(1, count + 1):
        robot = rng.randint(1, 6)
        base, aisles = ("dock", "ABC") if robot <= 3 else ("packing", "DEF")
        crossing = "back-D" if robot <= 3 else "back-C"
        bay = rng.choice([f"{aisle}{k}" for aisle in aisles for k in range(1, BAYS + 1)] + [crossing])
        start, goal = rng.choice([(base, bay), (bay, base), (bay, f"{rng.choice(aisles)}{rng.randint(1, BAYS)}")])
        begin = datetime.datetime(2024, 3, 4, 6) + datetime.timedelta(seconds=rng.randrange(6 * 24 * 3600))
        zone = {place for place in moves if place in (base, crossing) or place[-1] in aisles or place[0] in aisles}
        visits += _trip(f"r{robot}-{number:05d}", begin, start, goal, moves, zone, rng)
    return visits


def _trip(
    name: str, now: datetime.datetime, start: str, goal: str, moves: Moves, zone: set[str], rng: random.Random
) -> list[Visit]:
    visits, here = [], start
    while here != goal:
        ways = {action: there for action, there in moves[here].items() if there in zone}
        nearer = _distances(goal, moves, zone)
        action = min(ways, key=lambda a: (nearer[ways[a]], a))
        if rng.random() < DETOUR:
            action = rng.choice(sorted(ways))
        seconds = SECONDS[action] + rng.randint(0, 2)
        visits.append(Visit(name, now.isoformat(sep=" "), here, action, str(-seconds)))
        now += datetime.timedelta(seconds=seconds)
        if not (here[0] in SLIPPERY and here[1:].isdecimal() and rng.random() < SKID):
            here = ways[action]
    return [*visits, Visit(name, now.isoformat(sep=" "), here, "", "")]


def _distances(goal: str, moves: Moves, zone: set[str]) -> dict[str, int]:
    """Count moves to the goal from every place of a zone; places without a path get more than any path has."""
    before: dict[str, list[str]] = {place: [] for place in zone}
    for place in zone:
        for there in moves[place].values():
            if there in zone:
                before[there].append(place)
    distance, queue = {goal: 0}, deque([goal])
    while queue:
        there = queue.popleft()
        for place in before[there]:
            if place not in distance:
                distance[place] = distance[there] + 1
                queue.append(place)
    return {place: distance.get(place, len(moves)) for place in zone}


def write(log: Path, positions: Path, count: int = 400, seed: int = 0) -> None:
    """Write the log and the positions as CSV."""
    _, places = floor_plan()
    tables = ((log, Visit._fields, trips(count, seed)), (positions, ("state", "x", "y"), _rows(places)))
    for path, header, rows in tables:
        with replaced(path) as draft, draft.open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])


def _rows(places: dict[str, tuple[float, float]]) -> list[tuple[str, float, float]]:
    return [(place, *where) for place, where in places.items()]


if __name__ == "__main__":
    run_sample(write, "fwrl.samples.warehouse", "LOG.csv", "POSITIONS.csv")
