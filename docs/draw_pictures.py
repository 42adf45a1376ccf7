"""Draw the pictures of the documentation that need no browser: worlds, a map of flights, a comparison.

The comparison is drawn from the table of docs/comparison.md, whose numbers docs/write_numbers.py writes. The flights
need the packages h3 and bokeh_sampledata.

    python docs/draw_pictures.py
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle
from numpy.typing import NDArray

import fwrl
from fwrl.envs.tabletop import Tabletop
from fwrl.figures.board import draw_board
from fwrl.samples.flights import write_flights

DOCS = Path(__file__).parent
IMAGES = DOCS / "images"
MAPS = ("four-rooms", "windy-four-rooms", "h-maze", "muddy-rooms", "risky-bridge", "maze-15x15-7")
BLUE, ORANGE, RED, INK, SOFT = "#0072B2", "#E69F00", "#D55E00", "#222222", "#666666"
AIRLINES = {"AS": "Alaska Airlines", "OO": "SkyWest"}
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 13,
    "savefig.dpi": 120,
    "savefig.facecolor": "white",
}

Points = NDArray[np.float64]


def save(figure: Figure, name: str) -> None:
    """Write a picture of the documentation."""
    figure.savefig(IMAGES / name, bbox_inches="tight", pad_inches=0.1)
    print(f"wrote {IMAGES / name}")


def draw_maps() -> None:
    """A picture for each built-in world that has a map."""
    for name in MAPS:
        figure = Figure(figsize=(4, 4))
        draw_board(figure.subplots(), fwrl.load_world(name))
        save(figure, f"world-{name}.png")


def empty(axes: Axes, width: float, height: float) -> None:
    """Axes without ticks, in units of the drawing."""
    axes.set_xlim(-0.8, width)
    axes.set_ylim(-height, height)
    axes.set_aspect("equal")
    axes.set_axis_off()


def state(axes: Axes, x: float, label: str, colour: str = "white") -> None:
    """A state in a row of states."""
    axes.add_patch(Circle((x, 0), 0.3, facecolor=colour, edgecolor=INK, linewidth=1.6, zorder=3))
    axes.text(x, 0, label, ha="center", va="center", zorder=4)


def arrow(
    axes: Axes, start: float, end: float, text: str, colour: str, bend: float = -0.45, height: float = 0.0
) -> None:
    """An action that goes from one state of a row to another; `bend` above 0 passes below."""
    away = {"shrinkA": 17, "shrinkB": 17, "mutation_scale": 15, "linewidth": 1.8, "color": colour, "zorder": 2}
    axes.add_patch(FancyArrowPatch((start, 0), (end, 0), arrowstyle="-|>", connectionstyle=f"arc3,rad={bend}", **away))
    middle = height or -bend * (end - start) / 2 * 1.25
    axes.text((start + end) / 2, middle, text, ha="center", va="center", color=colour, fontsize=11, zorder=5)


def draw_rows() -> None:
    """The worlds that are rows of states, in one picture."""
    figure = Figure(figsize=(10, 8.6))
    river, door, lock, cheap = figure.subplots(4, 1)
    for axes, title in (
        (river, "riverswim-6: swim right against the current"),
        (door, "door-corridor-0.3: walk sixty steps, or try the door"),
        (lock, "combination-lock-12-0: one right action of four, twelve times in a row"),
        (cheap, "cheap-last: the direct step costs 4, the detour 3.5"),
    ):
        axes.set_title(title, loc="left", fontsize=13, weight="bold")
        empty(axes, 8.4, 1.15)
    for s in range(6):
        state(river, 1.5 * s, str(s), ORANGE if s == 5 else "white")
        if s < 5:
            arrow(river, 1.5 * s, 1.5 * (s + 1), "60 %" if s == 0 else "35 %", BLUE, height=0.62)
            arrow(river, 1.5 * (s + 1), 1.5 * s, "always", RED, height=-0.62)
    for k, label in enumerate(("0", "1", "2", "...", "59", "60")):
        state(door, 1.5 * k, label, ORANGE if k == 5 else "white")
        if k < 5:
            arrow(door, 1.5 * k, 1.5 * (k + 1), "", BLUE, bend=0)
    arrow(door, 0, 7.5, "door: 30 %, otherwise you stay", RED, bend=-0.2, height=1.0)
    for k, label in enumerate(("0", "1", "2", "...", "11", "12")):
        state(lock, 1.5 * k, label, ORANGE if k == 5 else "white")
        if k < 5:
            arrow(lock, 1.5 * k, 1.5 * (k + 1), "", BLUE, bend=0)
    arrow(lock, 6.0, 0, "a wrong action: back to the start", RED, bend=-0.2, height=-0.95)
    for x, label in ((0, "0"), (3, "1"), (6, "2")):
        state(cheap, x, label, ORANGE if x == 6 else "white")
    arrow(cheap, 0, 3, "costs 3", BLUE, bend=0, height=0.22)
    arrow(cheap, 3, 6, "costs 0.5", BLUE, bend=0, height=0.22)
    arrow(cheap, 0, 6, "costs 4", RED, bend=-0.22, height=0.9)
    figure.subplots_adjust(hspace=0.35)
    save(figure, "world-rows.png")


def draw_costs() -> None:
    """The open grid in which every step has another cost."""
    world = fwrl.load_world("varied-costs-8-0")
    figure = Figure(figsize=(5, 5))
    axes = figure.subplots()
    costs = [
        (world.position(s), world.position(outcome.next_state), -outcome.reward)
        for s in range(world.n_states)
        for a in range(world.n_actions)
        for outcome in world.outcomes(s, a)
        if outcome.next_state != s
    ]
    highest = max(cost for _, _, cost in costs)
    for (x, y), (u, v), cost in costs:
        aside = 0.1 * np.array((y - v, u - x))
        colour = mpl.colormaps["YlOrBr"](0.25 + 0.7 * cost / highest)
        dx, dy = aside.tolist()
        axes.add_patch(
            FancyArrowPatch(
                (x + dx, dy - y), (u + dx, dy - v), arrowstyle="-|>", color=colour, mutation_scale=9, linewidth=1.6
            )
        )
    axes.scatter(world.positions[:, 0], -world.positions[:, 1], s=26, color=INK, zorder=3)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title("varied-costs-8-0: the darker, the costlier", fontsize=12)
    save(figure, "world-varied-costs.png")


def on_globe(places: Points) -> Points:
    """Longitudes and latitudes as a globe shows them that is seen from above the middle of North America."""
    longitude, latitude = np.radians(places[..., 0] + 107), np.radians(places[..., 1])
    middle = np.radians(46)
    x = np.cos(latitude) * np.sin(longitude)
    y = np.cos(middle) * np.sin(latitude) - np.sin(middle) * np.cos(latitude) * np.cos(longitude)
    return np.stack([x, y], axis=-1)


def great_circle(start: Points, end: Points) -> Points:
    """The shortest line between two places, on the globe."""
    ends = [np.radians(place) for place in (start, end)]
    a, b = (np.array([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)]) for x, y in ends)
    line = np.linspace(a, b, 30)
    line /= np.linalg.norm(line, axis=1, keepdims=True)
    return on_globe(np.degrees(np.stack([np.arctan2(line[:, 1], line[:, 0]), np.arcsin(line[:, 2])], axis=1)))


def draw_flights() -> None:
    """The route of docs/city.md over all flights, with the names of its places."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "flights.csv"
        write_flights(log)
        planner = fwrl.fit(
            log,
            cells=("origin_lat", "origin_lon", "destination_lat", "destination_lon"),
            resolution=3,
            columns={"trip": "airline", "cost": "km+800"},
        )
    explanation = planner.explain((42.44, -76.50), (57.05, -135.33))
    route, places = explanation.route, np.asarray(planner.positions)
    figure = Figure(figsize=(10, 6.4))
    axes = figure.subplots()
    counts = planner.experience
    pairs = np.unique(np.sort(np.stack([counts.source, counts.target], axis=1), axis=1), axis=0)
    lines = [great_circle(places[a], places[b]) for a, b in pairs if a != b]
    axes.add_collection(LineCollection(lines, colors="#B9C2CC", linewidths=0.5, alpha=0.35))
    axes.scatter(on_globe(places)[:, 0], on_globe(places)[:, 1], s=5, color="#9AA3AD", zorder=2)
    stops = places[[planner.states.find(name) for name in route.states]]
    colours = {0: BLUE, 1: ORANGE}
    for k, step in enumerate(explanation.steps):
        line = great_circle(stops[k], stops[k + 1])
        axes.plot(*line.T, color="white", linewidth=7, zorder=3)
        axes.plot(*line.T, color=colours[step.stretch], linewidth=4, zorder=4)
    names = (("Ithaca", "start", (8, 12)), ("Detroit", "change of airline", (-14, -30)), ("Seattle", "", (-14, -24)))
    for (x, y), (name, note, shift) in zip(on_globe(stops), (*names, ("Sitka", "destination", (-10, 14))), strict=True):
        axes.scatter(x, y, s=110, color="white", edgecolor=INK, linewidth=2.2, zorder=6)
        text = f"{name}\n{note}" if note else name
        axes.annotate(
            text, (x, y), shift, textcoords="offset points", weight="bold", ha="left" if shift[0] > 0 else "right",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5}, zorder=7,
        )  # fmt: skip
    airlines = [
        Line2D([], [], color=colours[k], linewidth=4, label=AIRLINES[str(trips[0])])
        for k, trips in enumerate(explanation.stretches)
    ]
    airlines.append(Line2D([], [], color="#B9C2CC", linewidth=2, label="other flights in the log"))
    axes.legend(handles=airlines, loc="lower left", frameon=False)
    axes.set_title("Ithaca to Sitka: no airline serves both, two together do", fontsize=16, weight="bold")
    axes.set_aspect("equal")
    axes.set_axis_off()
    save(figure, "city.png")


def scores(page: Path) -> tuple[list[str], list[str], list[list[str]]]:
    """Worlds, agents and cells of the table of the comparison."""
    (block,) = re.findall(
        r"<!-- numbers: comparison -->\n(.*?)<!-- end -->", page.read_text(encoding="utf-8"), re.DOTALL
    )
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines() if line.startswith("|")
    ]
    head, _, *body = rows
    return head[1:], [row[0].strip("*") for row in body], [row[1:] for row in body]


def draw_comparison() -> None:
    """A table of colours: agents by worlds, the best of each world in a frame."""
    worlds, agents, cells = scores(DOCS / "comparison.md")
    values = np.array([[float(cell.split(" ")[0]) for cell in row] for row in cells])
    halves = np.array([[float(re.findall(r"±([\d.]+)", cell)[0]) for cell in row] for row in cells])
    figure = Figure(figsize=(13, 6.6))
    axes = figure.subplots()
    axes.imshow(np.clip(values, 0, 1), cmap="YlGnBu", vmin=0, vmax=1.15, aspect="auto")
    best = values.argmax(axis=0)
    for (row, column), value in np.ndenumerate(values):
        tied = value + halves[row, column] >= values[best[column], column] - halves[best[column], column]
        axes.text(
            column, row, f"{100 * value:.0f}", ha="center", va="center", color="white" if value > 0.62 else INK,
            weight="bold" if tied else "normal",
        )  # fmt: skip
        if tied:
            corner = (column - 0.46, row - 0.44)
            axes.add_patch(Rectangle(corner, 0.92, 0.88, fill=False, edgecolor=RED, linewidth=2.2))
    axes.set_xticks(range(len(worlds)), worlds, rotation=35, ha="left", rotation_mode="anchor")
    axes.xaxis.tick_top()
    axes.set_yticks(range(len(agents)), agents)
    axes.get_yticklabels()[0].set_fontweight("bold")
    axes.tick_params(length=0)
    edges(axes, len(worlds), len(agents))
    note = (
        "Per cent of the best possible reward; in varied costs and CliffWalking, of the lead over random play.\n"
        "Red frames: the best agent of a world, and those whose intervals overlap with its own."
    )
    figure.text(0.125, 0.03, note, fontsize=12, color=SOFT)
    save(figure, "comparison.png")


def edges(axes: Axes, columns: int, rows: int) -> None:
    """White lines between cells instead of a frame."""
    axes.set_xticks(np.arange(-0.5, columns), minor=True)
    axes.set_yticks(np.arange(-0.5, rows), minor=True)
    axes.grid(which="minor", color="white", linewidth=2)
    axes.tick_params(which="minor", length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def draw_modes() -> None:
    """The modes of a hand on a tabletop, and the swap of two blocks."""
    table = Tabletop(blocks=2)
    things = {"red": fwrl.Pose((3, 4)), "blue": fwrl.Pose((5, 6))}
    episodes = table.demonstrate(episodes=60, steps=300)
    navigator = fwrl.fit_navigator(episodes, hand=fwrl.Pose((0, 1)), opening=(2,), things=things)
    seen = table.reset(np.random.default_rng(2))
    goal = seen.copy()
    goal[3:7] = seen[[5, 6, 3, 4]]
    navigator.aim(goal)
    for _ in range(250):
        seen = table.step(navigator.act(seen))
    navigator.plot().savefig(IMAGES / "modes.png", dpi=80)
    print(f"wrote {IMAGES / 'modes.png'}")


def main() -> None:
    """Draw all pictures."""
    draw_maps()
    draw_modes()
    with mpl.rc_context(STYLE):
        draw_rows()
        draw_costs()
        draw_flights()
        draw_comparison()


if __name__ == "__main__":
    main()
