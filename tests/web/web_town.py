"""A small town as a log, with one of everything that the explore page shows.

    home - mill - bridge - square - shop      isle - port
        \\ lane /            |        ~ pit - hole
                           park

The way over the mill was gone once, long ago; the one over the lane costs more. From the square, one walk in sixteen
ends in the pit, which only leads to the hole and back: a trap. Nothing leaves the park. No trip leads to the isle.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import fwrl

PLACES = {
    "home": (0, 0),
    "mill": (1, 1),
    "lane": (1, -1),
    "bridge": (2, 0),
    "square": (3, 0),
    "shop": (4, 0),
    "park": (3, -1),
    "pit": (4, 1),
    "hole": (5, 1),
    "isle": (6, 0),
    "port": (7, 0),
}


class Town(NamedTuple):
    planner: Path
    positions: Path
    log: Path


def moves() -> list[tuple[str, str, str, str, float, str]]:
    """Rows: trip, time, state, action, reward, next state."""
    rows = [
        ("old", "2024-01-01 08:00:00", "home", "walk", -1.0, "mill"),
        ("old", "2024-01-01 08:10:00", "mill", "walk", -1.0, "bridge"),
        ("old", "2024-01-01 08:20:00", "bridge", "walk", -1.0, "square"),
        ("slow", "2024-06-01 08:00:00", "home", "ride", -4.0, "lane"),
        ("slow", "2024-06-01 08:10:00", "lane", "ride", -4.0, "bridge"),
        ("slow", "2024-06-01 08:20:00", "bridge", "walk", -1.0, "square"),
        ("picnic", "2024-06-02 12:00:00", "square", "stroll", -1.0, "park"),
        ("fall", "2024-06-03 12:00:00", "square", "walk", -1.0, "pit"),
        ("fall", "2024-06-03 12:10:00", "pit", "walk", -1.0, "hole"),
        ("fall", "2024-06-03 12:20:00", "hole", "walk", -1.0, "pit"),
        ("ferry", "2024-06-04 12:00:00", "isle", "sail", -1.0, "port"),
        ("ferry", "2024-06-04 12:10:00", "port", "sail", -1.0, "isle"),
    ]
    return rows + [
        (f"shopping-{k:02d}", f"2024-06-{5 + k:02d} 09:00:00", "square", "walk", -1.0 - (k % 2), "shop")
        for k in range(15)
    ]


def write_town(folder: Path) -> Town:
    """The town in a folder: its planner, its positions and its log."""
    town = Town(folder / "town.fwrl", folder / "places.csv", folder / "town.csv")
    tables = (
        (town.log, ("trip", "time", "state", "action", "reward", "next_state"), moves()),
        (town.positions, ("state", "x", "y"), [(name, *place) for name, place in PLACES.items()]),
    )
    for path, header, rows in tables:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    fwrl.fit(str(town.log)).save(town.planner)
    return town
