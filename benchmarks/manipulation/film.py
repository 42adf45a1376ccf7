"""Film one solved task of each environment, side by side: `python -m benchmarks.manipulation.film`.

MuJoCo draws without a screen through EGL; Mesa's software renderer is enough (Debian: libegl1, libgl1-mesa-dri).
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from PIL import Image, ImageDraw, ImageFont

from benchmarks.manipulation.arm import WORLDS, make_arm, parts_of
from benchmarks.manipulation.collector import load_data
from benchmarks.manipulation.evaluation import run_episode, start
from benchmarks.manipulation.navigation import fit
from benchmarks.running import RESULTS, progress_bar, run_command
from fwrl.errors import FwrlError
from fwrl.files import replaced

SHOWN = {  # dataset: task, episodes of data
    "cube-double-play": (4, 100),
    "cube-triple-play": (3, 60),
    "puzzle-4x4-play": (4, 25),
    "scene-play": (5, 100),
}
SIZE = 240  # pixels, width and height of a panel
SKIPPED = 4  # steps from one frame to the next
FRAME, HOLD = 60, 25  # milliseconds of a frame; frames of the end
COLOURS = 96
TRIES = 10


def film(
    out: Annotated[Path, typer.Option(help="The folder with data, as of `python -m benchmarks.manipulation`.")] = (
        RESULTS / "manipulation"
    ),
    file: Annotated[Path, typer.Option(help="The film to write.")] = Path("docs/images/pick-and-place.gif"),
    seed: Annotated[int, typer.Option(min=0, help="Data seed.")] = 0,
) -> None:
    """Fit a navigator for each environment and film a task that it solves."""
    os.environ.setdefault("MUJOCO_GL", "egl")  # before MuJoCo is imported
    with progress_bar() as watch:
        panels = []
        for k, (dataset, (task, episodes)) in enumerate(SHOWN.items()):
            watch(f"filming {dataset}, task {task}", k / len(SHOWN))
            data = load_data(out / "data", dataset, seed, episodes)
            world, _ = parts_of(dataset)
            panels.append(filmed(fit(data, world), world, task, seed))
    write_film([f"{parts_of(dataset)[0]}, task {task}" for dataset, (task, _) in SHOWN.items()], panels, file)
    typer.echo(f"written: {file}, {file.stat().st_size / 1e6:.2f} MB")


def filmed(navigator: Any, world: str, task: int, seed: int) -> list[Image.Image]:
    """Frames of the first episode that succeeds."""
    env = make_arm(world, seed, terminate_at_goal=False, width=SIZE, height=SIZE)
    try:
        for k in range(TRIES):
            camera = _Camera(env)
            episode = run_episode(navigator, env, *start(env, world, task, seed, k), WORLDS[world].limit, camera.look)
            if episode.success:
                return [*camera.frames, Image.fromarray(env.render())]
        raise FwrlError(f"task {task} of {world} wasn't solved in {TRIES} episodes; try another --seed")
    finally:
        env.close()


class _Camera:
    """Takes a picture every few steps."""

    def __init__(self, env: Any) -> None:
        self._env, self._steps = env, 0
        self.frames: list[Image.Image] = []

    def look(self) -> None:
        """Call after each step."""
        if self._steps % SKIPPED == 0:
            self.frames.append(Image.fromarray(self._env.render()))
        self._steps += 1


def write_film(names: list[str], panels: list[list[Image.Image]], file: Path) -> None:
    """Play all panels together; each keeps its last frame until the longest ends."""
    frames = []
    font = ImageFont.load_default(13)
    for t in range(max(map(len, panels)) + HOLD):
        frame = Image.new("RGB", (SIZE * len(panels), SIZE + 22), "white")
        pen = ImageDraw.Draw(frame)
        for k, (name, panel) in enumerate(zip(names, panels, strict=True)):
            frame.paste(panel[min(t, len(panel) - 1)], (k * SIZE, 22))
            done = t >= len(panel) - 1
            pen.text((k * SIZE + 6, 3), f"{name}: solved" if done else name, fill="#1b1f26", font=font)
        frames.append(frame)
    ends = Image.new("RGB", (frame.width, 2 * frame.height))
    ends.paste(frames[0])
    ends.paste(frames[-1], (0, frame.height))
    palette = ends.quantize(COLOURS, Image.Quantize.MAXCOVERAGE)  # keeps the colours of small things
    small = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    with replaced(file) as draft, draft.open("wb") as stream:
        small[0].save(
            stream, "GIF", save_all=True, append_images=small[1:], duration=FRAME, loop=0, optimize=True, disposal=1
        )


if __name__ == "__main__":
    run_command(film)
