"""Draw the film of README and the front page, images/goal-moves.gif: the goal moves three times.

Two agents learn from the same random steps in four rooms, towards one goal. Then the goal moves, and nobody takes
another step: each board shows the agent's values and greedy route for the new goal. Q-learning is `qlcat`, which has a
value for every pair of state and goal, so what it has learned for one goal stays learned. Arriving pays only after the
first thousand steps, so that the steps also show how to leave the goal.

    python docs/draw_film.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib import font_manager
from PIL import Image, ImageDraw, ImageFont

import fwrl

FILE = Path(__file__).with_name("images") / "goal-moves.gif"
WIDTH, HEIGHT, SCALE = 760, 476, 2  # pixels; drawn larger, so that edges are smooth
FRAME = 80  # milliseconds
CELL, LEFT, TOP, BETWEEN = 36, 28, 100, 380
STEPS, UNPAID, GOAL_REWARD = 20_000, 1_000, 10.0
START, GOALS = (2, 3), ((9, 2), (8, 9), (2, 9), (9, 6))  # (x, y)
LEARNING, LEARNED, SLIDING, ROUTE, HOLD = 18, 13, 4, 4, 16  # frames
INK, SOFT, WALL, BLANK, FLAG = "#1b1f26", "#566070", "#c3c9d2", "#f0f1f4", "#c2184f"
SIDES = (("fwrl", "FWRL", "#0b5cad"), ("qlcat", "Q-learning", "#a8470b"))
EDGED = (INK, SOFT, FLAG, *(colour for _, _, colour in SIDES))


class Board(NamedTuple):
    """The knowledge of one agent at one moment."""

    steps: np.ndarray  # to the goal, from every state; nan where the agent knows nothing
    route: list[tuple[float, float]]  # positions from the start to the goal; empty if the greedy actions do not arrive


def board(world: fwrl.World, agent: fwrl.Agent, goal: int) -> Board:
    """The steps that an agent's values promise, and its greedy route."""
    values = np.array([agent.value(s, goal) for s in range(world.n_states)])
    if agent.value_kind == "return":  # Q-learning's values contain the goal's reward, once it has got this far
        values = np.where(values > GOAL_REWARD / 2, values - GOAL_REWARD, -np.inf)
    steps = np.where(np.isfinite(values), values / world.step_reward, np.nan)
    route: list[tuple[float, float]] = [START]
    state = world.state_at(*START)
    while state != goal and len(route) <= world.n_states and np.isfinite(steps[state]):
        (outcome,) = world.outcomes(state, agent.greedy(state, goal))
        state = outcome.next_state
        x, y = world.position(state)
        route.append((x, y))
    return Board(steps, route if state == goal else [])


def learned(world: fwrl.World, goal: int, shown: set[int]) -> Iterator[tuple[int, list[fwrl.Agent]]]:
    """Let both agents see the same random steps; they are handed out after those counts of steps that are shown."""
    agents = [fwrl.make_agent(name, world.n_states, world.n_actions, seed=0) for name, _, _ in SIDES]
    for agent in agents:
        agent.begin_episode(goal, STEPS)
    rng, state = np.random.default_rng(0), world.state_at(*START)
    for taken in range(STEPS + 1):
        if taken in shown:
            yield taken, agents
        action = int(rng.integers(world.n_actions))
        arrived = state == goal and taken >= UNPAID
        if arrived:
            after, reward = int(rng.integers(world.n_states)), GOAL_REWARD
        else:
            (outcome,) = world.outcomes(state, action)
            after, reward = outcome.next_state, outcome.reward
        for agent in agents:
            agent.observe(state, action, reward, after, arrived=arrived)
        state = after


def font(size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    """The font of our figures, which comes with matplotlib."""
    face = font_manager.FontProperties(family="DejaVu Sans", weight="bold" if bold else "normal")
    return ImageFont.truetype(font_manager.findfont(face), size * SCALE)


def blend(ink: str, paper: str) -> list[str]:
    """The colours of an antialiased edge."""
    a, b = np.array(mpl.colors.to_rgb(ink)), np.array(mpl.colors.to_rgb(paper))
    return [mpl.colors.to_hex(a + (b - a) * part) for part in (0.33, 0.67)]


class Film:
    """Frames of two boards below a headline."""

    def __init__(self, world: fwrl.World) -> None:
        self.world = world
        self.frames: list[Image.Image] = []
        self.farthest = max(np.max(world.distances_to(world.state_at(*goal))) for goal in GOALS)
        self.colours = mpl.colormaps["YlGnBu_r"]

    def show(
        self,
        headline: str,
        line: str,
        boards: list[Board],
        flag: tuple[float, float],
        drawn: float = 1.0,
        hold: int = 1,
    ) -> None:
        """Add a frame, `hold` times; `drawn` is the part of each route that is visible."""
        image = Image.new("RGB", (WIDTH * SCALE, HEIGHT * SCALE), "white")
        pen = ImageDraw.Draw(image)
        self.text(pen, (WIDTH / 2, 22), headline, 22, INK, bold=True)
        self.text(pen, (WIDTH / 2, 50), line, 15, SOFT)
        for k, (shown, (_, name, colour)) in enumerate(zip(boards, SIDES, strict=True)):
            left = LEFT + k * BETWEEN
            self.draw_board(pen, left, shown, colour, flag, drawn)
            self.text(pen, (left + 4.5 * CELL, TOP - 20), name, 18, colour, bold=True)
            said = f"{len(shown.route) - 1} steps to the goal" if shown.route else "no route"
            if drawn > 0:
                self.text(pen, (left + 4.5 * CELL, TOP + 9 * CELL + 24), said, 17, INK if shown.route else SOFT)
        small = image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
        self.frames += [small] * hold

    def text(
        self, pen: ImageDraw.ImageDraw, at: tuple[float, float], text: str, size: int, fill: str, **kind: bool
    ) -> None:
        """Text in the middle of a place."""
        pen.text((at[0] * SCALE, at[1] * SCALE), text, fill=fill, font=font(size, **kind), anchor="mm")

    def draw_board(
        self, pen: ImageDraw.ImageDraw, left: int, shown: Board, colour: str, flag: tuple[float, float], drawn: float
    ) -> None:
        """The rooms, coloured by steps to the goal; route, start and flag."""

        def centre(x: float, y: float) -> tuple[float, float]:
            return (left + (x - 0.5) * CELL) * SCALE, (TOP + (y - 0.5) * CELL) * SCALE

        def disc(at: tuple[float, float], radius: float, fill: str, rim: str) -> None:
            r = radius * SCALE
            pen.ellipse((at[0] - r, at[1] - r, at[0] + r, at[1] + r), fill=fill, outline=rim, width=2 * SCALE)

        edge = 6
        sides = (left - edge, TOP - edge, left + 9 * CELL + edge, TOP + 9 * CELL + edge)
        pen.rounded_rectangle([side * SCALE for side in sides], radius=7 * SCALE, fill=WALL)
        for state in range(self.world.n_states):
            x, y = centre(*self.world.position(state))
            part = shown.steps[state] / self.farthest
            rgb = BLANK if np.isnan(part) else mpl.colors.to_hex(self.colours(0.25 + 0.7 * min(part, 1.0)))
            half = (CELL / 2 - 1) * SCALE
            pen.rectangle((x - half, y - half, x + half, y + half), fill=rgb)
        route = shown.route[: max(2, round(drawn * len(shown.route)))]
        if len(route) > 1:
            points = [centre(*place) for place in route]
            for width, fill in ((11, "white"), (6, FLAG)):
                pen.line(points, fill=fill, width=width * SCALE, joint="curve")
        disc(centre(*START), 9, colour, "white")
        x, y = centre(*flag)
        disc((x, y), 15, "white", INK)
        s = SCALE
        pen.line((x - 5 * s, y - 9 * s, x - 5 * s, y + 10 * s), fill=INK, width=2 * s)
        pen.polygon(((x - 4 * s, y - 9 * s), (x + 9 * s, y - 4 * s), (x - 4 * s, y + 1 * s)), fill=FLAG)

    def save(self, file: Path) -> None:
        """Write the film; all frames share their colours, so that what stands still costs nothing."""
        ramp = [mpl.colors.to_hex(self.colours(x)) for x in np.linspace(0.25, 0.95, 22)]
        edges = [blend(ink, paper) for ink in EDGED for paper in ("#ffffff", BLANK, WALL, *ramp[::4])]
        colours = [*ramp, *EDGED, "#ffffff", BLANK, WALL, *(each for blends in edges for each in blends)]
        palette = Image.new("P", (1, 1))
        palette.putpalette([part for colour in dict.fromkeys(colours) for part in bytes.fromhex(colour[1:])][: 3 * 256])
        small = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in self.frames]
        small[0].save(file, save_all=True, append_images=small[1:], duration=FRAME, loop=0, optimize=True)


def main() -> None:
    """Let the agents learn, move the goal, and write the film."""
    world = fwrl.load_world("four-rooms")
    film, goals = Film(world), [world.state_at(*goal) for goal in GOALS]
    counts = [0, *np.geomspace(30, STEPS, LEARNING - 1).astype(int).tolist()]
    for taken, agents in learned(world, goals[0], set(counts)):
        boards = [board(world, agent, goals[0]) for agent in agents]
        last = taken == STEPS
        hold = LEARNED if last else 1
        film.show("Two agents learn from the same random steps", f"{taken:,} steps", boards, GOALS[0], hold=hold)
    before = boards
    for n, (old, new, goal) in enumerate(zip(GOALS, GOALS[1:], goals[1:], strict=False)):
        after = [board(world, agent, goal) for agent in agents]
        words = ("The goal moves", f"{STEPS:,} steps, and none since the goal first moved")
        if n:
            words = (f"The goal moves {('', 'again', 'once more')[n]}", words[1])
        for part in np.linspace(0, 1, SLIDING + 2)[1:-1]:
            smooth = part * part * (3 - 2 * part)
            x, y = (a + (b - a) * smooth for a, b in zip(old, new, strict=True))
            film.show(*words, [each._replace(route=[]) for each in before], (x, y), drawn=0)
        for part in np.linspace(0, 1, ROUTE + 1)[1:]:
            film.show(*words, after, new, drawn=float(part), hold=HOLD if part == 1 else 1)
        before = after
    film.save(FILE)
    print(f"wrote {FILE}: {len(film.frames) * FRAME / 1000:.1f} s, {FILE.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
