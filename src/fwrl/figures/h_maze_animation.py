"""The learning in the H-maze as an animated GIF: agents side by side, with their values after every step."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from PIL import Image

from fwrl.errors import FwrlError
from fwrl.figures.board import draw_board, draw_goal, draw_start, places
from fwrl.figures.palette import BLACK, INK
from fwrl.figures.style import style
from fwrl.figures.value_map import ValueMap, scale
from fwrl.files import replaced
from fwrl.worlds import World

MOST = 120  # frames; of longer animations some are left out
COLOURS = 64  # of the GIF's palette
PACE, PAUSE, END = 120, 900, 2500  # milliseconds: a frame, the last of a chapter, the last of all
DOTS_PER_INCH = 80


class Scene(NamedTuple):
    """One agent at one moment.

    Attributes:
        label: The agent's label, above its board.
        values: (S,) its values for the goal; -inf where no path is known.
        state: The state that it is in.
        start: The state where the trip begins.
        goal: The state that it is to reach.
        note: Text below its board.
    """

    label: str
    values: NDArray[np.float64]
    state: int
    start: int
    goal: int
    note: str = ""


class Frame(NamedTuple):
    """One moment of the animation.

    Attributes:
        title: The chapter, such as "training 1"; frames in a row with the same title are one chapter.
        scenes: The agents, in the same order in every frame.
    """

    title: str
    scenes: tuple[Scene, ...]


def h_maze_animation(world: World, frames: Sequence[Frame], path: str | Path) -> Path:
    """Write the animation as a GIF, all or nothing.

    Each agent has one colour scale for the whole animation. The last frame of each chapter is shown longer.

    Args:
        world: The world, with a map.
        frames: The moments in order; at most 120 are shown, evenly spaced in long chapters.
        path: The file to write.

    Returns:
        The path.
    """
    if not frames or not frames[0].scenes:
        raise FwrlError("expected at least one frame with at least one agent, got none")
    shown = thinned(frames)
    with style():
        renderer = _Renderer(world, frames)
        images = [renderer.image(frame, k / max(len(shown) - 1, 1)) for k, frame in enumerate(shown)]
    palette = _palette([images[0], *(image for k, image in enumerate(images) if _ends_chapter(shown, k))])
    first, *others = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images)
    with replaced(path) as draft:
        first.save(
            draft, format="GIF", save_all=True, append_images=others, duration=durations(shown), loop=0, disposal=1
        )
    return Path(path)


def thinned(frames: Sequence[Frame]) -> list[Frame]:
    """At most `MOST` frames: short chapters whole, of long ones evenly spaced frames, first and last included.

    >>> frames = [Frame("one", ())] * 500 + [Frame("two", ())] * 20
    >>> [frame.title for frame in thinned(frames)].count("two"), len(thinned(frames))
    (20, 120)
    """
    chapters = [list(chapter) for _, chapter in itertools.groupby(frames, key=lambda frame: frame.title)]
    left, kept = MOST, [0] * len(chapters)
    for done, k in enumerate(sorted(range(len(chapters)), key=lambda k: len(chapters[k]))):
        kept[k] = min(len(chapters[k]), left // (len(chapters) - done))
        left -= kept[k]
    return [
        chapter[int(i)]
        for chapter, many in zip(chapters, kept, strict=True)
        for i in np.linspace(0, len(chapter) - 1, many).round()
    ]


def durations(frames: Sequence[Frame]) -> list[int]:
    """How long each frame is shown, in milliseconds."""
    times = [PAUSE if _ends_chapter(frames, k) else PACE for k in range(len(frames))]
    return [*times[:-1], END]


def _palette(images: Sequence[Image.Image]) -> Image.Image:
    """One palette for all frames, so that colours are constant and the file is small."""
    stacked = Image.fromarray(np.concatenate([np.asarray(image) for image in images]))
    return stacked.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)


def _ends_chapter(frames: Sequence[Frame], k: int) -> bool:
    return k == len(frames) - 1 or frames[k].title != frames[k + 1].title


class _Renderer:
    """One figure for all frames; the boards are redrawn only when a value, start or goal changes."""

    def __init__(self, world: World, frames: Sequence[Frame]) -> None:
        self._world = world
        scenes = frames[0].scenes
        self._figure = Figure(figsize=(4.1 * len(scenes), 5.2), dpi=DOTS_PER_INCH)
        self._canvas: Any = FigureCanvasAgg(self._figure)  # matplotlib leaves its canvases untyped
        self._title = self._figure.text(
            0.5, 0.96, "", ha="center", va="center", fontsize=17, weight="bold", animated=True
        )
        self._progress = Rectangle((0, 0), 0, 0.012, color=INK, transform=self._figure.transFigure, animated=True)
        self._figure.add_artist(self._progress)
        grid = self._figure.subplots(1, len(scenes), squeeze=False)[0]
        self._figure.subplots_adjust(0.03, 0.1, 0.97, 0.84, wspace=0.08)
        self._boards: Any = None
        self._panels = [
            _AnimatedPanel(world, axes, scene.label, scale((f.scenes[k].values, f.scenes[k].goal) for f in frames))
            for k, (axes, scene) in enumerate(zip(grid, scenes, strict=True))
        ]

    def image(self, frame: Frame, progress: float) -> Image.Image:
        """The frame as an image; `progress`, from 0 to 1, is the bar at the bottom."""
        self._title.set_text(frame.title)
        self._progress.set_width(max(progress, 0.005))
        changed = [panel.update(scene) for panel, scene in zip(self._panels, frame.scenes, strict=True)]
        if any(changed):
            self._canvas.draw()
            self._boards = self._canvas.copy_from_bbox(self._figure.bbox)
        self._canvas.restore_region(self._boards)
        for artist in (self._title, self._progress, *(part for panel in self._panels for part in panel.moving)):
            self._figure.draw_artist(artist)
        return Image.fromarray(np.asarray(self._canvas.buffer_rgba())).convert("RGB")


class _AnimatedPanel:
    """One agent's board."""

    def __init__(self, world: World, axes: Axes, label: str, norm: Normalize) -> None:
        self._world, self._axes = world, axes
        draw_board(axes, world, wall=BLACK)
        axes.set_title(label, fontsize=15, weight="bold")
        self._value_map = ValueMap(axes, world, norm, below=0.35)
        below: Any = {"transform": axes.transAxes, "ha": "center", "va": "top"}
        self._note = axes.text(0.5, -0.03, "", fontsize=13, animated=True, **below)
        look: Any = {"color": INK, "markeredgecolor": "white", "markeredgewidth": 2}
        (self._dot,) = axes.plot([], [], "o", markersize=22, animated=True, **look)
        self._shown: tuple[int, int, bytes] | None = None
        self._marks: list[Artist] = []

    @property
    def moving(self) -> tuple[Artist, ...]:
        """The artists that change in every frame."""
        return self._dot, self._note

    def update(self, scene: Scene) -> bool:
        """Show one moment; whether the board under the agent has changed."""
        x, y = places(self._world, [scene.state])[0]
        self._dot.set_data([x], [y])
        self._note.set_text(scene.note)
        shown = (scene.start, scene.goal, scene.values.tobytes())
        if shown == self._shown:
            return False
        self._shown = shown
        for mark in self._marks:
            mark.remove()
        start, goal = places(self._world, [scene.start, scene.goal])
        self._marks = [*draw_start(self._axes, *start), *draw_goal(self._axes, *goal)]
        self._value_map.show(scene.values, scene.goal)
        return True
