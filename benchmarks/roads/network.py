"""Street networks that eclipse-sumo carries, and the fastest routes through them."""

from __future__ import annotations

import importlib
import itertools
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from fwrl.arrays import Floats, Ints
from fwrl.errors import FwrlError
from fwrl.files import replaced


class Place(NamedTuple):
    """A network of the package, and how many trips a day its streets carry without standing still."""

    name: str
    file: str  # in the package
    trips: int


PLACES = {
    "braunschweig": Place("Braunschweig", "tools/game/bs3d/bs.net.xml", 6_000),
    "berlin": Place("Berlin-Treptow", "tools/game/DRT/osm.net.xml", 8_500),
}


class Network(NamedTuple):
    """Streets that cars can go round: each can be reached from each.

    Attributes:
        file: that the simulator reads.
        streets: (S,) their names.
        shapes: (S,) points along each street, x and y in metres.
        length: (S,) in metres.
        free: (S,) seconds at the speed limit.
        moves: (M, 2) a street and one that may follow it, in order.
        ends: (S, 2) numbers of the junctions where a street begins and ends.
    """

    file: Path
    streets: list[str]
    shapes: list[Floats]
    length: Floats
    free: Floats
    moves: Ints
    ends: Ints

    def graph(self, moves: Ints, seconds: Floats) -> csr_array:
        """Moves as a sparse matrix."""
        S = len(self.streets)
        return csr_array((seconds, (moves[:, 0], moves[:, 1])), shape=(S, S))


def sumo_home() -> Path:
    """The folder of the simulator."""
    try:
        return Path(importlib.import_module("sumo").SUMO_HOME)
    except ImportError as error:
        raise FwrlError(f"the benchmark needs SUMO ({error}); install it with: pip install 'fwrl[sumo]'") from error


def run_tool(name: str, words: Sequence[object]) -> None:
    """Run a program of the simulator."""
    done = subprocess.run([sumo_home() / "bin" / name, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FwrlError(f"{name} of SUMO failed: {done.stderr.strip().splitlines()[-1]}")


def read_network(place: Place, folder: Path) -> Network:
    """Read a network and keep the largest part in which cars reach every street from every other.

    The package's networks belong to a game: their lights wait for a player. They get ordinary programs.
    """
    file = folder / "network.xml"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        words = ["--sumo-net-file", sumo_home() / place.file, "--tls.rebuild", "true", "--output-file"]
        with replaced(file) as draft:
            run_tool("netconvert", [*words, draft])
    root = ET.parse(file).getroot()
    edges = [edge for edge in root.iter("edge") if edge.get("function") is None]
    lanes = {
        (edge.get("id"), lane.get("index")): lane for edge in edges for lane in edge.iter("lane") if _for_cars(lane)
    }
    number = {edge.get("id"): k for k, edge in enumerate(e for e in edges if any(i == e.get("id") for i, _ in lanes))}
    moves = set()
    for link in root.iter("connection"):
        ends = (link.get("from"), link.get("fromLane")), (link.get("to"), link.get("toLane"))
        if all(end in lanes for end in ends):
            moves.add(tuple(number[street] for street, _ in ends))
    pairs = np.array(sorted(moves))
    graph = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(number),) * 2)
    part = connected_components(graph, connection="strong")[1]
    kept = part == np.bincount(part).argmax()
    renumbered = np.cumsum(kept) - 1
    chosen = [edge for edge in edges if edge.get("id") in number and kept[number[edge.get("id")]]]
    first = [next(lane for (street, _), lane in lanes.items() if street == edge.get("id")) for edge in chosen]
    moves_kept = renumbered[pairs[kept[pairs].all(axis=1)]]
    length = np.array([float(lane.attrib["length"]) for lane in first])
    junctions = [[edge.attrib["from"], edge.attrib["to"]] for edge in chosen]
    return Network(
        file,
        [edge.attrib["id"] for edge in chosen],
        [_points(lane.attrib["shape"]) for lane in first],
        length,
        length / np.array([float(lane.attrib["speed"]) for lane in first]),
        moves_kept,
        np.unique(junctions, return_inverse=True)[1].reshape(-1, 2),
    )


def _for_cars(lane: ET.Element) -> bool:
    allowed, disallowed = lane.get("allow"), lane.get("disallow")
    return (allowed is None or "passenger" in allowed.split()) and "passenger" not in (disallowed or "").split()


def _points(shape: str, step: float = 5.0) -> Floats:
    """(n, 2) points along a line, at most `step` metres apart."""
    corners = np.array([[float(x) for x in point.split(",")[:2]] for point in shape.split()])
    pieces = []
    for a, b in itertools.pairwise(corners):
        n = max(1, int(np.ceil(np.hypot(*(b - a)) / step)))
        pieces.append(a + (b - a) * np.arange(n)[:, None] / n)
    return np.concatenate([*pieces, corners[-1:]])
